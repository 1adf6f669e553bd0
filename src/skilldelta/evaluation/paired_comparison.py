"""Two arms on the same tasks: the difference, its interval, exact tests, what is spent, and which tasks flipped.

The task is the unit throughout, with its repetitions nested in it: twelve runs of four tasks are four observations. The
verdict is read off the interval alone, by the same rule as everywhere (`comparison`); the tests stand beside it.

A task is better or worse by its mean over all runs, everywhere. Where the arms have unequally many runs, such a count leans:
the mean of one run is 0 or 1, the mean of three is often between. So the two exact tests have votes of their own, taken on
the first runs of both arms, as many of each: then the arms of a task can be exchanged under no difference, which is all that a
sign test needs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from skilldelta.arrays import Flags, Floats
from skilldelta.evaluation.accounting import UNITS, Unit
from skilldelta.evaluation.comparison import Verdict, check_margin, more_tasks, verdict_of
from skilldelta.evaluation.results import MARGIN, UNKNOWN, Range
from skilldelta.evaluation.task_mean import DRAWS, LEVEL, TIE, TaskMean, sign_test, task_mean
from skilldelta.noise_floor import NoiseFloor, noise_floor
from skilldelta.quantiles import student_quantile

# The successes of one task under one arm, in order; never empty.
Runs = Sequence[float]


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


Outcome = Literal["better", "worse", "same"]


@dataclass(frozen=True, slots=True)
class TaskDifference:
    """One task under both arms."""

    task_id: str
    family: str
    a: float
    b: float
    runs_a: int
    runs_b: int
    solved_a: bool
    solved_b: bool
    passed_a: int | None = None
    """Runs that passed, where every run passed or failed; None where one of them passed in part."""
    passed_b: int | None = None

    @property
    def delta(self) -> float:
        """B minus A."""
        return self.b - self.a

    @property
    def outcome(self) -> Outcome:
        """Which way the task went."""
        if abs(self.delta) <= TIE:
            return "same"
        return "better" if self.delta > 0 else "worse"

    @property
    def is_flipped(self) -> bool:
        """Whether only one arm solved it."""
        return self.solved_a != self.solved_b


class Votes(NamedTuple):
    """How many tasks went each way on as many runs of both arms."""

    better: int
    worse: int


@dataclass(frozen=True, slots=True)
class SolvedTable:
    """McNemar's table over tasks, solved in more than half of their runs, and his exact test."""

    both: int
    only_a: int
    only_b: int
    neither: int

    @property
    def p(self) -> float:
        """Two-sided exact p of tasks that only one arm solved."""
        return sign_test(self.only_b, self.only_a)


@dataclass(frozen=True, slots=True)
class SolvedSpending:
    """Means over the tasks that both arms solve and whose spending is known in both: a failure is often cheap."""

    unit: Unit
    tasks: int
    a: float
    b: float
    ratio: float | None
    """Of the sums, B over A; None where A spent nothing."""
    ratio_interval: Range
    """From the spread of the tasks around the ratio: the delta method on its logarithm."""

    @property
    def difference(self) -> float:
        """B minus A, per task."""
        return self.b - self.a


@dataclass(frozen=True, slots=True)
class PairedComparison:
    """B against A over tasks."""

    a: float
    """Mean success over tasks."""
    b: float
    mean: TaskMean
    """Of B minus A."""
    better: int
    worse: int
    same: int
    """Tasks by their means over all runs."""
    votes: Votes
    """Which way the tasks went on as many runs of both arms: what the sign test counts."""
    solved: SolvedTable
    """Over all runs."""
    solved_alike: SolvedTable
    """Over as many runs of both arms: what McNemar's test counts."""
    verdict: Verdict
    margin: float
    more_tasks: int | None
    """Roughly how many more tasks would settle it, if the difference stays; None where it is settled, or never will be."""
    spending: tuple[SolvedSpending, ...]
    noise: NoiseFloor
    differences: tuple[TaskDifference, ...]
    """Every task, in order."""

    @property
    def sign_test_p(self) -> float:
        """Two-sided exact p of the votes."""
        return sign_test(self.votes.better, self.votes.worse)

    def flipped(self, outcome: Outcome) -> list[TaskDifference]:
        """The tasks that went this way, flips first, then by the size of the difference, then in order."""
        flips = [difference for difference in self.differences if difference.outcome == outcome]
        return sorted(flips, key=lambda difference: (not difference.is_flipped, -abs(difference.delta)))


