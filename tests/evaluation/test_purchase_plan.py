"""Which executions are bought next: worked by hand, and against spreading them evenly on simulated truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from skilldelta.errors import InputError
from skilldelta.evaluation.purchase_plan import (
    GroupKey,
    Offer,
    PairRow,
    PurchasePlan,
    plan_purchases,
    repetition_offer,
    tasks_to_see,
)

NEW = Offer("new pair", ("skip", "use"))


def rows(family: str, gains: list[float]) -> list[PairRow]:
    return [PairRow((family, "s"), gain, 1, 1) for gain in gains]


def bought(plan: PurchasePlan) -> dict[str, int]:
    return {group.family: len(group.offers) for group in plan.groups}


def test_every_family_gets_two_pairs_before_any_gets_more() -> None:
    offers = {(family, "s"): [NEW] * 20 for family in "abc"}
    plan = plan_purchases(rows("a", [0.0, 1.0, 0.0]), offers, budget=8)
    assert bought(plan) == {"a": 0, "b": 2, "c": 2}
    assert plan.executions == 8


def test_executions_go_where_a_decision_may_still_turn() -> None:
    pairs = rows("clear", [1.0] * 12) + rows("open", [1.0, -1.0, 0.0, 1.0, -1.0, 0.0]) + rows("harm", [-1.0] * 12)
    offers = {(family, "s"): [NEW] * 50 for family in ("clear", "open", "harm")}
    shares = dict.fromkeys(offers, 1.0)
    plan = plan_purchases(pairs, offers, budget=40, shares=shares)
    assert bought(plan) == {"open": 20, "clear": 0, "harm": 0}
    by_name = {group.family: group for group in plan.groups}
    assert by_name["clear"].sure_now
    assert not by_name["open"].sure_now
    assert 0 < by_name["open"].chance_of_sure < 1


def test_the_budget_is_never_exceeded_and_no_offer_is_bought_twice() -> None:
    offers: dict[GroupKey, list[Offer]] = {
        ("a", "s"): [
            Offer("missing arm", ("use",), "a0"),
            *(Offer("new pair", ("skip", "use"), f"a{i}") for i in range(1, 9)),
        ],
        ("b", "s"): [Offer("new pair", ("skip", "use"), f"b{i}") for i in range(5)],
    }
    for budget in range(1, 40):
        plan = plan_purchases(rows("a", [1.0, -1.0]), offers, budget=budget)
        assert plan.executions <= budget
        tasks = [offer.task_id for group in plan.groups for offer in group.offers]
        assert len(tasks) == len(set(tasks))
    assert plan.executions == 1 + 2 * 8 + 2 * 5  # everything there is


def test_an_execution_that_completes_a_pair_comes_before_two_that_make_one() -> None:
    offers = {("a", "s"): [Offer("missing arm", ("use",), "half"), NEW, NEW]}
    plan = plan_purchases([], offers, budget=1)
    assert [offer.task_id for group in plan.groups for offer in group.offers] == ["half"]


def test_a_repetition_tells_less_than_a_new_pair_and_ever_less() -> None:
    weights = [repetition_offer("t", r, r).weight for r in (1, 2, 5)]
    assert NEW.weight > weights[0] > weights[1] > weights[2] > 0


def test_families_that_hardly_differ_are_served_evenly() -> None:
    # Every family has the same four gains: nothing says that one differs from another.
    pairs = [row for family in range(8) for row in rows(f"f{family}", [1.0, 0.0, 0.0, -0.5])]
    offers = {(f"f{family}", "s"): [NEW] * 40 for family in range(8)}
    plan = plan_purchases(pairs, offers, budget=160)
    assert plan.is_even
    assert set(bought(plan).values()) == {10}


@pytest.mark.parametrize(("budget", "words"), [(0, "at least one"), (-3, "got -3")])
def test_a_budget_that_buys_nothing_is_refused(budget: int, words: str) -> None:
    with pytest.raises(InputError, match=words):
        plan_purchases([], {("a", "s"): [NEW]}, budget=budget)


def test_nothing_to_plan_is_refused() -> None:
    with pytest.raises(InputError, match="nothing to plan"):
        plan_purchases([], {}, budget=5)


def test_chances_of_being_sure_come_true() -> None:
    """What a plan says about one family, against many families whose true levels follow its prior."""
    rng = np.random.default_rng(11)
    gains = [0.0, 1.0, 0.0, 1.0, -1.0, 1.0, 0.0, 0.0]
    plan = plan_purchases(rows("a", gains), {("a", "s"): [NEW] * 60}, budget=80)
    group = plan.groups[0]
    variance, noise = group.deviation**2, 0.5
    truth = rng.normal(group.gain, group.deviation, 20_000)
    seen = rng.normal(truth, np.sqrt(noise / 40))
    after = 1 / (1 / variance + 40 / noise)
    level = after * (group.gain / variance + seen * 40 / noise)
    is_sure = np.abs(level) > 1.96 * np.sqrt(after)
    assert len(group.offers) == 40
    assert group.chance_of_sure == pytest.approx(is_sure.mean(), abs=0.03)


def _regret(rng: np.random.Generator, spread: float, *, by_plan: bool) -> float:
    """Success lost per task after 16 steps of 6 executions, for 8 families with true gains of the given spread."""
    families = [f"f{i}" for i in range(8)]
    truth = dict(zip(families, np.clip(rng.normal(0.0, spread, 8), -0.6, 0.6), strict=True))

    def run(family: str) -> PairRow:
        without = rng.random() < 0.4
        with_skill = rng.random() < np.clip(0.4 + truth[family], 0, 1)
        return PairRow((family, "s"), float(with_skill) - float(without), 1, 1)

    pairs = [run(family) for family in families for _ in range(2)]
    offers = {(family, "s"): [NEW] * 60 for family in families}
    shares = dict.fromkeys(offers, 1.0)
    for step in range(16):
        plan = plan_purchases(pairs, offers, budget=6, shares=shares)
        chosen = [group.family for group in plan.groups for _ in group.offers]
        chosen = chosen if by_plan else [families[(3 * step + i) % 8] for i in range(3)]
        pairs += [run(family) for family in chosen]
    levels = {group.family: group.gain for group in plan_purchases(pairs, offers, budget=1, shares=shares).groups}
    return float(np.mean([abs(truth[f]) * ((levels[f] > 0) != (truth[f] > 0)) for f in families]))


@pytest.mark.slow
@pytest.mark.parametrize(("spread", "at_most"), [(0.25, 0.75), (0.03, 1.1)])
def test_the_plan_loses_less_than_even_spending_where_families_differ_and_no_more_where_they_do_not(
    spread: float, at_most: float
) -> None:
    draws = 150
    planned = np.mean([_regret(np.random.default_rng(seed), spread, by_plan=True) for seed in range(draws)])
    even = np.mean([_regret(np.random.default_rng(seed), spread, by_plan=False) for seed in range(draws)])
    assert planned <= at_most * even


@pytest.mark.parametrize("gain", [0.1, 0.2, 0.3])
def test_the_tasks_that_are_asked_for_show_the_gain_as_often_as_promised(gain: float) -> None:
    rng = np.random.default_rng(5)
    draws = 2_000
    for needed in tasks_to_see(gain)[:3]:
        shape = (draws, needed.tasks)
        # Tasks differ with a variance of 0.1; an arm's execution has one of 0.2.
        differences = rng.normal(gain, np.sqrt(0.1), shape) + rng.normal(
            0, np.sqrt(2 * 0.2 / needed.repetitions), shape
        )
        mean, error = differences.mean(axis=1), differences.std(axis=1, ddof=1) / np.sqrt(needed.tasks)
        assert (mean - t.ppf(0.975, needed.tasks - 1) * error > 0).mean() == pytest.approx(0.8, abs=0.03)


def test_more_tasks_tell_more_than_more_repetitions() -> None:
    executions = [needed.executions for needed in tasks_to_see(0.1)]
    assert executions == sorted(executions)


@pytest.mark.parametrize("gain", [0.0, 1.5])
def test_a_gain_that_nobody_can_see_is_refused(gain: float) -> None:
    with pytest.raises(InputError, match=str(gain)):
        tasks_to_see(gain)
