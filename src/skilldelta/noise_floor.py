"""How large gains look when nothing differs: the A/A noise floor of repeated executions.

Repetitions of one task under one condition differ by execution noise alone. Their spread says how far an observed gain
can lie from zero without any effect, which is the size below which a task's gain means little.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.nouns import plural
from skilldelta.pairing import is_counted
from skilldelta.records import Condition, Execution


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """Execution noise of a panel; None where no task has two repetitions of a condition."""

    sd0: float | None
    """Standard deviation between repetitions without the skill, pooled over tasks."""
    sd1: float | None
    expected_abs_gain: float | None
    """Mean |D| between two repetitions of the same condition: what a single pair shows under no effect."""
    tasks: int
    """Distinct tasks with at least two repetitions in some arm."""

    @property
    def sentence(self) -> str:
        """What the floor means for a reader of gains."""
        if self.expected_abs_gain is None:
            return "unknown, no task was run twice under one condition; collect with --repetitions or --aa"
        if self.expected_abs_gain == 0:
            return (
                f"none: two runs of one task under one condition never differed ({plural(self.tasks, 'repeated task')})"
            )
        return (
            f"two runs of one task under one condition differ by {self.expected_abs_gain:.2f} on average "
            f"({plural(self.tasks, 'repeated task')}), so a single pair shows gains of that size without any effect"
        )


@dataclass(frozen=True, slots=True)
class SameConditionDifference:
    """Tasks with at least two counted runs under one condition: even repetitions against odd ones."""

    condition: Condition
    tasks: int
    difference: float | None
    """Mean of (odd - even): about 0, by chance as far from it as chance goes."""
    flip_rate: float | None
    """Mean absolute difference: for single runs, the share of tasks whose outcome changed."""


def noise_of_executions(executions: Iterable[Execution]) -> NoiseFloor:
    """The noise floor of a panel's executions, A/A runs among them; what is not counted in pairs is not counted here."""
    runs: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for execution in executions:
        if is_counted(execution) and execution.success is not None:
            # Runs with another skill, or another version of it, are another condition.
            key = (execution.task_id, execution.skill_id, execution.skill_digest)
            runs.setdefault(key, {"skip": [], "use": []})[execution.condition].append(execution.success)
    skip, use = ([arms[condition] for arms in runs.values()] for condition in ("skip", "use"))
    return noise_floor(skip, use, [task_id for task_id, _, _ in runs])


def same_condition_difference(executions: Iterable[Execution], condition: Condition) -> SameConditionDifference:
    """The A/A difference of one agent and suite; None where no task was run twice."""
    halves: dict[str, tuple[list[float], list[float]]] = {}
    for execution in executions:
        if execution.condition == condition and is_counted(execution):
            halves.setdefault(execution.task_id, ([], []))[execution.repetition % 2].append(execution.success or 0.0)
    differences = [sum(odd) / len(odd) - sum(even) / len(even) for even, odd in halves.values() if even and odd]
    if not differences:
        return SameConditionDifference(condition, 0, None, None)
    count = len(differences)
    return SameConditionDifference(condition, count, sum(differences) / count, sum(map(abs, differences)) / count)


def noise_floor(
    y0: Sequence[Sequence[float]], y1: Sequence[Sequence[float]], task_ids: Sequence[str] | None = None
) -> NoiseFloor:
    """Noise within conditions from the successes of each task, one list per task and arm; lists may be empty.

    `task_ids` say which rows are of one task, where a task has several: one per skill, or one per arm.
    """
    arms = [_repeated(y0), _repeated(y1)]
    names = range(len(y0)) if task_ids is None else task_ids
    repeated = {name for name, a, b in zip(names, y0, y1, strict=True) if len(a) >= 2 or len(b) >= 2}
    differences = [_mean_difference(task) for arm in arms for task in arm]
    expected = float(np.mean(differences)) if differences else None
    return NoiseFloor(_pooled_sd(arms[0]), _pooled_sd(arms[1]), expected, len(repeated))


def _repeated(arm: Sequence[Sequence[float]]) -> list[Floats]:
    return [np.asarray(task, np.float64) for task in arm if len(task) >= 2]


def _pooled_sd(arm: list[Floats]) -> float | None:
    """Square root of the summed squares within tasks over their degrees of freedom."""
    freedom = sum(len(task) - 1 for task in arm)
    if not freedom:
        return None
    return float(np.sqrt(sum(((task - task.mean()) ** 2).sum() for task in arm) / freedom))


def _mean_difference(task: Floats) -> float:
    """Mean |difference| over all pairs of a task's repetitions (Gini's mean difference)."""
    r = len(task)
    return float(np.abs(task[:, None] - task[None, :]).sum() / (r * (r - 1)))
