"""The predictor on banks that a reader can check by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilldelta.arrays import unit_rows
from skilldelta.errors import InputError
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.predictor import PAPER, Settings, predict, predict_each
from skilldelta.support import Support

EAST = unit_rows([[1, 0]])[0]


def bank(vectors: object, gains: list[float], **columns: object) -> Support:
    """One family; a gain is split into two outcomes."""
    n = len(gains)
    return Support.from_arrays(
        task_ids=columns.pop("task_ids", [f"t{i}" for i in range(n)]),  # type: ignore[arg-type]
        vectors=vectors,  # type: ignore[arg-type]
        y0=[max(0.0, -g) for g in gains],
        y1=[max(0.0, g) for g in gains],
        **columns,  # type: ignore[arg-type]
    )


def at_cosine(*cosines: float) -> list[list[float]]:
    """Vectors of the plane with these cosines to the east."""
    return [[c, np.sqrt(1 - c * c)] for c in cosines]


def test_the_papers_main_setting_is_the_default() -> None:
    assert Settings(k=6, weighting="cosine", label="gain") == PAPER


def test_weights_are_clipped_cosines_divided_by_their_sum() -> None:
    found = predict(EAST, unit_rows(at_cosine(0.9, 0.6, -0.5)), np.array([1.0, -1.0, 1.0]))
    np.testing.assert_allclose(found.weights, [0.6, 0.4, 0.0], atol=1e-7)
    assert found.gain == pytest.approx(0.2, abs=1e-7)
    assert found.rows.tolist() == [0, 1, 2]
    assert found.eligible == 3
    assert not found.is_fallback


def test_only_the_k_nearest_count() -> None:
    vectors = unit_rows(at_cosine(0.2, 0.8, 0.4))
    found = predict(EAST, vectors, np.array([1.0, -1.0, 0.0]), settings=Settings(k=2))
    assert found.rows.tolist() == [1, 2]
    assert found.gain == pytest.approx(-0.8 / 1.2, abs=1e-6)


def test_fewer_rows_than_k_all_count() -> None:
    found = predict(EAST, unit_rows(at_cosine(0.5, 0.5)), np.array([1.0, 0.0]), settings=Settings(k=6))
    assert found.gain == 0.5
    assert len(found.rows) == 2


def test_weights_are_uniform_when_every_cosine_is_clipped() -> None:
    found = predict(EAST, unit_rows([[-1, 0], [0, 1], [-1, 1]]), np.array([1.0, 0.0, 1.0]))
    np.testing.assert_allclose(found.weights, [1 / 3] * 3)
    assert found.gain == pytest.approx(2 / 3)


def test_uniform_weighting_is_the_plain_mean() -> None:
    vectors = unit_rows(at_cosine(0.9, 0.1, -0.3))
    found = predict(EAST, vectors, np.array([1.0, 0.5, -1.0]), settings=Settings(weighting="uniform"))
    assert found.gain == 0.5 / 3


def test_the_positive_label_averages_the_share_of_help() -> None:
    vectors = unit_rows(at_cosine(0.5, 0.5, 0.5, 0.5))
    gains = np.array([1.0, -1.0, 0.25, 0.0])
    assert predict(EAST, vectors, gains, settings=Settings(label="positive")).gain == 0.5


def test_zero_gains_keep_their_weight() -> None:
    vectors = unit_rows(at_cosine(0.5, 0.5))
    assert predict(EAST, vectors, np.array([1.0, 0.0])).gain == 0.5


def test_empty_support_is_a_fallback_and_not_an_estimate() -> None:
    found = predict(EAST, np.empty((0, 2), np.float32), np.empty(0))
    assert (found.gain, found.eligible, found.is_fallback) == (0.0, 0, True)
    alone = predict(EAST, unit_rows([[1, 0]]), np.array([1.0]), excluded=np.array([0]))
    assert (alone.gain, alone.is_fallback) == (0.0, True)


def test_a_gain_of_zero_from_evidence_is_not_a_fallback() -> None:
    assert not predict(EAST, unit_rows(at_cosine(0.5)), np.array([0.0])).is_fallback


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"k": 0}, "k must be at least 1, got 0"),
        ({"weighting": "gaussian"}, "weighting must be cosine or uniform, got 'gaussian'"),
        ({"label": "sign"}, "label must be gain or positive, got 'sign'"),
    ],
)
def test_settings_that_mean_nothing_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Settings(**change)  # type: ignore[arg-type]


@given(st.permutations([1.0, -1 / 3, -1 / 3, -1 / 3, 1 / 3, 1 - 2 / 3, -2 / 3]))
def test_gains_of_three_repetitions_that_cancel_give_exactly_zero(gains: list[float]) -> None:
    """In floating point 1 - 1/3 - 1/3 - 1/3 is 1e-16, and 1 - 2/3 is not 1/3: equality must still skip."""
    vectors = unit_rows([[1, 0]] * 7)
    for weighting in ("uniform", "cosine"):
        found = predict(EAST, vectors, np.array(gains), settings=Settings(k=7, weighting=weighting))
        assert found.gain == 0.0


def test_leave_one_out_gives_exactly_zero_where_gains_cancel() -> None:
    support = Support.from_arrays(
        task_ids=list("abcde"),
        vectors=[[1, 0]] * 5,
        y0=[0.0, 1 / 3, 2 / 3, 1.0, 1.0],
        y1=[1.0, 0.0, 1 / 3, 2 / 3, 1.0],
    )
    assert predict_each(support, "global").gains[4] == 0.0


@pytest.mark.parametrize("cosine", [0.1, 0.3, 0.7, 0.9999])
def test_opposite_gains_at_one_place_give_exactly_zero(cosine: float) -> None:
    """Dividing each weight first would leave 1e-17 and use the skill; the sum is divided once."""
    vectors = unit_rows(at_cosine(*[cosine] * 6))
    assert predict(EAST, vectors, np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])).gain == 0.0


def test_a_gain_above_the_rounding_of_the_last_bits_is_kept() -> None:
    vectors = unit_rows(at_cosine(0.5, 0.5))
    assert predict(EAST, vectors, np.array([1e-9, 0.0])).gain == 5e-10


def panel(seed: int, *, tasks: int, families: int) -> Support:
    return simulate_panel(np.random.default_rng(seed), tasks=tasks, families=families, r0=3, r1=2, dimension=16).support


@settings(deadline=None, max_examples=25)
@given(
    st.integers(0, 10_000),
    st.sampled_from([1, 3, 6, 17, 300]),
    st.sampled_from(["cosine", "uniform"]),
    st.sampled_from(["gain", "positive"]),
    st.sampled_from(["family", "skill", "global"]),
)
def test_every_row_as_a_target_equals_one_target_at_a_time(
    seed: int, k: int, weighting: str, label: str, scope: str
) -> None:
    """To the last bit, also where neighborhoods are padded: families of 16 with k above 16."""
    support, chosen = panel(seed, tasks=48, families=3), Settings(k, weighting, label)  # type: ignore[arg-type]
    each = predict_each(support, scope, settings=chosen)  # type: ignore[arg-type]
    for block in support.blocks(scope):  # type: ignore[arg-type]
        for position, row in enumerate(block):
            one = predict(
                support.vectors[row],
                support.vectors[block],
                support.gains[block],
                settings=chosen,
                excluded=np.array([position]),
            )
            present = each.rows[row] >= 0
            assert each.gains[row] == one.gain
            assert each.eligible[row] == one.eligible
            assert each.rows[row][present].tolist() == block[one.rows].tolist()
            assert each.weights[row][present].tolist() == one.weights.tolist()
            assert not each.weights[row][~present].any()


def test_a_tasks_own_outcome_never_moves_its_prediction() -> None:
    support = panel(1, tasks=30, families=2)
    before = predict_each(support, "family").gains
    for row in range(len(support)):
        y0, y1 = support.y0.copy(), support.y1.copy()
        y0[row], y1[row] = 1 - y0[row], 1 - y1[row]
        after = predict_each(support.with_outcomes(y0, y1), "family").gains
        assert after[row] == before[row]
        assert (after != before).any() == (support.gains[row] != 0)


def test_a_task_is_excluded_under_every_skill() -> None:
    """Task a stands in two rows, whose no-skill run is one and the same: neither may inform the other."""
    support = bank([[1, 0], [1, 0], [0, 1]], [1.0, 1.0, -1.0], task_ids=["a", "a", "b"])
    each = predict_each(support, "global")
    assert each.gains.tolist() == [-1, -1, 1]
    assert each.eligible.tolist() == [1, 1, 2]


def test_a_singleton_family_predicts_zero_from_nothing() -> None:
    support = bank([[1, 0], [1, 0], [0, 1]], [1.0, 1.0, 1.0], families=["f", "f", "alone"])
    each = predict_each(support, "family")
    assert each.gains.tolist() == [1, 1, 0]
    assert each.eligible.tolist() == [1, 1, 0]
    assert each.rows[2].tolist() == [-1, -1]


def test_rows_of_other_scopes_never_inform() -> None:
    support = bank([[1, 0]] * 4, [1.0, 1.0, -1.0, -1.0], families=["f", "f", "g", "g"], skills=["s", "t", "s", "t"])
    assert predict_each(support, "family").gains.tolist() == [1, 1, -1, -1]
    assert predict_each(support, "skill").gains.tolist() == [-1, -1, 1, 1]


def test_duplicated_tasks_are_taken_in_record_order() -> None:
    support = bank([[1, 0]] * 50, [float(i % 2) for i in range(50)])
    each = predict_each(support, "global", settings=Settings(k=3))
    assert each.rows[0].tolist() == [1, 2, 3]
    assert each.rows[49].tolist() == [0, 1, 2]
    assert each.gains[0] == pytest.approx(2 / 3)


def test_new_records_join_without_refitting() -> None:
    """Appending a far row changes no prediction; appending a near one changes those it is near to."""
    vectors, gains = at_cosine(0.9, 0.8), [1.0, 1.0]
    before = predict(EAST, unit_rows(vectors), np.array(gains), settings=Settings(k=2)).gain
    far = predict(EAST, unit_rows([*vectors, [-1.0, 0.0]]), np.array([*gains, -1.0]), settings=Settings(k=2)).gain
    near = predict(EAST, unit_rows([*vectors, [1.0, 0.0]]), np.array([*gains, -1.0]), settings=Settings(k=2)).gain
    assert far == before == 1.0
    assert near < 0


def test_an_empty_panel_has_no_predictions() -> None:
    support = Support.from_arrays(task_ids=[], vectors=np.empty((0, 3)), y0=[], y1=[])
    assert len(predict_each(support, "family").gains) == 0
