"""What a family gives to the suite builder: drafts of tasks, and how many of each case to make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

MONEY = {"type": "numeric", "tolerance": 0.006}
COUNT = {"type": "numeric", "tolerance": 0.001}
TEXT = {"type": "exact"}
WORD = {"type": "exact", "ignore_case": True}


@dataclass(frozen=True, slots=True)
class Draft:
    """One task before it has an identifier."""

    text: str
    answer: str | int | float
    grader: dict[str, object]


Case = Callable[[Random], Draft]


@dataclass(frozen=True, slots=True)
class Family:
    """Tasks that share one skill; `cases` says how often each kind of task occurs."""

    name: str
    skill: str
    cases: tuple[tuple[str, Case, int], ...]