def compare_runs(
    runs: PairedRuns,
    rng: np.random.Generator,
    *,
    margin: float = MARGIN,
    draws: int = DRAWS,
    level: float = LEVEL,
) -> PairedComparison:
    """B against A on the tasks that both have runs of."""
    check_margin(margin)
    differences = tuple(map(_difference, runs.task_ids, runs.families, runs.a, runs.b))
    mean = task_mean(np.array([difference.delta for difference in differences]), rng, draws=draws, level=level)
    votes = np.array(list(map(vote, runs.a, runs.b)))
    both_solved = np.array([difference.solved_a and difference.solved_b for difference in differences], np.bool_)
    verdict, more = _verdict_on(mean, margin)
    return PairedComparison(
        a=_mean([difference.a for difference in differences]),
        b=_mean([difference.b for difference in differences]),
        mean=mean,
        better=sum(difference.outcome == "better" for difference in differences),
        worse=sum(difference.outcome == "worse" for difference in differences),
        same=sum(difference.outcome == "same" for difference in differences),
        votes=Votes(int((votes > TIE).sum()), int((votes < -TIE).sum())),
        solved=_solved_table(runs.a, runs.b),
        solved_alike=_solved_table(*_alike(runs)),
        verdict=verdict,
        margin=margin,
        more_tasks=more,
        spending=_solved_spending(runs, both_solved, level=level),
        noise=noise_floor(runs.a, runs.b, runs.task_ids),
        differences=differences,
    )


def _difference(task_id: str, family: str, a: Runs, b: Runs) -> TaskDifference:
    means = sum(a) / len(a), sum(b) / len(b)
    passed = [int(sum(arm)) if all(success in (0, 1) for success in arm) else None for arm in (a, b)]
    return TaskDifference(task_id, family, *means, len(a), len(b), is_solved(a), is_solved(b), *passed)


def _verdict_on(mean: TaskMean, margin: float) -> tuple[Verdict, int | None]:
    verdict = verdict_of(mean.interval, mean.tasks, margin)
    if verdict != "not enough evidence":
        return verdict, None
    return verdict, more_tasks(mean.mean, mean.half_width, mean.tasks, margin)


def _solved_table(a: Sequence[Runs], b: Sequence[Runs]) -> SolvedTable:
    counts = Counter((is_solved(own), is_solved(other)) for own, other in zip(a, b, strict=True))
    return SolvedTable(counts[True, True], counts[True, False], counts[False, True], counts[False, False])


def _alike(runs: PairedRuns) -> tuple[list[Runs], list[Runs]]:
    """As many runs of both arms: of a task with unequally many, the first."""
    counts = [min(len(a), len(b)) for a, b in zip(runs.a, runs.b, strict=True)]
    return (
        [own[:count] for own, count in zip(runs.a, counts, strict=True)],
        [own[:count] for own, count in zip(runs.b, counts, strict=True)],
    )


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else math.nan


def _solved_spending(runs: PairedRuns, solved: Flags, *, level: float) -> tuple[SolvedSpending, ...]:
    """One entry for each unit that is known on at least one task; `solved` (n,) are those of both arms."""
    return tuple(
        _of_unit(unit, a[is_known], b[is_known], level)
        for unit in UNITS
        if (a := runs.spent_a.get(unit)) is not None
        and (b := runs.spent_b.get(unit)) is not None
        and (is_known := solved & np.isfinite(a) & np.isfinite(b)).any()
    )


def _of_unit(unit: Unit, a: Floats, b: Floats, level: float) -> SolvedSpending:
    ratio = float(b.sum() / a.sum()) if a.sum() > 0 else None
    return SolvedSpending(unit, len(a), float(a.mean()), float(b.mean()), ratio, _ratio_interval(a, b, ratio, level))


def _ratio_interval(a: Floats, b: Floats, ratio: float | None, level: float) -> Range:
    tasks = len(a)
    if not ratio or tasks < 2:
        return UNKNOWN
    error = float((b - ratio * a).std(ddof=1)) / math.sqrt(tasks) / float(b.mean())
    reach = math.exp(student_quantile(tasks - 1, (1 + level) / 2) * min(error, 100.0))
    return Range(ratio / reach, ratio * reach)


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
