"""The question: a task, the skill on offer, and what else is known before the first step; one type on every surface."""

from __future__ import annotations

from dataclasses import dataclass

from skilldelta.errors import InputError
from skilldelta.gate.gate import Gate


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. HTTP, MCP, hooks and Python callers all make one of these.

    Examples:
        >>> Question("How many cans are in 3 pallets?", "warehouse-units").family
        ''
    """

    text: str
    """The task as the agent will see it."""
    skill: str
    family: str = ""
    """Empty is unknown; a task that the bank knows by id keeps the family it has there."""
    task_id: str = ""
    """The record of this task, where the bank has one, is left out of its own evidence."""
    suite: str = ""
    """Whose evidence may answer; empty is the only suite in which the agent was run with the skill."""
    agent: str | None = None
    """None is the default agent of the bank, or its only one."""
    skill_digest: str = ""
    """Of the text on offer; evidence of another version is carried over at a discount. Empty is the recorded one."""
    skill_sketch: str = ""
    """The `text_sketch` of the text on offer, which tells how much changed."""
    skill_folder_digest: str = ""
    """Of the whole folder on offer, with its scripts and references; empty is unknown."""
    skill_folder_sketch: str = ""
    conversation: str = ""
    """The same conversation gets the first decision about a skill again."""
    source: str = ""
    """Who asks: the name of a harness or of a program, for the log."""
    explain: bool = False
    record: bool = True
    """Whether a service writes the decision into the log."""
    include_skill_text: bool = False
    gate: Gate | None = None
    """How to decide; None is the gate of whoever answers."""
    wished: bool = False
    """Whether the user asks for the skill by name: then it is used, and recorded as wished."""

    def __post_init__(self) -> None:
        for name in ("text", "skill", "family", "task_id"):
            value = getattr(self, name)
            if not isinstance(value, str):
                raise InputError(f"{name} of a question must be a string, got {value!r}")
        if not self.skill:
            raise InputError("a question needs a skill; name the one on offer")
