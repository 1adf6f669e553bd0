from __future__ import annotations

import numpy as np
import pytest

from skilldelta.errors import InputError
from skilldelta.estimators.base import Scores
from skilldelta.evaluation.panel_policy import PanelPolicy, policy_result
from skilldelta.support import Support


def _panel(tokens0: list[float] | None = None, tokens1: list[float] | None = None) -> Support:
    """Gains +1, -1, 0."""
    return Support.from_arrays(
        task_ids=["a", "b", "c"],
        families=["f", "f", "g"],
        vectors=np.eye(3),
        y0=[0, 1, 1],
        y1=[1, 0, 1],
        tokens0=tokens0,
        tokens1=tokens1,
    )


def test_success_and_tokens_come_from_the_chosen_arm() -> None:
    policy = PanelPolicy.from_scores("p", Scores(np.array([0.5, -0.5, 0.5])))
    result = policy_result(policy, _panel([10, 20, 30], [100, 200, 300]), {})
    assert result.success == 1.0
    assert result.success_gain == pytest.approx(1 / 3)
    assert result.use_rate == pytest.approx(2 / 3)
    assert result.tokens == pytest.approx((100 + 20 + 300) / 3)
    assert result.token_saving == pytest.approx(1 - 420 / 600)
    assert result.gain_mae == pytest.approx(0.5)
    assert result.gain_mse == pytest.approx(0.25)


def test_equality_with_the_threshold_skips() -> None:
    policy = PanelPolicy.from_scores("p", Scores(np.array([0.25, 0.2500001, 0.0])), threshold=0.25)
    assert policy.actions.tolist() == [False, True, False]


def test_the_routers_tokens_are_spent_too() -> None:
    scores = Scores(np.array([1.0, 0.0, 0.0]), 0.5, is_gain=False, router_tokens=np.array([5.0, 5.0, 8.0]))
    result = policy_result(PanelPolicy.from_scores("p", scores), _panel([10, 20, 30], [100, 200, 300]), {})
    assert result.tokens == pytest.approx((105 + 25 + 38) / 3)
    assert result.router_tokens == pytest.approx(6.0)
    assert result.gain_mae is None


def test_unknown_tokens_are_none_and_never_zero() -> None:
    result = policy_result(PanelPolicy.constant("always_on", 1.0, 3), _panel(), {})
    assert result.tokens is None
    assert result.token_saving is None


def test_tokens_are_compared_over_pairs_that_have_both() -> None:
    panel = _panel([10, np.nan, 30], [100, 200, 300])
    result = policy_result(PanelPolicy.constant("always_off", 0.0, 3), panel, {})
    assert result.tokens == pytest.approx(20.0)
    assert result.token_saving == pytest.approx(1 - 40 / 400)


def test_a_random_policy_has_the_expected_value_of_its_coin() -> None:
    result = policy_result(PanelPolicy.constant("random_matched", 0.25, 3), _panel([10, 20, 30], [100, 200, 300]), {})
    assert result.success == pytest.approx(2 / 3)
    assert result.tokens == pytest.approx(0.75 * 20 + 0.25 * 200)
    assert result.balanced_accuracy == pytest.approx(0.5)
    assert result.advantage_vs_random == pytest.approx(0.0, abs=1e-15)


def test_rows_without_a_score_are_not_evaluated() -> None:
    result = policy_result(PanelPolicy.from_scores("p", Scores(np.array([0.5, np.nan, 0.5]))), _panel(), {})
    assert result.rows.tolist() == [0, 2]
    assert result.success == 1.0
    assert result.use_rate == 1.0


def test_a_policy_without_any_score_is_refused() -> None:
    with pytest.raises(InputError, match="scored no task"):
        PanelPolicy.from_scores("p", Scores(np.full(3, np.nan)))
