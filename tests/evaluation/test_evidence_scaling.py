"""Evidence scaling against straightforward loops, and its promises on simulated truth."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.errors import InputError
from skilldelta.evaluation.evidence_scaling import binary_executions, neighbor_sweep, repetition_sweep, support_sweep
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.predictor import Settings, predict, predict_each
from skilldelta.support import Support


def test_support_sweep_equals_a_loop_over_pools(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=39, families=3, r0=2, r1=2, dimension=16).support
    curve = support_sweep(support, np.random.default_rng(7), orderings=2)
    again = np.random.default_rng(7)
    errors = np.zeros((2, 12))
    for block in support.blocks("family"):
        for ordering in range(2):
            shuffled = block[again.permutation(len(block))]
            for target in block:
                others = shuffled[shuffled != target]
                for size in range(1, 13):
                    pool = np.sort(others[:size])
                    found = predict(
                        support.vectors[target], support.vectors[pool], support.gains[pool], settings=Settings(k=3)
                    )
                    errors[ordering, size - 1] += abs(found.gain - support.gains[target]) / 39
    np.testing.assert_array_equal(curve.amounts, np.arange(1, 13))
    np.testing.assert_allclose(curve.mae, errors.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(curve.spread, errors.std(axis=0), atol=1e-12)
    assert curve.targets == 39


def test_the_full_pool_is_the_leave_one_out_prediction(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=40, families=2, dimension=16).support
    curve = support_sweep(support, rng, sizes=[19], orderings=3)
    expected = np.abs(predict_each(support, "family", settings=Settings(k=3)).gains - support.gains).mean()
    assert curve.mae[0] == pytest.approx(expected, abs=1e-12)
    assert curve.spread[0] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("weighting", ["cosine", "uniform"])
def test_neighbor_sweep_equals_a_prediction_at_each_k(weighting: str, rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=45, families=3, r0=3, r1=3, dimension=16).support
    curve = neighbor_sweep(support, weighting=weighting)  # type: ignore[arg-type]
    assert curve.amounts.tolist() == list(range(1, 15))
    for k, mae in zip(curve.amounts, curve.mae, strict=True):
        found = predict_each(support, "family", settings=Settings(int(k), weighting))  # type: ignore[arg-type]
        assert mae == pytest.approx(np.abs(found.gains - support.gains).mean(), abs=1e-12)


def test_a_task_under_two_skills_never_lends_itself_evidence() -> None:
    support = Support.from_arrays(
        task_ids=["a", "a", "b", "c"], vectors=[[1, 0], [1, 0], [1, 1], [0, 1]], y0=[0, 0, 1, 1], y1=[1, 1, 0, 0]
    )
    curve = neighbor_sweep(support, scope="global")
    assert curve.amounts.tolist() == [1, 2]
    assert curve.mae[0] == pytest.approx((2 + 2 + 2 + 0) / 4)
    pools = support_sweep(support, np.random.default_rng(0), scope="global", sizes=[2], orderings=1)
    assert pools.targets == 4


def test_a_sweep_stops_where_the_smallest_family_would_lose_a_target() -> None:
    families = ["f"] * 6 + ["g"] * 4 + ["alone"]
    support = Support.from_arrays(
        task_ids=[f"t{i}" for i in range(11)], families=families, vectors=np.eye(11), y0=np.zeros(11), y1=np.ones(11)
    )
    curve = neighbor_sweep(support)
    assert curve.amounts.tolist() == [1, 2, 3]
    assert (curve.targets, curve.left_out) == (10, ("alone",))
    further = neighbor_sweep(support, at_least=5)
    assert further.amounts.tolist() == [1, 2, 3, 4, 5]
    assert (further.targets, set(further.left_out)) == (6, {"g", "alone"})


def test_amounts_beyond_the_smallest_family_are_refused(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=20, families=2).support
    with pytest.raises(InputError, match="k must lie between 1 and 9, where every target is retained"):
        neighbor_sweep(support, ks=[3, 10])
    with pytest.raises(InputError, match="support size must lie between 1 and 9"):
        support_sweep(support, rng, sizes=[0])
    with pytest.raises(InputError, match="repetitions must lie between 1 and 1"):
        repetition_sweep(support, rng, repetitions=[2])


def test_singletons_alone_cannot_be_swept() -> None:
    support = Support.from_arrays(task_ids=["a", "b"], families=["f", "g"], vectors=np.eye(2), y0=[0, 0], y1=[1, 1])
    with pytest.raises(InputError, match="no family has 2 tasks or more"):
        neighbor_sweep(support)


def test_all_repetitions_reproduce_the_prediction_in_one_draw(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=60, families=3, r0=3, r1=3)
    curve = repetition_sweep(
        panel.support, rng, successes0=panel.successes0.tolist(), successes1=panel.successes1.tolist()
    )
    expected = predict_each(panel.support, "family", settings=Settings(k=3)).gains
    assert curve.amounts.tolist() == [1, 2, 3]
    assert curve.mae[2] == pytest.approx(np.abs(expected - panel.support.gains).mean(), abs=1e-12)
    assert curve.spread[2] == 0
    assert (curve.spread[:2] > 0).all()


def test_unequal_repetitions_go_as_far_as_the_shortest_arm(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=30, families=2, r0=2, r1=5)
    curve = repetition_sweep(
        panel.support, rng, successes0=panel.successes0.tolist(), successes1=panel.successes1.tolist(), draws=5
    )
    assert curve.amounts.tolist() == [1, 2]
    assert curve.spread[1] > 0  # five executions with the skill, of which two are drawn


def test_binary_executions_follow_from_mean_and_count(rng: np.random.Generator) -> None:
    assert binary_executions(np.array([2 / 3, 0.0]), np.array([3, 2])) == [[1.0, 1.0, 0.0], [0.0, 0.0]]
    with pytest.raises(InputError, match=r"mean success of 0\.4 over 3 repetitions is not one of binary outcomes"):
        binary_executions(np.array([0.4]), np.array([3]))
    panel = simulate_panel(rng, tasks=40, families=2, r0=3, r1=3)
    given = repetition_sweep(
        panel.support,
        np.random.default_rng(1),
        successes0=np.sort(panel.successes0)[:, ::-1].tolist(),
        successes1=np.sort(panel.successes1)[:, ::-1].tolist(),
    )
    assumed = repetition_sweep(panel.support, np.random.default_rng(1))
    np.testing.assert_array_equal(given.mae, assumed.mae)


def test_executions_that_are_not_the_supports_are_refused(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=20, families=2, r0=2, r1=2)
    wrong = (1 - panel.successes0).tolist()
    with pytest.raises(InputError, match=r"successes0 of task 'task-\d+' average .* give the executions behind"):
        repetition_sweep(panel.support, rng, successes0=wrong)
    with pytest.raises(InputError, match="successes1 has 1 row for 20 tasks"):
        repetition_sweep(panel.support, rng, successes1=[[1.0]])


def test_repetitions_reduce_the_error_and_by_less_each_time(rng: np.random.Generator) -> None:
    panel = simulate_panel(rng, tasks=600, families=6, kind="local_only", r0=3, r1=3)
    one, two, three = repetition_sweep(panel.support, rng).mae
    assert one > two > three
    assert one - two > two - three


def test_support_helps_where_gains_are_local_and_pooling_where_they_are_not(rng: np.random.Generator) -> None:
    local = simulate_panel(rng, tasks=600, families=6, kind="local_only", smoothness=3.0, r0=8, r1=8).support
    pools = support_sweep(local, rng, sizes=[3, 99], orderings=3).mae
    assert pools[1] < pools[0] - 0.05
    neighbors = neighbor_sweep(local, ks=[5, 99]).mae
    assert neighbors[0] < neighbors[1] - 0.05
    flat = simulate_panel(rng, tasks=600, families=6, kind="family_only").support
    neighbors = neighbor_sweep(flat, ks=[1, 5, 99]).mae
    assert neighbors[0] > neighbors[1] > neighbors[2]
