"""Every threshold-induced policy, checked by hand and against the policy's own definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skilldelta.errors import InputError
from skilldelta.evaluation.sweeps import threshold_sweep
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.predictor import predict_each
from skilldelta.support import Support


def panel(**changes: object) -> Support:
    """Gains +1, 0, -1, +1."""
    arrays: dict[str, object] = {
        "task_ids": list("abcd"),
        "vectors": np.eye(4),
        "y0": [0, 1, 1, 0],
        "y1": [1, 1, 0, 1],
        "tokens0": [10, 10, 10, 10],
        "tokens1": [20, 20, 40, 20],
    }
    return Support.from_arrays(**(arrays | changes))  # type: ignore[arg-type]


SCORES = np.array([0.5, 0.0, -0.5, 0.5])


def test_a_sweep_by_hand() -> None:
    sweep = threshold_sweep(SCORES, panel())
    assert sweep.thresholds.tolist() == [-1.0, -0.5, 0.0, 0.5]
    assert sweep.used.tolist() == [4, 3, 2, 0]
    assert sweep.success.tolist() == [0.75, 1.0, 1.0, 0.5]
    assert sweep.tokens.tolist() == [25.0, 17.5, 15.0, 10.0]
    assert sweep.token_saving.tolist() == pytest.approx([0.0, 0.3, 0.4, 0.6])
    assert sweep.default == 2
    assert sweep.best == 2  # the same success as at -0.5 with fewer uses


def test_equal_scores_move_together_and_equality_skips() -> None:
    sweep = threshold_sweep(np.full(4, 0.5), panel(), default=0.5)
    assert sweep.used.tolist() == [4, 0]
    assert sweep.default == 1


def test_scores_that_differ_by_rounding_only_are_one_score() -> None:
    sweep = threshold_sweep(np.array([0.1 + 0.2, 0.3, 0.3, 0.3]), panel())
    assert sweep.used.tolist() == [4, 0]
    assert not (np.array([0.1 + 0.2, 0.3]) > sweep.thresholds[-1]).any()


def test_a_default_between_two_scores_marks_the_policy_it_induces() -> None:
    sweep = threshold_sweep(SCORES, panel(), default=0.25)
    assert sweep.thresholds[sweep.default] == 0.25
    assert sweep.used[sweep.default] == 2


@pytest.mark.parametrize(("default", "used"), [(-1.0, 4), (1.0, 0)])
def test_a_default_beyond_all_scores_is_a_constant_policy(default: float, used: int) -> None:
    sweep = threshold_sweep(SCORES, panel(), default=default)
    assert sweep.used[sweep.default] == used


def test_unknown_tokens_stay_unknown() -> None:
    sweep = threshold_sweep(SCORES, panel(tokens0=None))
    assert np.isnan(sweep.tokens).all()
    assert sweep.point(0).tokens is None
    assert sweep.point(0).token_saving is None
    partly = threshold_sweep(SCORES, panel(tokens0=[np.nan, 10, 10, 10]))
    assert partly.tokens[0] == pytest.approx(80 / 3)


def test_router_tokens_are_spent_whatever_the_action() -> None:
    sweep = threshold_sweep(SCORES, panel(), router_tokens=np.full(4, 5.0))
    assert sweep.tokens.tolist() == [30.0, 22.5, 20.0, 15.0]
    assert sweep.token_saving[0] == pytest.approx(-0.2)


def test_rows_without_a_score_are_left_out() -> None:
    sweep = threshold_sweep(np.array([0.5, np.nan, -0.5, np.nan]), panel())
    assert sweep.rows == 2
    assert sweep.success.tolist() == [0.5, 1.0, 0.5]


def test_a_panel_without_any_score_is_refused() -> None:
    with pytest.raises(InputError, match="no row has a score"):
        threshold_sweep(np.full(4, np.nan), panel())
    with pytest.raises(InputError, match="threshold must be a finite number"):
        threshold_sweep(SCORES, panel(), default=np.nan)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.2, -0.3]))
def test_every_point_is_the_policy_of_its_threshold_and_none_is_missing(seed: int, default: float) -> None:
    drawn = np.random.default_rng(seed)
    support = simulate_panel(drawn, tasks=40, families=3, r0=2, r1=3, dimension=8).support
    scores = predict_each(support, "family").gains
    sweep = threshold_sweep(scores, support, default=default)
    for point in sweep.points():
        use = scores > point.threshold
        assert point.use_rate == use.mean()
        assert point.success == pytest.approx(np.where(use, support.y1, support.y0).mean(), abs=1e-12)
        assert point.tokens == pytest.approx(np.where(use, support.tokens1, support.tokens0).mean())
        assert point.token_saving == pytest.approx(1 - point.tokens / support.tokens1.mean())
    seen = set(sweep.used.tolist())
    assert {0, 40} <= seen
    assert {int((scores > t).sum()) for t in np.linspace(-1.1, 1.1, 500)} <= seen
    assert sweep.used[sweep.default] == (scores > default).sum()
    assert sweep.success[sweep.best] == sweep.success.max() or np.isclose(
        sweep.success[sweep.best], sweep.success.max()
    )
    assert (np.diff(sweep.used) < 0).all()


def test_a_default_equal_to_a_score_up_to_rounding_skips_it() -> None:
    sweep = threshold_sweep(np.array([0.1 + 0.2, 0.3, 0.3, 0.3]), panel(), default=0.3)
    assert sweep.used[sweep.default] == 0
    assert sweep.thresholds[sweep.default] == pytest.approx(0.3)
