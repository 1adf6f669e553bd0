"""Chances of help and harm: calibrated, monotone, never certain, and blind to the target's own outcome."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilldelta.arrays import Floats
from skilldelta.errors import InputError
from skilldelta.evaluation.metrics import reliability_curve
from skilldelta.evaluation.scored_policies import scores_without_folds
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.predictor import Settings, predict_each
from skilldelta.probability import cross_fitted, fit_probabilities
from skilldelta.support import Support


def scored(support: Support) -> Floats:
    return predict_each(support, "family", settings=Settings(k=12)).gains


@pytest.mark.parametrize("kind", ["mixed", "family_only", "no_effect"])
def test_predicted_chances_match_observed_shares_within_bins(kind: str, rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=1500, families=6, kind=kind).support
    found = cross_fitted(scored(support), support.gains, support.task_ids)
    for predicted, happened in ((found.help, support.gains > 0), (found.harm, support.gains < 0)):
        bins = reliability_curve(predicted, happened, bins=6)
        error = np.average([abs(b.predicted - b.observed) for b in bins], weights=[b.count for b in bins])
        assert error < 0.045  # a share of 250 tasks is itself off by .02 on average
        assert predicted.mean() == pytest.approx(happened.mean(), abs=0.01)


def test_a_score_that_says_something_has_a_lower_log_loss_than_the_base_rate(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=800, families=5, kind="mixed").support
    found = cross_fitted(scored(support), support.gains, support.task_ids)
    base = cross_fitted(np.zeros(800), support.gains, support.task_ids)

    def log_loss(help_: Floats, harm: Floats) -> float:
        chosen = np.where(support.gains > 0, help_, np.where(support.gains < 0, harm, 1 - help_ - harm))
        return float(-np.log(chosen).mean())

    assert log_loss(found.help, found.harm) < log_loss(base.help, base.harm) - 0.01


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(-1, 1), st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.3, 1.0, 5.0])
        ),
        max_size=25,
    )
)
def test_chances_rise_with_the_score_and_are_never_certain(rows: list[tuple[float, float, float]]) -> None:
    scores, gains, weights = (np.array([row[i] for row in rows]) for i in range(3))
    curve = fit_probabilities(scores, gains, weights)
    found = curve.of(np.linspace(-1.5, 1.5, 31))
    assert (np.diff(found.help) >= 0).all()
    assert (np.diff(found.harm) <= 0).all()
    for values in (found.help, found.harm):
        assert ((values > 0) & (values < 1)).all()
    assert (found.help + found.harm < 1).all()


def test_a_handful_of_helped_tasks_is_no_certainty() -> None:
    chance = fit_probabilities([0.5] * 4, [1.0] * 4).at(0.5)
    assert 0.8 < chance.help < 0.95
    assert chance.harm > 0.02
    assert chance.tie == pytest.approx(1 - chance.help - chance.harm)
    assert "likely to help" in chance.sentence


def test_without_any_row_every_outcome_is_equally_likely() -> None:
    chance = fit_probabilities([], []).at(0.3)
    assert chance.help == pytest.approx(1 / 3, abs=1e-3)
    assert chance.harm == pytest.approx(1 / 3, abs=1e-3)


def test_a_score_that_points_the_wrong_way_is_ignored() -> None:
    curve = fit_probabilities(np.linspace(-1, 1, 50), -np.sign(np.linspace(-1, 1, 50)))
    assert curve.slope == 0
    assert curve.at(-0.9) == curve.at(0.9)


def test_weights_count_like_repeated_rows() -> None:
    scores, gains = [0.0, 0.2, 0.6, 0.7], [-1.0, 0.0, 1.0, 1.0]
    weighted = fit_probabilities(scores, gains, [1, 2, 1, 3]).at(0.4)
    repeated = fit_probabilities([0.0, 0.2, 0.2, 0.6, 0.7, 0.7, 0.7], [-1.0, 0, 0, 1, 1, 1, 1]).at(0.4)
    assert weighted.help == pytest.approx(repeated.help, abs=1e-4)


def test_flipping_a_targets_outcome_moves_nothing_of_its_own_chances(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=60, families=3, kind="mixed").support

    def chances(panel: Support) -> tuple[Floats, Floats]:
        found = cross_fitted(
            scored(panel), panel.gains, panel.task_ids, training_scores=scores_without_folds(scored, panel)
        )
        return found.help, found.harm

    before = chances(support)
    for row in (0, 17, 59):
        y0, y1 = support.y0.copy(), support.y1.copy()
        y0[row] = 1 - y0[row]
        y1[row] = 1 - y1[row] if support.gains[row] else 1 - y0[row]
        after = chances(support.with_outcomes(y0, y1))
        assert [values[row] for values in after] == [values[row] for values in before]
        assert not np.array_equal(after[0], before[0])


def test_rows_without_a_score_have_no_chance_and_teach_nothing() -> None:
    ids = np.array([f"t{i}" for i in range(12)])
    scores, gains = np.linspace(-1, 1, 12), np.sign(np.linspace(-1, 1, 12))
    scores[3] = np.nan
    found = cross_fitted(scores, gains, ids)
    assert np.isnan(found.help[3])
    assert np.isfinite(np.delete(found.help, 3)).all()


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(InputError, match="2 scores, 1 gain"):
        fit_probabilities([0.1, 0.2], [1.0])
