"""Risk against coverage: what a gate gains and loses when the most unlike tasks are left to the fallback, skip.

Risk is the success lost on the tasks that are still decided: the better recorded arm's minus the chosen one's. Where unlike tasks
are decided worse than others, risk falls with coverage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.evaluation.results import Actions, PanelResult
from skilldelta.familiarity import leave_one_out
from skilldelta.support import Scope, Support

SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)


@dataclass(frozen=True, slots=True)
class CoveragePoint:
    """A gate that leaves its most unlike tasks to the fallback."""

    coverage: float
    """Share of the pairs that the policy decides."""
    familiarity: float | None
    """The limit that leaves these out: decided tasks are at least so familiar. None where every task is decided."""
    risk: float
    """Mean success lost on the decided pairs, against the better arm of each."""
    success: float
    """Over all pairs, the others skipped."""


def of_panel(panel: PanelResult, policy: str = "stack", scope: Scope = "family") -> tuple[CoveragePoint, ...]:
    """The curve of one policy, over the rows it was evaluated on; empty where the panel lacks it or familiarity is unknown."""
    found = panel.policies.get(policy)
    if found is None:
        return ()
    rows, support = found.rows, panel.support
    familiarity = panel_familiarity(support, scope)[rows]
    if np.isnan(familiarity).all():
        return ()
    return risk_coverage(familiarity, found.actions[rows], support.y0[rows], support.y1[rows])


def panel_familiarity(support: Support, scope: Scope = "family") -> Floats:
    """(n,) how much each task resembles the other tasks of its scope; NaN where these are too few to say."""
    found = np.full(len(support), np.nan)
    for block in support.blocks(scope):
        _, first, place = np.unique(support.task_codes[block], return_index=True, return_inverse=True)
        found[block] = leave_one_out(support.vectors[block[first]])[place]
    return found


def risk_coverage(
    familiarity: Floats, actions: Actions, y0: Floats, y1: Floats, *, shares: Sequence[float] = SHARES
) -> tuple[CoveragePoint, ...]:
    """One point for each share of pairs left out; tasks of unknown familiarity (NaN) and equals of a task are kept."""
    chosen = np.where(np.asarray(actions, np.float64) > 0.5, y1, y0)
    lost = np.maximum(y0, y1) - chosen
    known = np.where(np.isnan(familiarity), np.inf, familiarity)
    points = []
    for share in shares:
        limit = np.sort(known)[min(int(share * len(known)), len(known) - 1)]
        decided = known >= limit
        points.append(
            CoveragePoint(
                coverage=float(decided.mean()),
                familiarity=float(limit) if np.isfinite(limit) and not decided.all() else None,
                risk=float(lost[decided].mean()),
                success=float(np.where(decided, chosen, y0).mean()),
            )
        )
    return tuple(points)
