"""Risk against coverage: the most unlike tasks are left to the fallback."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.evaluation.leave_one_out import evaluate_panel
from skilldelta.evaluation.risk_coverage import of_panel, panel_familiarity, risk_coverage
from skilldelta.evaluation.simulation.simulated_panel import simulate_panel


def test_unlike_tasks_are_skipped_first_and_risk_is_what_the_others_lose() -> None:
    familiarity = np.array([0.01, 0.4, 0.6, 0.8])
    y0, y1 = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0.0, 1.0, 0.0, 1.0])
    always = np.ones(4, bool)  # loses the first and the third
    everything, less = risk_coverage(familiarity, always, y0, y1, shares=(0.0, 0.25))
    assert (everything.coverage, everything.familiarity, everything.risk, everything.success) == (1.0, None, 0.5, 0.5)
    assert (less.coverage, less.familiarity, less.success) == (0.75, 0.4, 0.75)
    assert less.risk == pytest.approx(1 / 3)


def test_tasks_of_unknown_familiarity_are_always_decided() -> None:
    (point,) = risk_coverage(np.array([np.nan, np.nan, 0.2, 0.3]), np.zeros(4), np.zeros(4), np.ones(4), shares=(0.25,))
    assert (point.coverage, point.familiarity) == (0.75, 0.3)


def test_a_panel_has_a_curve_where_its_families_are_large_enough(rng: np.random.Generator) -> None:
    panel = evaluate_panel(simulate_panel(rng, tasks=60, families=3).support, rng=rng, resamples=0)
    points = of_panel(panel)
    assert points[0].success == pytest.approx(panel.policies["stack"].success)
    assert [round(point.coverage, 2) for point in points] == [1.0, 1.0, 0.98, 0.95, 0.9, 0.8]
    small = evaluate_panel(simulate_panel(rng, tasks=6, families=3).support, rng=rng, resamples=0)
    assert of_panel(small) == ()
    assert np.isnan(panel_familiarity(small.support)).all()
