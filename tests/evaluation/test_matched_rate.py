from __future__ import annotations

import numpy as np
import pytest

from skilldelta.evaluation.matched_rate import advantage


def test_the_expectation_is_exact_where_coin_flips_only_come_near(rng: np.random.Generator) -> None:
    """A policy's success less its advantage is what coin flips at its use rate come near to."""
    y0, y1, actions = rng.random(50), rng.random(50), np.arange(50) < 15
    success = float(np.where(actions, y1, y0).mean())
    flips = rng.random((20_000, 50)) < 0.3
    simulated = np.where(flips, y1, y0).mean()
    found = advantage(float((actions * (y1 - y0)).mean()), float((y1 - y0).mean()), 0.3)
    assert success - found == pytest.approx(simulated, abs=2e-3)


def test_the_advantage_is_the_covariance_of_actions_and_gains(rng: np.random.Generator) -> None:
    actions, gains = rng.random(40) < 0.5, rng.normal(size=40)
    found = advantage(float((actions * gains).mean()), float(gains.mean()), float(actions.mean()))
    assert found == pytest.approx(np.cov(actions.astype(float), gains, bias=True)[0, 1])


def test_a_constant_policy_has_no_advantage() -> None:
    assert advantage(0.2, 0.2, 1.0) == 0.0
    assert advantage(0.0, 0.2, 0.0) == 0.0
