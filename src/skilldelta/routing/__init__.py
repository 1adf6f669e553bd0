"""Deciding among many skills: which of them a task is about, if any, and whether a message is a task at all.

The paper supposes that somebody supplies the applicable skill. In a harness nobody does: `Applicability` judges all
recorded skills together, with *none* as a full competitor, before any gate is asked for a gain.
"""

from __future__ import annotations

from skilldelta.routing.applicability import Applicability, Ranking, RecordedTasks
from skilldelta.routing.everyday import everyday_prompts
from skilldelta.routing.task_text import UserMessage, read_message

__all__ = ["Applicability", "Ranking", "RecordedTasks", "UserMessage", "everyday_prompts", "read_message"]
