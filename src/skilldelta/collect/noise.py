"""The noise floor: how much two runs under the same condition differ (an A/A check).

A gain is worth believing when it is larger than what the same condition shows against itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skilldelta.pairing import is_counted
from skilldelta.records import Condition, Execution


@dataclass(frozen=True, slots=True)
class NoiseFloor:
    """Tasks with at least two counted runs under one condition: even repetitions against odd ones."""

    condition: Condition
    tasks: int
    difference: float | None
    """Mean of (odd - even): about 0, by chance as far from it as chance goes."""
    flip_rate: float | None
    """Mean absolute difference: for single runs, the share of tasks whose outcome changed."""


def noise_floor(executions: Iterable[Execution], condition: Condition) -> NoiseFloor:
    """The A/A difference of one agent and suite; None where no task was run twice."""
    halves: dict[str, tuple[list[float], list[float]]] = {}
    for one in executions:
        if one.condition == condition and is_counted(one):
            halves.setdefault(one.task_id, ([], []))[one.repetition % 2].append(one.success or 0.0)
    differences = [sum(odd) / len(odd) - sum(even) / len(even) for even, odd in halves.values() if even and odd]
    if not differences:
        return NoiseFloor(condition, 0, None, None)
    count = len(differences)
    return NoiseFloor(condition, count, sum(differences) / count, sum(map(abs, differences)) / count)
