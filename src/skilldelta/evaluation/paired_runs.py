"""The runs of two arms on the same tasks, as lists per task, and which way each task went.

Where the arms have unequally many runs, a comparison of means alone leans: the mean of one run is 0 or 1, the mean of
three is often between. So a task's vote is taken on the first runs of both arms, as many of each. Then the two arms of a
task can be exchanged under no difference, which is all that a sign test needs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skilldelta.arrays import Floats
from skilldelta.evaluation.accounting import Unit

Runs = Sequence[float]
"""The successes of one task under one arm, in order; never empty."""


@dataclass(frozen=True, slots=True, eq=False)
class PairedRuns:
    """Two arms on the same tasks: one entry per task in every field."""

    task_ids: Sequence[str]
    families: Sequence[str]
    a: Sequence[Runs]
    b: Sequence[Runs]
    spent_a: Mapping[Unit, Floats]
    """(n,) mean per run, NaN where a run did not say."""
    spent_b: Mapping[Unit, Floats]

    def __len__(self) -> int:
        return len(self.task_ids)


def vote(a: Runs, b: Runs) -> float:
    """The mean of B minus that of A over as many runs of each: above 0 where B is ahead.

    >>> vote([0, 1, 1], [1])
    1.0
    """
    runs = min(len(a), len(b))
    return (sum(b[:runs]) - sum(a[:runs])) / runs


def is_solved(runs: Runs) -> bool:
    """Whether a task counts as solved: in more than half of its runs, partial successes by their share."""
    return sum(runs) > len(runs) / 2
