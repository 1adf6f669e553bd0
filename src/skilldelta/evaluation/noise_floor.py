"""How large gains look when nothing differs: the A/A noise floor of repeated executions.

Repetitions of one task under one condition differ by execution noise alone. Their spread says how far an observed gain
can lie from zero without any effect, which is the size below which a task's gain means little.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


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


def noise_floor(
    y0: Sequence[Sequence[float]], y1: Sequence[Sequence[float]], task_ids: Sequence[str] | None = None
) -> NoiseFloor:
    """Noise within conditions from the successes of each task, one list a task and arm; lists may be empty.

    `task_ids` say which rows are of one task, where a task has several: one a skill, or one an arm.
    """
    arms = [_repeated(y0), _repeated(y1)]
    names = range(len(y0)) if task_ids is None else task_ids
    repeated = {name for name, a, b in zip(names, y0, y1, strict=True) if len(a) >= 2 or len(b) >= 2}
    differences = [_mean_difference(task) for arm in arms for task in arm]
    expected = float(np.mean(differences)) if differences else None
    return NoiseFloor(_pooled_sd(arms[0]), _pooled_sd(arms[1]), expected, len(repeated))


def _repeated(arm: Sequence[Sequence[float]]) -> list[np.ndarray[tuple[int], np.dtype[np.float64]]]:
    return [np.asarray(task, np.float64) for task in arm if len(task) >= 2]


def _pooled_sd(arm: list[np.ndarray[tuple[int], np.dtype[np.float64]]]) -> float | None:
    """Square root of the summed squares within tasks over their degrees of freedom."""
    freedom = sum(len(task) - 1 for task in arm)
    if not freedom:
        return None
    return float(np.sqrt(sum(((task - task.mean()) ** 2).sum() for task in arm) / freedom))


def _mean_difference(task: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """Mean |difference| over all pairs of a task's repetitions (Gini's mean difference)."""
    r = len(task)
    return float(np.abs(task[:, None] - task[None, :]).sum() / (r * (r - 1)))
