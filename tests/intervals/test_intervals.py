from __future__ import annotations

import numpy as np
import pytest

from skilldelta.errors import InputError
from skilldelta.intervals import METHODS, Neighborhood, Residuals, conformal, interval

SIX = np.full(6, 1 / 6)


def draw(rng: np.random.Generator, weights: np.ndarray, mu0: float, mu1: float, r: int) -> Neighborhood:
    k = len(weights)
    return Neighborhood(weights, rng.binomial(r, mu0, k) / r, rng.binomial(r, mu1, k) / r, np.full(k, r), np.full(k, r))


def coverage(
    method: str, rng: np.random.Generator, *, mu0: float, mu1: float, r: int, k: int = 6, trials: int = 300
) -> float:
    """Share of simulated neighborhoods whose interval contains the true weighted gain."""
    weights = np.linspace(1.1, 0.9, k) / k
    weights /= weights.sum()
    found = (interval(method, draw(rng, weights, mu0, mu1, r)) for _ in range(trials))
    return float(np.mean([one.low - 1e-9 <= mu1 - mu0 <= one.high + 1e-9 for one in found]))


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize(("mu0", "mu1"), [(0.5, 0.5), (0.2, 0.9), (0.9, 0.6)])
def test_an_interval_keeps_its_promise(method: str, mu0: float, mu1: float, rng: np.random.Generator) -> None:
    # 300 trials at 95%: fewer than 92% would be a chance of about one in a hundred.
    assert coverage(method, rng, mu0=mu0, mu1=mu1, r=3) >= 0.92


@pytest.mark.slow
@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize(
    ("mu0", "mu1", "r", "k"),
    [(0.5, 0.5, 1, 6), (0.5, 0.5, 3, 6), (0.3, 0.8, 3, 6), (0.5, 0.6, 3, 40), (0.02, 0.97, 3, 6)],
)
def test_an_interval_keeps_its_promise_in_many_trials(
    method: str, mu0: float, mu1: float, r: int, k: int, rng: np.random.Generator
) -> None:
    assert coverage(method, rng, mu0=mu0, mu1=mu1, r=r, k=k, trials=4_000) >= 0.945


def test_at_six_neighbors_and_three_runs_the_exact_interval_is_at_most_60_percent_of_the_papers(
    rng: np.random.Generator,
) -> None:
    weights = np.array([0.174, 0.168, 0.167, 0.165, 0.164, 0.162])
    widths = {
        name: np.mean([(found := interval(name, draw(rng, weights, 0.4, 0.6, 3))).high - found.low for _ in range(100)])
        for name in ("hoeffding", "hoeffding_independent", "exact")
    }
    assert widths["hoeffding"] == pytest.approx(2 * 0.640, abs=0.02)
    assert widths["hoeffding_independent"] == pytest.approx(widths["hoeffding"] / np.sqrt(2), abs=0.02)
    assert widths["exact"] <= 0.6 * widths["hoeffding"]


def test_betting_is_shorter_than_hoeffding_where_outcomes_are_alike() -> None:
    sure = Neighborhood(SIX, np.zeros(6), np.ones(6), np.full(6, 3), np.full(6, 3))
    betting, hoeffding = interval("betting", sure), interval("hoeffding_independent", sure)
    assert betting.low > hoeffding.low
    assert betting.high == hoeffding.high == 1


def test_every_interval_contains_the_predicted_gain(rng: np.random.Generator) -> None:
    for _ in range(50):
        found = draw(rng, rng.dirichlet(np.ones(5)), 0.4, 0.6, 2)
        for method in METHODS:
            one = interval(method, found)
            assert one.low - 1e-9 <= found.gain <= one.high + 1e-9
            assert -1 <= one.low <= one.high <= 1


def test_unequal_repetitions_and_graded_outcomes_are_taken(rng: np.random.Generator) -> None:
    uneven = Neighborhood(SIX, rng.integers(0, 2, 6).astype(float), np.ones(6), np.full(6, 1), np.full(6, 4))
    graded = Neighborhood(SIX, np.full(6, 0.37), np.full(6, 0.61), np.full(6, 1), np.full(6, 1))
    assert interval("exact", uneven).method == "hoeffding_independent"  # one arm has far fewer runs
    assert interval("exact", graded).method == "betting"  # counts are not whole, so the exact method gives way
    assert interval("exact", graded).low <= 0.24 <= interval("exact", graded).high


def test_more_repetitions_give_shorter_intervals() -> None:
    for method in METHODS:
        one, many = (
            interval(method, Neighborhood(SIX, np.full(6, 0.5), np.full(6, 0.5), np.full(6, r), np.full(6, r)))
            for r in (2, 200)
        )
        assert many.high - many.low < one.high - one.low


@pytest.mark.parametrize(
    ("method", "level", "message"), [("hoefding", 0.95, "did you mean hoeffding"), ("exact", 1.5, "level must lie")]
)
def test_bad_arguments_are_named(method: str, level: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        interval(method, Neighborhood(SIX, SIX, SIX, np.ones(6, int), np.ones(6, int)), level=level)


def test_conformal_covers_the_observed_gain_of_a_new_task(rng: np.random.Generator) -> None:
    def panel(n: int) -> tuple[np.ndarray, np.ndarray]:
        predicted = rng.uniform(-0.5, 0.5, n)
        return predicted, np.clip(predicted + rng.normal(0, 0.3, n), -1, 1)

    predicted, observed = panel(400)
    residuals = Residuals.of(predicted, observed, np.array(["a", "b"] * 200))
    new_predicted, new_observed = panel(2_000)
    found = [conformal(float(gain), residuals, family="a") for gain in new_predicted]
    covered = np.mean([one.low <= gain <= one.high for one, gain in zip(found, new_observed, strict=True)])
    assert 0.92 <= covered <= 0.985
    assert found[0].method == "conformal_by_family"


def test_conformal_with_too_few_tasks_leaves_everything_possible() -> None:
    found = conformal(0.1, Residuals(np.array([0.1, 0.2]), np.array(["a", "a"])), family="a")
    assert (found.low, found.high, found.method) == (-1, 1, "conformal")
