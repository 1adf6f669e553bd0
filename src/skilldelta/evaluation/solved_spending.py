"""What two arms spend on the tasks that both of them solve: tokens, dollars and seconds.

A failure is often cheap, so spending is compared only where both arms did the work. The ratio is of the sums; its interval
comes from the spread of the tasks around that ratio (the delta method on the logarithm).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Flags, Floats
from skilldelta.evaluation.accounting import UNITS, Unit
from skilldelta.evaluation.paired_runs import PairedRuns
from skilldelta.evaluation.results import Range
from skilldelta.quantiles import student_quantile


@dataclass(frozen=True, slots=True)
class SolvedSpending:
    """Means over the tasks that both arms solve and whose spending is known in both."""

    unit: Unit
    tasks: int
    a: float
    b: float
    ratio: float | None
    """B over A; None where A spent nothing."""
    ratio_interval: Range

    @property
    def difference(self) -> float:
        """B minus A, per task."""
        return self.b - self.a


def solved_spending(runs: PairedRuns, solved: Flags, *, level: float) -> tuple[SolvedSpending, ...]:
    """One entry for each unit that is known on at least one task; `solved` (n,) are those of both arms."""
    return tuple(
        _of_unit(unit, a[known], b[known], level)
        for unit in UNITS
        if (a := runs.spent_a.get(unit)) is not None
        and (b := runs.spent_b.get(unit)) is not None
        and (known := solved & np.isfinite(a) & np.isfinite(b)).any()
    )


def _of_unit(unit: Unit, a: Floats, b: Floats, level: float) -> SolvedSpending:
    ratio = float(b.sum() / a.sum()) if a.sum() > 0 else None
    return SolvedSpending(unit, len(a), float(a.mean()), float(b.mean()), ratio, _ratio_interval(a, b, ratio, level))


def _ratio_interval(a: Floats, b: Floats, ratio: float | None, level: float) -> Range:
    tasks = len(a)
    if not ratio or tasks < 2:
        return Range(None, None)
    error = float((b - ratio * a).std(ddof=1)) / math.sqrt(tasks) / float(b.mean())
    reach = math.exp(student_quantile(tasks - 1, (1 + level) / 2) * min(error, 100.0))
    return Range(ratio / reach, ratio * reach)
