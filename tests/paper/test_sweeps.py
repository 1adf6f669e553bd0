"""Rows 23 and 25: the threshold trade-off, and evidence scaling as the paper sets it up."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.evaluation.evidence_scaling import neighbor_sweep, repetition_sweep, support_sweep
from skilldelta.evaluation.leave_one_out import evaluate_panel
from skilldelta.evaluation.sweeps import threshold_sweep
from skilldelta.paper.simulation.simulated_panel import SimulatedPanel, simulate_panel
from skilldelta.predictor import predict_each


@pytest.fixture
def panel(rng: np.random.Generator) -> SimulatedPanel:
    return simulate_panel(rng, tasks=160, families=4, kind="mixed", r0=3, r1=3)


def test_the_default_point_of_the_sweep_is_the_evaluated_policy(
    panel: SimulatedPanel, rng: np.random.Generator
) -> None:
    """The paper's stars reproduce its policy table."""
    result = evaluate_panel(panel.support, rng=rng, policies=["always_off", "always_on", "paper"], resamples=0)
    sweep = threshold_sweep(predict_each(panel.support, "family").gains, panel.support)
    star, evaluated = sweep.point(sweep.default), result.policies["paper"]
    assert star.threshold == 0.0
    assert star.success == pytest.approx(evaluated.success, abs=1e-12)
    assert star.use_rate == pytest.approx(evaluated.use_rate, abs=1e-12)
    assert star.tokens == pytest.approx(evaluated.tokens)
    assert star.token_saving == pytest.approx(evaluated.token_saving)
    assert sweep.success[0] == pytest.approx(result.on, abs=1e-12)
    assert sweep.success[-1] == pytest.approx(result.off, abs=1e-12)
    assert sweep.success[sweep.best] == pytest.approx(sweep.success.max(), abs=1e-12)


def test_sweeps_stop_at_one_less_than_the_smallest_family_and_keep_every_target(
    panel: SimulatedPanel, rng: np.random.Generator
) -> None:
    """The paper's 99, 19 and 39 are family sizes of 100, 20 and 40 minus the target."""
    for curve in (support_sweep(panel.support, rng, orderings=2), neighbor_sweep(panel.support)):
        assert curve.amounts[-1] == 39
        assert curve.targets == 160


def test_the_repetition_sweep_keeps_one_to_three_executions(panel: SimulatedPanel, rng: np.random.Generator) -> None:
    curve = repetition_sweep(panel.support, rng)
    assert curve.amounts.tolist() == [1, 2, 3]
    assert curve.mae[0] > curve.mae[1] > curve.mae[2]


def test_all_three_sweeps_meet_at_full_evidence(panel: SimulatedPanel, rng: np.random.Generator) -> None:
    """All support, three neighbors, all repetitions: one prediction, whichever way it is reached."""
    pools = support_sweep(panel.support, rng, sizes=[39]).mae[0]
    neighbors = neighbor_sweep(panel.support, ks=[3]).mae[0]
    repetitions = repetition_sweep(panel.support, rng, repetitions=[3]).mae[0]
    assert pools == pytest.approx(neighbors, abs=1e-12)
    assert repetitions == pytest.approx(neighbors, abs=1e-12)
