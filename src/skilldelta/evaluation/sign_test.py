"""Exact tests of paired tasks: does one side win more often than chance allows?

One vote per task, whatever the number of its runs. Under no difference the two sides of a task can be exchanged, so a
task that is not a tie goes either way with probability one half, and the number of wins is binomial. McNemar's exact test
is the same test on tasks that only one side solved. SciPy's `binomtest` gives the same numbers; its import alone takes
longer than a comparison of thousands of tasks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import bdtr

from skilldelta.arrays import Floats


def sign_test(wins: int, losses: int) -> float:
    """Two-sided exact p; ties are not counted, and without any win or loss it is 1.

    >>> round(sign_test(4, 0), 4)
    0.125
    """
    if not wins + losses:
        return 1.0
    return float(min(1.0, 2 * bdtr(min(wins, losses), wins + losses, 0.5)))


def adjusted_for_false_discoveries(p: Sequence[float]) -> Floats:
    """(m,) p after Benjamini and Hochberg: those at most q are, on average, false in at most a share q.

    >>> adjusted_for_false_discoveries([0.01, 0.04, 0.5]).round(3).tolist()
    [0.03, 0.06, 0.5]
    """
    given = np.asarray(p, np.float64)
    if not len(given):
        return given
    order = np.argsort(given)[::-1]
    ranks = np.arange(len(given), 0, -1)
    found = np.empty(len(given))
    found[order] = np.minimum.accumulate(np.minimum(1.0, given[order] * len(given) / ranks))
    return found
