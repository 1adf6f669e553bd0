"""What a report shows besides the evaluation itself: evidence curves, accounts, and what was left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from skilldelta.evaluation.accounting import Account, Baseline, RoutingCost, account
from skilldelta.evaluation.results import PanelResult
from skilldelta.records import Execution
from skilldelta.report.panel import PanelReport
from skilldelta.report.scaling_curves import scaling_curves
from skilldelta.report.verdict import default_gate
from skilldelta.support import Scope

Executions = Callable[[PanelResult], Iterable[Execution]]
"""Every execution that a panel's bank holds, counted or not."""
Notes = Callable[[PanelResult], tuple[str, ...]]


def gather(
    results: Sequence[PanelResult],
    *,
    seed: int,
    scope: Scope = "family",
    gate: str | None = None,
    executions: Executions | None = None,
    routing: Callable[[PanelResult], RoutingCost | None] | None = None,
    notes: Notes | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[PanelReport]:
    """Panels ready for a report; without executions there is no account, without notes none are shown."""
    reports = []
    for number, result in enumerate(results, 1):
        reports.append(
            PanelReport(
                result,
                scaling=scaling_curves(result.support, np.random.default_rng(seed), scope=scope),
                account=_account(
                    result, gate or default_gate(result), executions, routing(result) if routing else None
                ),
                notes=notes(result) if notes else (),
            )
        )
        if progress:
            progress(number, len(results))
    return reports


def _account(
    result: PanelResult, gate: str, executions: Executions | None, routing: RoutingCost | None
) -> Account | None:
    """The gate's account against the better constant policy; a gate judged on a part of the panel has none."""
    own = result.policies.get(gate)
    if executions is None or own is None or len(own.rows) < result.pairs:
        return None
    baseline: Baseline = "always_on" if result.on > result.off else "always_off"
    used = own.actions > 0.5
    return account(result.support, used, executions(result), routing=routing, baseline=baseline)
