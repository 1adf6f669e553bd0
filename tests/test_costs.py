"""Predicted tokens and the rule that weighs them, checkable by hand."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.costs import PSEUDO_PAIRS, Cost, CostRule, TokenCosts
from skilldelta.errors import InputError
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.predictor import predict_each
from skilldelta.support import Support


def support_with(added: list[float], families: list[str], task_ids: list[str] | None = None) -> Support:
    n = len(added)
    return Support.from_arrays(
        task_ids=task_ids or [f"t{i}" for i in range(n)],
        families=families,
        vectors=[[1, 0]] * n,
        y0=np.zeros(n),
        y1=np.zeros(n),
        tokens0=[100.0] * n,
        tokens1=[100 + a for a in added],
    )


def test_neighbors_are_pulled_toward_the_family_and_the_family_toward_the_panel() -> None:
    costs = TokenCosts.of(support_with([400, 400, 200, 200], ["a", "a", "b", "b"]))
    family = (800 + PSEUDO_PAIRS * 300) / (2 + PSEUDO_PAIRS)
    found = costs.predict(np.array([0]), family="a")
    assert found is not None
    assert found.tokens == pytest.approx((400 + PSEUDO_PAIRS * family) / (1 + PSEUDO_PAIRS))
    assert found.pairs == 1
    assert found.dollars is None


def test_a_new_family_without_neighbors_costs_the_panel_mean() -> None:
    costs = TokenCosts.of(support_with([400, 200], ["a", "b"]))
    found = costs.predict(np.array([], np.int64), family="new", price=3.0)
    assert found == Cost(300.0, pytest.approx(300 * 3 / 1e6), 0)  # type: ignore[arg-type]


def test_unknown_tokens_are_ignored_and_none_at_all_is_unknown() -> None:
    costs = TokenCosts.of(support_with([np.nan, 200, np.nan], ["a", "a", "a"]))
    found = costs.predict(np.array([0, 1, 2]), family="a")
    assert found is not None
    assert (found.tokens, found.pairs) == (200, 1)
    assert TokenCosts.of(support_with([np.nan], ["a"])).predict(np.array([0]), family="a") is None
    empty = Support.from_arrays(task_ids=[], vectors=np.empty((0, 2)), y0=[], y1=[])
    assert TokenCosts.of(empty).predict(np.array([], np.int64)) is None


def test_a_targets_own_tokens_never_reach_its_cost_under_any_skill() -> None:
    families, ids = ["a", "a", "b"], ["mine", "other", "mine"]
    before = TokenCosts.of(support_with([400, 300, 500], families, ids))
    after = TokenCosts.of(support_with([9000, 300, 7000], families, ids))
    asked = {"family": "a", "task_id": "mine"}
    assert before.predict(np.array([0, 1, 2]), **asked) == after.predict(np.array([0, 1, 2]), **asked)  # type: ignore[arg-type]


def test_each_row_is_predicted_as_a_target_would_be(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=60, families=4)
    rows = predict_each(panel.support, "family").rows
    costs = TokenCosts.of(panel.support)
    each = costs.predict_each(rows)
    one = costs.predict(rows[5], family=str(panel.support.families[5]), task_id=str(panel.support.task_ids[5]))
    assert one is not None
    assert each[5] == one.tokens
    assert each.mean() == pytest.approx(400, abs=60)  # the simulated skill adds 400 tokens


def test_the_cost_of_a_token_follows_from_the_worth_of_a_success() -> None:
    rule = CostRule.from_worth(0.5, price=10.0)  # a thousand tokens cost one cent, a fiftieth of a success
    assert rule.per_token * 1000 == pytest.approx(0.02)
    assert rule.net_gain(0.1, Cost(1000)) == pytest.approx(0.08)


@pytest.mark.parametrize(
    ("gain", "tokens", "threshold", "use"),
    [
        (0.10, 1000, 0.0, True),
        (0.01, 1000, 0.0, False),
        (0.02, 1000, 0.0, False),  # equality skips
        (0.0, 1000, -1.0, False),  # a tie at more tokens is skipped at any threshold
        (0.0, -1000, 0.0, True),  # a tie that saves tokens is used
        (-0.01, -1000, 0.0, True),
        (-0.05, -1000, 0.0, False),
    ],
)
def test_the_gain_must_exceed_what_its_tokens_cost(gain: float, tokens: float, threshold: float, use: bool) -> None:
    assert CostRule(0.02 / 1000).uses(gain, Cost(tokens), threshold=threshold) is use


def test_a_tie_at_more_tokens_is_skipped_even_when_tokens_are_free() -> None:
    assert not CostRule(0.0).uses(0.0, Cost(100), threshold=-0.5)


def test_an_unknown_cost_leaves_the_plain_rule() -> None:
    rule = CostRule(0.5 / 1000)
    assert rule.uses(0.01, None)
    assert not rule.uses(0.0, None)
    assert "cost is unknown" in rule.sentence(0.01, None)


def test_the_decision_is_told_in_words_with_its_arithmetic() -> None:
    rule = CostRule(0.02 / 1000)
    told = rule.sentence(0.1, Cost(1000, 0.01))
    assert "adds about 1,000 tokens ($0.01)" in told
    assert "weighs +0.020 success" in told
    assert told.endswith("+0.080, above the threshold 0: use.")
    assert rule.sentence(0.0, Cost(1000)).endswith("gain nothing (+0.000): skip.")
    assert "saves about 500 tokens" in rule.sentence(0.0, Cost(-500))


@pytest.mark.parametrize("worth", [0.0, -1.0, float("nan")])
def test_a_success_worth_nothing_is_refused(worth: float) -> None:
    with pytest.raises(InputError, match="more than 0 dollars"):
        CostRule.from_worth(worth, price=1.0)


def test_impossible_prices_are_refused() -> None:
    with pytest.raises(InputError, match="got -1"):
        CostRule.from_worth(1.0, price=-1.0)
    with pytest.raises(InputError, match="at least 0"):
        CostRule(-0.1 / 1000)


def test_many_rows_and_the_plain_threshold_decide_as_one_row_does() -> None:
    rule = CostRule(0.0005)
    gains, tokens = np.array([0.3, 0.1, 0.0, -0.1, 0.2, -0.1]), np.array([400.0, 400.0, 400.0, 100.0, np.nan, -900.0])
    net = rule.net_gains(gains, tokens)
    costs = [None if np.isnan(cost) else Cost(float(cost)) for cost in tokens]
    for threshold in (-0.5, 0.0, 0.05):
        each = [rule.uses(float(g), cost, threshold=threshold) for g, cost in zip(gains, costs, strict=True)]
        plain = [float(g) > rule.for_plain_gain(threshold, cost) for g, cost in zip(gains, costs, strict=True)]
        assert plain == each
        if threshold >= 0:
            assert (net > threshold).tolist() == each
    assert net == pytest.approx([0.1, -0.1, -0.2, -0.15, 0.2, 0.35])
