"""What goes into a bank in one transaction, and what came of it.

Importers and collectors build a `Batch`; the store adds it whole or not at all. Nothing here touches a file or a database.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skilldelta.arrays import Vectors
from skilldelta.records import Execution, Skill, Task


@dataclass(frozen=True, slots=True, eq=False)
class TextVector:
    """The vector of one text under one encoder. `text_digest` is `records.text_digest` of the text."""

    encoder: str
    text_digest: str
    vector: Vectors  # (dim,), length 1


@dataclass(frozen=True, slots=True)
class Batch:
    """Records to add together, in record order."""

    tasks: Sequence[Task] = ()
    skills: Sequence[Skill] = ()
    executions: Sequence[Execution] = ()
    vectors: Sequence[TextVector] = ()
    notes: Sequence[str] = ()
    """What the source held and the batch leaves out, in words for the person who imports it."""


@dataclass(frozen=True, slots=True)
class Known:
    """How many records of a batch were in the bank already, or came twice."""

    tasks: int = 0
    skills: int = 0
    executions: int = 0
    vectors: int = 0


@dataclass(frozen=True, slots=True)
class Added:
    """How many records of a batch were new, and how many were known: `unchanged` are those of every kind together."""

    tasks: int = 0
    skills: int = 0
    agents: int = 0
    executions: int = 0
    vectors: int = 0
    unchanged: int = 0
    known: Known = Known()
