from __future__ import annotations

import numpy as np
import pytest

from skilldelta.evaluation.matched_rate import advantage, random_success


def test_the_expectation_is_exact_where_coin_flips_only_come_near(rng: np.random.Generator) -> None:
    y0, y1 = rng.random(50), rng.random(50)
    flips = rng.random((20_000, 50)) < 0.3
    simulated = np.where(flips, y1, y0).mean()
    assert random_success(float(y0.mean()), float((y1 - y0).mean()), 0.3) == pytest.approx(simulated, abs=2e-3)


def test_the_advantage_is_the_covariance_of_actions_and_gains(rng: np.random.Generator) -> None:
    actions, gains = rng.random(40) < 0.5, rng.normal(size=40)
    found = advantage(float((actions * gains).mean()), float(gains.mean()), float(actions.mean()))
    assert found == pytest.approx(np.cov(actions.astype(float), gains, bias=True)[0, 1])


def test_a_constant_policy_has_no_advantage() -> None:
    assert advantage(0.2, 0.2, 1.0) == 0.0
    assert advantage(0.0, 0.2, 0.0) == 0.0
