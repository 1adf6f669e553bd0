"""Two arms on the same tasks: the difference, its interval, exact tests, what is spent, and which tasks flipped.

The task is the unit throughout, with its repetitions nested in it: twelve runs of four tasks are four observations. The
verdict is read off the interval alone, by the same rule as everywhere (`comparison`); the tests stand beside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from skilldelta.arrays import Flags, Floats
from skilldelta.evaluation.comparison import ENOUGH, Verdict, check_margin, tasks_to_settle, verdict_of
from skilldelta.evaluation.paired_runs import PairedRuns, Runs, is_solved, vote
from skilldelta.evaluation.results import MARGIN
from skilldelta.evaluation.sign_test import sign_test
from skilldelta.evaluation.solved_spending import SolvedSpending, solved_spending
from skilldelta.evaluation.task_mean import DRAWS, LEVEL, TIE, TaskMean, task_mean
from skilldelta.noise_floor import NoiseFloor, noise_floor

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


@dataclass(frozen=True, slots=True)
class SolvedTable:
    """McNemar's table over tasks, solved in more than half of as many runs of each arm, and his exact test."""

    both: int
    only_a: int
    only_b: int
    neither: int

    @property
    def p(self) -> float:
        """Two-sided exact p of tasks that only one arm solved."""
        return sign_test(self.only_b, self.only_a)


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
    """Votes of the tasks, each on as many runs of both arms."""
    solved: SolvedTable
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
        return sign_test(self.better, self.worse)

    def flipped(self, outcome: Outcome) -> list[TaskDifference]:
        """The tasks that went this way, flips first, then by the size of the difference, then in order."""
        found = [one for one in self.differences if one.outcome == outcome]
        return sorted(found, key=lambda one: (not one.is_flipped, -abs(one.delta)))


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
    mean = task_mean(np.array([one.delta for one in differences]), rng, draws=draws, level=level)
    votes = np.array([_vote(one, a, b) for one, a, b in zip(differences, runs.a, runs.b, strict=True)])
    verdict, more = _verdict_on(mean, margin)
    return PairedComparison(
        a=_mean([one.a for one in differences]),
        b=_mean([one.b for one in differences]),
        mean=mean,
        better=int((votes > TIE).sum()),
        worse=int((votes < -TIE).sum()),
        same=int((np.abs(votes) <= TIE).sum()),
        solved=_solved_table(differences, runs),
        verdict=verdict,
        margin=margin,
        more_tasks=more,
        spending=solved_spending(runs, _solved_by_both(differences), level=level),
        noise=noise_floor(runs.a, runs.b, runs.task_ids),
        differences=differences,
    )


def _difference(task_id: str, family: str, a: Runs, b: Runs) -> TaskDifference:
    runs_a, runs_b = len(a), len(b)
    mean_a, mean_b = sum(a) / runs_a, sum(b) / runs_b
    return TaskDifference(task_id, family, mean_a, mean_b, runs_a, runs_b, mean_a > 0.5, mean_b > 0.5)


def _vote(one: TaskDifference, a: Runs, b: Runs) -> float:
    return one.b - one.a if one.runs_a == one.runs_b else vote(a, b)


def _verdict_on(mean: TaskMean, margin: float) -> tuple[Verdict, int | None]:
    low, high, half = mean.interval.low, mean.interval.high, mean.half_width
    if low is None or high is None or half is None:
        return "not enough evidence", max(0, ENOUGH - mean.tasks) or None
    if mean.tasks >= ENOUGH and (verdict := verdict_of(low, high, margin)) != "not enough evidence":
        return verdict, None
    wanted = tasks_to_settle(mean.mean, half, mean.tasks, margin)
    return "not enough evidence", None if wanted is None else max(wanted, ENOUGH - mean.tasks)


def _solved_table(differences: Sequence[TaskDifference], runs: PairedRuns) -> SolvedTable:
    """Over as many runs of both arms: of a task with unequally many, the first."""
    counts = Counter(
        (one.solved_a, one.solved_b) if one.runs_a == one.runs_b else _solved_alike(a, b)
        for one, a, b in zip(differences, runs.a, runs.b, strict=True)
    )
    return SolvedTable(counts[True, True], counts[True, False], counts[False, True], counts[False, False])


def _solved_alike(a: Runs, b: Runs) -> tuple[bool, bool]:
    count = min(len(a), len(b))
    return is_solved(a[:count]), is_solved(b[:count])


def _solved_by_both(differences: tuple[TaskDifference, ...]) -> Flags:
    found: Flags = np.array([one.solved_a and one.solved_b for one in differences], np.bool_)
    return found


def _mean(values: list[float]) -> float:
    found: Floats = np.array(values)
    return float(found.mean()) if len(found) else float("nan")
