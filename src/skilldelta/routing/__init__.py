"""Deciding among many skills: which of them a task is about, if any, and whether a message is a task at all.

The paper supposes that somebody supplies the applicable skill. In a harness nobody does: `Applicability` judges all
recorded skills together, with *none* as a full competitor, before any gate is asked for a gain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skilldelta.routing.applicability import Applicability, Ranking, RecordedTasks
    from skilldelta.routing.everyday import everyday_prompts
    from skilldelta.routing.task_text import UserMessage, read_message

__all__ = ["Applicability", "Ranking", "RecordedTasks", "UserMessage", "everyday_prompts", "read_message"]

_HOMES = {"everyday_prompts": "everyday", "UserMessage": "task_text", "read_message": "task_text"}


def __getattr__(name: str) -> Any:
    """Load a public name when it is used: a hook judges a message while a person waits, and needs no arrays for that."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'applicability')}"), name)
