"""How a study says how far it is: steps in words, each with what is done and what there is to do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

StudyProgress = Callable[[str, int, int | None], None]
"""Called with the step, how much of it is done, and of how much; None while that is not known."""


def step_of(progress: StudyProgress | None, step: str) -> Callable[[int, int], None] | None:
    """The progress of one step, announced before its work begins."""
    if progress is None:
        return None
    progress(step, 0, None)
    return partial(progress, step)
