"""The paper's guarantees on a panel whose truth is known: what they promise, and what happened.

`skilldelta simulate` prints this, so that a person who plans a study sees how far the guarantees carry at the study's
size before paying for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Flags, Floats, exceeds
from skilldelta.errors import InputError
from skilldelta.evaluation.simulation.local_rate import LocalRate, MarginSplit, local_rate, margin_of
from skilldelta.evaluation.simulation.regret import MeanRegret, disagreement_bound, local_terms, mean_regret
from skilldelta.evaluation.simulation.simulated_panel import SimulatedPanel
from skilldelta.predictor import PAPER, Settings, predict_each
from skilldelta.support import Scope


@dataclass(frozen=True, slots=True)
class TheoryCheck:
    """Promises and what was observed, over targets that have support."""

    targets: int
    covered: float
    """Share of targets whose error is within B_delta; promised: at least 1 - delta."""
    mean_bound: float
    """Mean of B_delta. Above 1 it certifies nothing."""
    disagreement: float
    """Share of actions that differ from the oracle's."""
    disagreement_bound: float
    regret: MeanRegret
    acted: float
    """Share of targets on which the three-way gate does not abstain."""
    acted_wrongly: float
    """Share of targets on which it acts against the oracle; at most delta on average."""
    delta: float
    rate: LocalRate | None
    """What k neighbours promise; None where the panel is too small for the rate to hold."""
    margin: MarginSplit


def check_theory(
    panel: SimulatedPanel,
    *,
    settings: Settings = PAPER,
    scope: Scope = "family",
    threshold: float | Floats = 0.0,
    delta: float = 0.05,
) -> TheoryCheck:
    """Predict every task of a simulated panel from the others and compare with its true gain.

    The threshold may be one for each task (n,): eta(t), such as one that rises with the tokens that a skill adds.

    The simulator promises its smoothness within a family; over a wider scope the bound may fail more often than delta.
    """
    smoothness, residual = panel.settings.smoothness, panel.settings.residual
    predictions = predict_each(panel.support, scope, settings=settings)
    terms = local_terms(predictions, panel.support)
    at = terms.supported
    if not at.any():
        raise InputError(f"no simulated task has another in its {scope}; simulate more tasks, or fewer families")
    bounds = terms.bounds(delta=delta, smoothness=smoothness, residual=residual)
    predicted, tau = predictions.gains, panel.tau
    use, skip = exceeds(predicted - bounds, threshold), ~exceeds(predicted + bounds, threshold)
    best = exceeds(tau, threshold)
    wrong = (use & ~best) | (skip & best)
    return TheoryCheck(
        targets=int(at.sum()),
        covered=float((np.abs(predicted - tau) <= bounds)[at].mean()),
        mean_bound=float(bounds[at].mean()),
        disagreement=float((exceeds(predicted, threshold) != best)[at].mean()),
        disagreement_bound=disagreement_bound(tau[at], bounds[at], threshold=_at(threshold, at), delta=delta),
        regret=mean_regret(predicted, tau, terms, threshold=threshold, smoothness=smoothness, residual=residual),
        acted=float((use | skip)[at].mean()),
        acted_wrongly=float(wrong[at].mean()),
        delta=delta,
        rate=local_rate(panel, np.abs(predicted - tau)[at], settings=settings, scope=scope, delta=delta),
        margin=margin_of(tau[at], bounds[at], threshold=_at(threshold, at), delta=delta),
    )


def _at(threshold: float | Floats, rows: Flags) -> float | Floats:
    return threshold[rows] if isinstance(threshold, np.ndarray) else threshold
