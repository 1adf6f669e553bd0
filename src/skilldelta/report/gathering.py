"""What a report shows besides the evaluation itself: evidence curves, chances, accounts, and what was left out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Protocol

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.encoders import Encoder
from skilldelta.errors import InputError
from skilldelta.estimators.base import Needs
from skilldelta.estimators.registry import policies
from skilldelta.evaluation.accounting import Account, Baseline, RoutingCost, account
from skilldelta.evaluation.comparison import default_gate
from skilldelta.evaluation.evidence_scaling import EvidenceCurve, neighbor_sweep, repetition_sweep, support_sweep
from skilldelta.evaluation.repeated_folds import SMALL_PANEL, held_out_uses
from skilldelta.evaluation.results import PanelResult
from skilldelta.evaluation.scored_policies import Scorer
from skilldelta.evaluation.skill_verdicts import skill_verdicts
from skilldelta.noise_floor import noise_of_executions
from skilldelta.predictor import predict
from skilldelta.records import Execution
from skilldelta.report.figures.score_quality import forecasts_of
from skilldelta.report.panel import PanelReport
from skilldelta.support import Scope, Support


class PanelSource(Protocol):
    """Where a panel comes from: what its results alone do not tell."""

    def executions(self, result: PanelResult) -> Iterable[Execution]:
        """Every execution that the bank holds for the panel, counted or not."""
        ...

    def routing(self, result: PanelResult) -> RoutingCost | None:
        """What one decision costs, where that is known."""
        ...

    def left_out(self, result: PanelResult) -> tuple[str, ...]:
        """What the bank left out of the panel, in words."""
        ...

    def votes(self, result: PanelResult) -> Floats | None:
        """(n,) which way each task went on equally many runs of both arms, where that is known."""
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
                verdicts=skill_verdicts(
                    result.support,
                    rng=np.random.default_rng(seed),
                    votes=source.votes(result) if source else None,
                    uses=_held_out_uses(result, chosen, seed),
                    margin=result.margin,
                ),
            )
        )
        if progress:
            progress(number, len(results))
    return reports


def _held_out_uses(result: PanelResult, gate: str, seed: int) -> Floats | None:
    """(repeats, n) the gate's decisions on rows that it had not seen: by folds in a small panel, else those evaluated."""
    own, entry = result.policies.get(gate), policies().get(gate)
    if own is None or len(own.rows) < result.pairs:
        return None
    if result.tasks >= SMALL_PANEL or entry is None or entry.estimator is None or not entry.can_freeze:
        return np.asarray(own.actions, np.float64)[None, :]
    return held_out_uses(result.support, entry.estimator(Needs()), rng=np.random.default_rng(seed))


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


# Tasks of a family beyond which ranking all against all would take too much memory for a report.
LARGEST_BLOCK = 2_500
# Share of the pairs that a curve must follow; smaller families are left out so that the others can be followed further.
KEPT_SHARE = 0.8


def scaling_curves(support: Support, rng: np.random.Generator, *, scope: Scope = "family") -> list[EvidenceCurve]:
    """Support, neighbors and repetitions; a curve that the panel cannot give is left out."""
    sizes = np.array([_eligible(support, block) for block in support.blocks(scope)])
    blocks = np.array([len(block) for block in support.blocks(scope)])
    if blocks.max() > LARGEST_BLOCK or not (sizes > 0).any():
        return []
    at_least = _followed_to(sizes, blocks)
    limit = int(sizes[sizes >= at_least].min())
    amounts = spaced(limit)
    curves = [
        support_sweep(support, rng, sizes=amounts, scope=scope, at_least=at_least),
        neighbor_sweep(support, ks=amounts, scope=scope, at_least=at_least),
    ]
    # Outcomes between 0 and 1: the single executions behind a mean are not in a Support.
    with suppress(InputError):
        curves.append(repetition_sweep(support, rng, scope=scope))
    return curves


def spaced(limit: int) -> list[int]:
    """1, 2, 3, 5, 8, 12, 20, 30, 50, ... and the limit itself."""
    steps = (step * 10**power for power in range(8) for step in (1, 2, 3, 5, 8, 12))
    return [*sorted({step for step in steps if step < limit and step not in (10, 100)}), limit]


def _eligible(support: Support, block: np.ndarray) -> int:
    """Rows that the worst-off target of a block may borrow from."""
    return len(block) - int(np.unique(support.task_codes[block], return_counts=True)[1].max())


def _followed_to(sizes: np.ndarray, blocks: np.ndarray) -> int:
    """The largest pool that still keeps most of the pairs, at least 1."""
    for amount in sorted(set(sizes.tolist()), reverse=True):
        if amount >= 1 and blocks[sizes >= amount].sum() >= KEPT_SHARE * blocks.sum():
            return int(amount)
    return 1


# Questions that are timed; the median is what is reported.
TIMED = 20


def measured_routing(support: Support, encoder: Encoder) -> RoutingCost | None:
    """Median seconds of a decision, one question at a time; None where the texts were not kept. No token is spent."""
    if not support.texts:
        return None
    labels = [str(label) for label in support.scope_labels("family")]
    blocks = {labels[block[0]]: block for block in support.blocks("family")}
    encoder.encode([support.texts[0]])  # the first call may load a model
    seconds = []
    for row in np.unique(np.linspace(0, len(support) - 1, TIMED).astype(int)):
        block = blocks[labels[row]]
        vectors, gains = support.vectors[block], support.gains[block]
        started = time.perf_counter()
        predict(encoder.encode([support.texts[row]])[0], vectors, gains)
        seconds.append(time.perf_counter() - started)
    return RoutingCost(seconds=float(np.median(seconds)))
