"""The runs of two arms on the same tasks, as lists per task, and which way each task went.

Where the arms have unequally many runs, a comparison of means alone leans: the mean of one run is 0 or 1, the mean of
three is often between. So a task's vote is taken on the first runs of both arms, as many of each. Then the two arms of a
task can be exchanged under no difference, which is all that a sign test needs.
"""

from __future__ import annotations

from collections.abc import Sequence


def vote(a: Sequence[float], b: Sequence[float]) -> float:
    """The mean of B minus that of A over as many runs of each: above 0 where B is ahead.

    >>> vote([0, 1, 1], [1])
    1.0
    """
    runs = min(len(a), len(b))
    return (sum(b[:runs]) - sum(a[:runs])) / runs
