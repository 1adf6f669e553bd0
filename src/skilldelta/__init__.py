"""SkillDelta: will this skill make the agent more likely to succeed at this task?"""

from skilldelta.version import __version__

__all__ = ["__version__"]
