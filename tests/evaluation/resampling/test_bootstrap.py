"""Designs of draws, and the intervals made from them."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.arrays import Flags, Floats
from skilldelta.evaluation.metrics import AurocOfDraws, auroc
from skilldelta.evaluation.panel_policy import Outcomes, PanelPolicy, policy_result
from skilldelta.evaluation.resampling import bootstrap
from skilldelta.evaluation.resampling.bootstrap import (
    Design,
    Inventory,
    count_draws,
    percentile_range,
    resample_components,
    resample_policies,
)
from skilldelta.evaluation.results import Range
from skilldelta.support import Support


def _tasks(task_ids: list[str], families: list[str], agent: str = "a") -> Support:
    n = len(task_ids)
    return Support.from_arrays(
        task_ids=task_ids, families=families, vectors=np.eye(n), y0=np.zeros(n), y1=np.ones(n), agent=agent
    )


def _all(design: Design, number: int, seed: int = 1) -> np.ndarray:
    return np.concatenate(list(count_draws(design, number, np.random.default_rng(seed))))


PANEL = _tasks(["a", "b", "c", "a", "d"], ["f", "f", "g", "f", "g"])
INVENTORY = Inventory.of([PANEL])


def test_a_task_is_drawn_with_all_its_rows_and_as_often_as_there_are_tasks() -> None:
    counts = _all(Design.tasks(PANEL.task_ids, INVENTORY), 200)
    assert (counts[:, 0] == counts[:, 3]).all()
    assert (counts[:, [0, 1, 2, 4]].sum(axis=1) == 4).all()
    assert counts.mean() == pytest.approx(1.0, abs=0.1)


def test_drawing_within_families_keeps_their_sizes() -> None:
    counts = _all(Design.tasks_within_families(PANEL.task_ids, INVENTORY), 200)
    assert (counts[:, [0, 1]].sum(axis=1) == 2).all()  # tasks a and b
    assert (counts[:, [2, 4]].sum(axis=1) == 2).all()
    assert len(np.unique(counts, axis=0)) > 4


def test_a_family_is_drawn_whole() -> None:
    counts = _all(Design.families(PANEL.families, INVENTORY), 100)
    assert (counts[:, [0, 1, 3]] == counts[:, [0]]).all()
    assert (counts[:, 0] + counts[:, 2] == 2).all()


def test_groups_of_any_kind_are_drawn_whole() -> None:
    counts = _all(Design.groups(np.array(["x", "y", "x"])), 50)
    assert (counts[:, 0] == counts[:, 2]).all()
    assert (counts[:, 0] + counts[:, 1] == 2).all()


@pytest.mark.parametrize("within", [False, True])
def test_the_same_seed_gives_the_same_draws_in_any_chunks(within: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    make = Design.tasks_within_families if within else Design.tasks
    whole = _all(make(PANEL.task_ids, INVENTORY), 60)
    monkeypatch.setattr(bootstrap, "_CHUNK_CELLS", 35)
    assert (_all(make(PANEL.task_ids, INVENTORY), 60) == whole).all()
    assert len(next(iter(count_draws(make(PANEL.task_ids, INVENTORY), 60, np.random.default_rng(1))))) == 7


def test_agents_of_a_suite_see_the_same_draws_of_the_tasks_they_share() -> None:
    other = _tasks(["d", "c", "b", "e"], ["g", "g", "f", "h"], agent="b")
    inventory = Inventory.of([PANEL, other])
    first = _all(Design.tasks(PANEL.task_ids, inventory), 80)
    second = _all(Design.tasks(other.task_ids, inventory), 80)
    for task in ("b", "c", "d"):
        column = np.flatnonzero(PANEL.task_ids == task)[0]
        other_column = np.flatnonzero(other.task_ids == task)[0]
        assert (first[:, column] == second[:, other_column]).all()


def _panel(rng: np.random.Generator, n: int = 50) -> Support:
    """Repeated means, a task under two skills, a singleton family, one pair without tokens."""
    task_ids = [f"t{i}" for i in range(n)]
    task_ids[7] = task_ids[3]
    families = [f"f{i}" for i in rng.integers(5, size=n)]
    families[7], families[-1] = families[3], "alone"
    tokens1 = rng.integers(500, 900, size=n).astype(float)
    tokens1[11] = np.nan
    return Support.from_arrays(
        task_ids=task_ids,
        families=families,
        skills=[f"s{i % 2}" for i in range(n)],
        vectors=rng.normal(size=(n, 4)),
        y0=rng.integers(4, size=n) / 3,
        y1=rng.integers(4, size=n) / 3,
        tokens0=rng.integers(100, 600, size=n),
        tokens1=tokens1,
    )


def _policies(rng: np.random.Generator, support: Support) -> list[PanelPolicy]:
    n = len(support)
    scores = np.round(rng.normal(size=n) + support.gains, 1)
    return [
        PanelPolicy("scored", scores > 0, np.arange(n), scores, 0.0, True),
        PanelPolicy("routed", rng.random(n) < 0.5, np.arange(n), router_tokens=rng.random(n) * 9),
        PanelPolicy.constant("random_matched", 0.4, n),
    ]


DESIGNS = {
    "tasks": lambda o, inventory: Design.tasks(o.task_ids, inventory),
    "families": lambda o, inventory: Design.families(o.families, inventory),
    "tasks within families": lambda o, inventory: Design.tasks_within_families(o.task_ids, inventory),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_every_metric_of_a_draw_is_the_metric_of_the_resampled_panel(design: str, rng: np.random.Generator) -> None:
    support = _panel(rng)
    policies = _policies(rng, support)
    outcomes = Outcomes.of(support, np.arange(len(support)))
    drawn = DESIGNS[design](outcomes, Inventory.of([support]))
    found = resample_policies(policies, outcomes, drawn, draws=30, rng=np.random.default_rng(4))
    parts = resample_components(policies, outcomes, drawn, draws=30, rng=np.random.default_rng(4))
    counts = np.concatenate(list(count_draws(drawn, 30, np.random.default_rng(4))))
    for policy in policies:
        for draw, count in enumerate(counts):
            rows = np.repeat(np.arange(len(support)), count)
            again = PanelPolicy(
                policy.name,
                policy.actions[rows],
                np.arange(len(rows)),
                None if policy.scores is None else policy.scores[rows],
                policy.threshold,
                policy.is_gain,
                None if policy.router_tokens is None else policy.router_tokens[rows],
            )
            expected = policy_result(again, support.rows(rows), {})
            for metric, values in found[policy.name].items():
                if metric != "success_vs_always_on":
                    assert values[draw] == pytest.approx(_number(getattr(expected, metric)), abs=1e-12, nan_ok=True)
            on = support.y1[rows].mean()
            assert found[policy.name]["success_vs_always_on"][draw] == pytest.approx(expected.success - on)
            for metric, values in parts[policy.name].items():
                assert values[draw] == pytest.approx(getattr(expected, metric), abs=1e-12)


def _number(value: float | None) -> float:
    return np.nan if value is None else value


def test_policies_share_their_draws_so_that_differences_are_paired(rng: np.random.Generator) -> None:
    support = _panel(rng)
    outcomes = Outcomes.of(support, np.arange(len(support)))
    on = PanelPolicy.constant("always_on", 1.0, len(support))
    twin = PanelPolicy.constant("twin", 1.0, len(support))
    drawn = Design.tasks(outcomes.task_ids, Inventory.of([support]))
    found = resample_policies([on, twin], outcomes, drawn, draws=50, rng=rng)
    assert found["always_on"]["success"].std() > 0
    assert (found["always_on"]["success"] == found["twin"]["success"]).all()


def _aurocs(scores: Floats, positive: Flags, seed: int) -> Floats:
    area, design = AurocOfDraws(scores, positive), Design(len(scores), np.arange(len(scores)))
    return np.concatenate([area(counts) for counts in count_draws(design, 2_000, np.random.default_rng(seed))])


def test_bootstrapped_auroc_centres_on_the_estimate_and_repeats_with_its_seed(rng: np.random.Generator) -> None:
    positive = rng.random(400) < 0.3
    scores = rng.normal(size=400) + positive
    draws = _aurocs(scores, positive, 2)
    assert draws.shape == (2_000,)
    assert draws.mean() == pytest.approx(auroc(scores, positive), abs=0.005)
    assert (draws == _aurocs(scores, positive, 2)).all()


def test_the_range_holds_the_middle_of_the_draws_and_leaves_out_draws_without_a_value() -> None:
    samples = np.concatenate([np.arange(1001.0), [np.nan] * 99])
    middle, half = percentile_range(samples), percentile_range(samples, level=0.5)
    assert (middle.low, middle.high) == pytest.approx((25.0, 975.0))
    assert (half.low, half.high) == pytest.approx((250.0, 750.0))
    assert percentile_range(np.full(3, np.nan)) == Range(None, None)


def test_progress_counts_every_draw(rng: np.random.Generator) -> None:
    support = _panel(rng)
    outcomes = Outcomes.of(support, np.arange(len(support)))
    seen: list[int] = []
    design = Design.tasks(outcomes.task_ids, Inventory.of([support]))
    resample_policies(_policies(rng, support), outcomes, design, draws=123, rng=rng, tick=seen.append)
    assert sum(seen) == 123
