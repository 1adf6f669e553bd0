"""What a report shows besides the evaluation itself: evidence curves, chances, accounts, and what was left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np

from skilldelta.evaluation.accounting import Account, Baseline, RoutingCost, account
from skilldelta.evaluation.comparison import default_gate
from skilldelta.evaluation.nested import Scorer
from skilldelta.evaluation.results import PanelResult
from skilldelta.noise_floor import noise_of_executions
from skilldelta.records import Execution
from skilldelta.report.forecast import forecasts_of
from skilldelta.report.panel import PanelReport
from skilldelta.report.scaling_curves import scaling_curves
from skilldelta.support import Scope


class PanelSource(Protocol):
    """Where a panel comes from: what its results alone do not tell."""

    def executions(self, result: PanelResult) -> Iterable[Execution]:
        """Every execution that the bank holds for the panel, counted or not."""
        ...

    def routing(self, result: PanelResult) -> RoutingCost | None:
        """What one decision costs, where it can be told."""
        ...

    def left_out(self, result: PanelResult) -> tuple[str, ...]:
        """What the bank left out of the panel, in words."""
        ...

    def scorer(self, policy: str) -> Scorer | None:
        """How a policy scores a part of a panel: as in the evaluation, with the same settings."""
        ...


def gather(
    results: Sequence[PanelResult],
    *,
    seed: int,
    scope: Scope = "family",
    gate: str | None = None,
    source: PanelSource | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[PanelReport]:
    """Panels ready for a report; without their source there are no accounts and no notes."""
    reports = []
    for number, result in enumerate(results, 1):
        chosen = gate or default_gate(result)
        reports.append(
            PanelReport(
                result,
                scaling=scaling_curves(result.support, np.random.default_rng(seed), scope=scope),
                account=_account(result, chosen, source) if source else None,
                forecasts=forecasts_of(result, chosen, source.scorer(chosen) if source else None),
                notes=source.left_out(result) if source else (),
                noise=noise_of_executions(source.executions(result)) if source else None,
            )
        )
        if progress:
            progress(number, len(results))
    return reports


def _account(result: PanelResult, gate: str, source: PanelSource) -> Account | None:
    """The gate's account against the better constant policy; a gate judged on a part of the panel has none."""
    own = result.policies.get(gate)
    if own is None or len(own.rows) < result.pairs:
        return None
    baseline: Baseline = "always_on" if result.on > result.off else "always_off"
    return account(
        result.support,
        own.actions > 0.5,
        source.executions(result),
        routing=source.routing(result),
        baseline=baseline,
    )
