"""Graders that say whether a skill was loaded, and not whether the task was solved.

Under the arm without a skill such a grader passes or fails by construction, so it moves the gain by routing alone. It is
left out of every outcome.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_LEAK = re.compile(
    r"(?:not[-_ ]?)?skill[-_ ]?(?:invocation|invoked|activation|activated|used|usage|loaded|trigger)|^trigger$"
)


def leaks_the_arm(grader: str) -> bool:
    """Whether a grader of this kind or name grades the loading of a skill."""
    return bool(_LEAK.search(grader.lower()))


def all_passed(marks: Iterable[object]) -> float | None:
    """The outcome of the graders that are left: whether every one passed; None where one says neither, or none is left."""
    listed = list(marks)
    return float(all(listed)) if listed and all(isinstance(mark, bool) for mark in listed) else None


def leak_note(count: int) -> list[str]:
    """That such graders were left out, where there were any."""
    return [f"graders of skill use in {count:,} runs are left out: they grade the arm, not the task"] if count else []
