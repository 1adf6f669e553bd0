"""What an interval allows: better, equivalent, worse, or not enough evidence and how much more would settle it."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.errors import InputError
from skilldelta.evaluation.comparison import Comparison, compare, judge, more_tasks
from skilldelta.evaluation.leave_one_out import evaluate_panel
from skilldelta.evaluation.results import Range
from skilldelta.paper.simulation.simulated_panel import simulate_panel


def _judged(low: float, high: float, *, tasks: int = 100, margin: float = 0.02) -> Comparison:
    found = judge(
        "paper", "always_on", difference=(low + high) / 2, interval=Range(low, high), tasks=tasks, margin=margin
    )
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.01, 0.05, "better"),
        (-0.05, -0.01, "worse"),
        (-0.02, 0.02, "equivalent"),
        (0.005, 0.015, "equivalent"),  # certainly above zero, and certainly too little to matter
        (-0.10, 0.10, "not enough evidence"),
        (0.0, 0.05, "not enough evidence"),
    ],
)
def test_the_verdict_is_read_off_the_interval(low: float, high: float, verdict: str) -> None:
    assert _judged(low, high).verdict == verdict


def test_with_no_margin_nothing_is_equivalent() -> None:
    assert _judged(0.005, 0.015, margin=0.0).verdict == "better"
    assert _judged(-0.005, 0.015, margin=0.0).verdict == "not enough evidence"


def test_more_tasks_are_counted_by_the_square_root_law_for_an_80_percent_chance() -> None:
    # A difference of 5 points within 10. Half as wide an interval just excludes zero in half of all cases; for four in
    # five it must be narrower by (1.96 + 0.84) / 1.96.
    assert _judged(-0.05, 0.15).more_tasks == pytest.approx(100 * (2 * 2.8016 / 1.96) ** 2 - 100, abs=1)
    assert _judged(0.01, 0.05).more_tasks is None


def test_more_tasks_than_anybody_will_run_are_not_a_number() -> None:
    # No difference: the interval must shrink from 10 points to the margin of 2, which takes thousands.
    assert _judged(-0.10, 0.10).more_tasks is None
    assert _judged(-0.03, 0.03).more_tasks == pytest.approx(100 * (1.5 * (1.96 + 1.2816) / 1.96) ** 2 - 100, abs=1)


@pytest.mark.parametrize(("helped", "harmed", "tasks"), [(0.3, 0.1, 30), (0.25, 0.2, 60), (0.02, 0.02, 200)])
def test_the_stated_number_of_tasks_settles_it_in_four_of_five_studies_if_the_difference_stays(
    helped: float, harmed: float, tasks: int, rng: np.random.Generator
) -> None:
    # The pilot shows exactly these shares; later studies draw tasks from a world of the same shares.
    pilot = np.repeat([1.0, -1.0, 0.0], [round(helped * tasks), round(harmed * tasks), tasks])[:tasks]
    half = 1.96 * pilot.std(ddof=1) / np.sqrt(tasks)
    more = more_tasks(float(pilot.mean()), half, tasks, 0.02)
    assert more is not None
    drawn = rng.choice(pilot, size=(2000, tasks + more))
    means, halves = drawn.mean(axis=1), 1.96 * drawn.std(axis=1, ddof=1) / np.sqrt(tasks + more)
    settled = (np.abs(means) > halves) | (np.abs(means) + halves <= 0.02)
    assert 0.76 <= settled.mean() <= 0.9


def test_no_number_of_tasks_settles_a_difference_of_nothing_without_a_margin() -> None:
    assert _judged(-0.10, 0.10, margin=0.0).more_tasks is None


def test_one_task_and_missing_ends_give_no_verdict() -> None:
    assert judge("paper", "always_on", difference=1.0, interval=Range(1.0, 1.0), tasks=1) is None
    assert judge("paper", "always_on", difference=0.1, interval=Range(None, None), tasks=90) is None


def test_fewer_than_ten_tasks_are_never_enough() -> None:
    found = _judged(0.2, 0.4, tasks=5)
    assert (found.verdict, found.more_tasks) == ("not enough evidence", 5)


def test_outcomes_that_never_differed_leave_room_for_rare_ones() -> None:
    assert _judged(0.0, 0.0, tasks=60).verdict == "not enough evidence"  # up to 3 / 60, five points
    assert _judged(0.0, 0.0, tasks=60).interval == Range(-0.05, 0.05)
    assert _judged(0.0, 0.0, tasks=150).verdict == "equivalent"


@pytest.mark.parametrize("margin", [-0.01, 1.0, float("nan")])
def test_a_margin_that_is_no_difference_of_success_is_refused(margin: float) -> None:
    with pytest.raises(InputError, match="margin must be"):
        _judged(0.0, 0.1, margin=margin)


def test_ridge_is_compared_with_always_on_on_its_own_test_split(rng: np.random.Generator) -> None:
    panel = evaluate_panel(
        simulate_panel(rng, tasks=150, families=3, dimension=16).support,
        policies=["ridge", "always_on"],
        rng=rng,
        resamples=200,
    )
    ridge = panel.policies["ridge"]
    on_its_rows = float(panel.support.y1[ridge.rows].mean())
    assert on_its_rows != panel.on
    found = compare(panel, ridge, "always_on")
    assert found is not None
    assert (found.tasks, found.difference) == pytest.approx((30, ridge.success - on_its_rows))
    assert ridge.always_on == on_its_rows
