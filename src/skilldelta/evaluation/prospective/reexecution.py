"""Frozen actions executed again: do the sealed decisions keep their value when the same tasks are run once more?

This is about the stability of executions on reused tasks, not about new tasks: actions stay as they were sealed, both
arms have new outcomes, and the two batches are compared task by task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Flags, Floats, Ints
from skilldelta.errors import InputError
from skilldelta.evaluation.prospective.seal import SealedPanel
from skilldelta.evaluation.resampling.bootstrap import Design, count_draws, percentile_range
from skilldelta.evaluation.results import Range
from skilldelta.support import Support


@dataclass(frozen=True, slots=True)
class Reexecution:
    """Sealed actions on two batches of outcomes of the same tasks. Rates are fractions."""

    tasks: int
    """Sealed targets with outcomes of both arms in both batches."""
    missing: tuple[str, ...]
    """Targets of the first batch that were not run again under both conditions."""
    first: float
    """Success of the sealed actions on the first outcomes."""
    again: float
    difference: float
    first_vs_always_on: float
    again_vs_always_on: float
    same: float
    """Share of tasks whose chosen arm has the same success in both batches."""
    same_off: float
    same_on: float
    intervals: Mapping[str, Range]
    """95% over tasks, for `again`, `difference` and `again_vs_always_on`."""


def reexecution(
    sealed: SealedPanel, first: Support, again: Support, *, resamples: int, rng: np.random.Generator
) -> Reexecution:
    """Compare the outcomes of sealed targets (`split_outcomes`) with those of their re-execution."""
    made = {(item.task_id, item.skill): item.action == "use" for item in sealed.predictions}
    places = {key: row for row, key in enumerate(_keys(again)) if key in made}
    keys = _keys(first)
    rows = np.array([row for row, key in enumerate(keys) if key in places], np.int64)
    if not len(rows):
        raise InputError("none of the sealed targets was executed again under both conditions; collect them first")
    then, now = first.rows(rows), again.rows([places[keys[row]] for row in rows])
    used = np.array([made[keys[row]] for row in rows])
    chosen = [np.where(used, batch.y1, batch.y0) for batch in (then, now)]
    columns = {
        "again": chosen[1],
        "difference": chosen[1] - chosen[0],
        "again_vs_always_on": chosen[1] - now.y1,
    }
    return Reexecution(
        tasks=len(np.unique(then.task_ids)),
        missing=tuple(key[0] for key in keys if key not in places),
        first=float(chosen[0].mean()),
        again=float(chosen[1].mean()),
        difference=float(columns["difference"].mean()),
        first_vs_always_on=float((chosen[0] - then.y1).mean()),
        again_vs_always_on=float(columns["again_vs_always_on"].mean()),
        same=_share(chosen[0] == chosen[1]),
        same_off=_share(then.y0 == now.y0),
        same_on=_share(then.y1 == now.y1),
        intervals=_intervals(columns, then.task_codes, resamples, rng),
    )


def _keys(support: Support) -> list[tuple[str, str]]:
    return list(zip(support.task_ids.tolist(), support.skills.tolist(), strict=True))


def _share(flags: Flags) -> float:
    return float(flags.mean())


def _intervals(
    columns: Mapping[str, Floats], tasks: Ints, resamples: int, rng: np.random.Generator
) -> dict[str, Range]:
    if not resamples:
        return {}
    table = np.column_stack(list(columns.values()))
    design = Design(int(tasks.max()) + 1, tasks)
    means = np.vstack(
        [
            counts.astype(np.float64) @ table / counts.sum(axis=1)[:, None]
            for counts in count_draws(design, resamples, rng)
        ]
    )
    return {name: percentile_range(means[:, place]) for place, name in enumerate(columns)}
