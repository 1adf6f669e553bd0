"""The mean difference over tasks, its bootstrap interval, what so many tasks could have shown, and exact tests of votes.

Tasks are resampled with all their runs, so that repetitions never pass for tasks. Two corrections make the percentile
interval hold its promise where tasks are few. Its level is the one at which it is as wide as Student's (Hesterberg 2015,
"expanded percentile"). And a direction that no task went in is not ruled out: by the rule of three, its rate is below
3 / n at 95%, so the interval reaches that far on that side.

The sign test takes one vote per task, whatever the number of its runs. Under no difference the two sides of a task can be
exchanged, so a task that is not a tie goes either way with probability one half, and the number of wins is binomial.
McNemar's exact test is the same test on tasks that only one side solved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from scipy.special import bdtr, stdtr

from skilldelta.arrays import Floats, Ints
from skilldelta.evaluation.comparison import POWER
from skilldelta.evaluation.results import UNKNOWN, Range
from skilldelta.quantiles import student_quantile

DRAWS = 10_000
LEVEL = 0.95
# Means of the same successes in another order may differ by rounding; such a task is a tie.
TIE = 1e-9

_MOST_AT_ONCE = 1 << 22  # drawn tasks held in memory
_FEW = 256
_MANY = 2_000


@dataclass(frozen=True, slots=True)
class TaskMean:
    """A mean of differences that lie between -1 and 1, one per task."""

    tasks: int
    mean: float
    interval: Range
    """Of the mean over tasks like these; unknown below two tasks or without draws."""
    level: float
    standard_error: float | None
    p: float | None
    """Two-sided, of no difference, by Student's test; the exact sign test where every task shows the same."""
    detectable: float | None
    """The smallest true difference that so many tasks would find in 80 of 100 studies."""

    @property
    def half_width(self) -> float | None:
        """Half the length of the interval."""
        if self.interval.low is None or self.interval.high is None:
            return None
        return (self.interval.high - self.interval.low) / 2


def task_mean(
    differences: Floats,
    rng: np.random.Generator,
    *,
    draws: int = DRAWS,
    level: float = LEVEL,
    bound: float = 1.0,
    unseen_level: float | None = None,
) -> TaskMean:
    """The mean of one difference per task; `bound` is the largest that a task can show.

    `unseen_level` is how sure the rule of three is, where that is not `level`: for an end that is used alone.
    """
    tasks = len(differences)
    mean = float(differences.mean()) if tasks else math.nan
    if tasks < 2:
        return TaskMean(tasks, mean, UNKNOWN, level, None, None, None)
    error = float(differences.std(ddof=1)) / math.sqrt(tasks)
    unseen = min(1.0, _rule_of_three(unseen_level or level) / tasks)
    interval = _interval(differences, mean, rng, draws, level, unseen=unseen, bound=bound) if draws else UNKNOWN
    return TaskMean(
        tasks, mean, interval, level, error, _student_p(mean, error, tasks), _detectable(error, tasks, level)
    )


def percentile_draws(differences: Floats, rng: np.random.Generator, *, draws: int = DRAWS) -> Floats:
    """(draws,) the mean over tasks drawn with replacement."""
    tasks = len(differences)
    values, counts = _distinct(differences)
    if len(values) <= _FEW:  # as with solved and failed: how often each is drawn is multinomial
        found: Floats = rng.multinomial(tasks, counts / tasks, size=draws) @ values / tasks
        return found
    means, step = np.empty(draws), max(1, _MOST_AT_ONCE // tasks)
    for start in range(0, draws, step):
        size = min(step, draws - start)
        means[start : start + size] = differences[rng.integers(0, tasks, (size, tasks), np.int32)].mean(axis=1)
    return means


def _distinct(differences: Floats) -> tuple[Floats, Ints]:
    """The values and how often each occurs; of many tasks, neighbors in size stand together under their mean.

    With 256 parts, what is lost is below a thousandth of the spread, and the draws take a hundredth of the time.
    """
    values, counts = np.unique(differences, return_counts=True)
    if len(values) <= _FEW or len(differences) < _MANY:
        return values, counts.astype(np.int64)
    parts = np.array_split(np.sort(differences), _FEW)
    return np.array([part.mean() for part in parts]), np.array([len(part) for part in parts], np.int64)


def expanded_level(tasks: int, level: float) -> float:
    """The level at which a percentile interval of a mean is as wide as Student's at `level`."""
    reach = math.sqrt(tasks / (tasks - 1)) * student_quantile(tasks - 1, (1 + level) / 2)
    return 1 - 2 * NormalDist().cdf(-reach)


def _interval(
    differences: Floats,
    mean: float,
    rng: np.random.Generator,
    draws: int,
    level: float,
    *,
    unseen: float,
    bound: float,
) -> Range:
    tasks = len(differences)
    tail = (1 - expanded_level(tasks, level)) / 2
    low, high = np.quantile(percentile_draws(differences, rng, draws=draws), [tail, 1 - tail])
    if not (differences < -TIE).any():
        low = min(low, mean - unseen)
    if not (differences > TIE).any():
        high = max(high, mean + unseen)
    return Range(max(-bound, float(low)), min(bound, float(high)))


def _rule_of_three(level: float) -> float:
    """What did not happen in n tasks has a rate below this over n: -log(1 - level), 3.0 at 95%."""
    return -math.log(1 - level)


def _student_p(mean: float, error: float, tasks: int) -> float:
    if error > 0:
        return float(2 * stdtr(tasks - 1, -abs(mean) / error))
    return sign_test(tasks, 0) if abs(mean) > TIE else 1.0


def _detectable(error: float, tasks: int, level: float) -> float | None:
    """Tasks that all show the same are taken to differ as often as the rule of three allows."""
    spread = error if error > 0 else math.sqrt(min(1.0, _rule_of_three(level) / tasks) / tasks)
    quantiles = student_quantile(tasks - 1, (1 + level) / 2) + student_quantile(tasks - 1, POWER)
    return min(1.0, quantiles * spread)


def sign_test(wins: int, losses: int) -> float:
    """Two-sided exact p of one vote per task; ties are not counted, and without any win or loss it is 1.

    SciPy's `binomtest` gives the same numbers; its import alone takes longer than a comparison of thousands of tasks.

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
    values = np.asarray(p, np.float64)
    if not len(values):
        return values
    order = np.argsort(values)[::-1]
    ranks = np.arange(len(values), 0, -1)
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum.accumulate(np.minimum(1.0, values[order] * len(values) / ranks))
    return adjusted
