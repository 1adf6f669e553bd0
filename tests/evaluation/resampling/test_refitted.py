from __future__ import annotations

import numpy as np
import pytest

from skilldelta.errors import InputError
from skilldelta.evaluation.leave_one_out import evaluate_panel
from skilldelta.evaluation.resampling.refitted import refitted_ranges
from skilldelta.paper.simulation.simulated_panel import simulate_panel


def test_for_a_policy_without_scores_it_is_the_textbook_interval(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=60, families=3, dimension=16).support
    found = refitted_ranges(support, ["always_on"], rng=rng, groups=60)["always_on"]["success"]
    error = support.y1.std(ddof=1) / np.sqrt(60)
    assert found.low is not None
    assert found.high is not None
    assert (found.high - found.low) / 2 == pytest.approx(2.001 * error, rel=1e-3)
    assert (found.high + found.low) / 2 == pytest.approx(support.y1.mean())


def test_it_is_wider_than_the_fixed_score_interval(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=300, families=6, dimension=32).support
    fixed = evaluate_panel(support, policies=["paper"], rng=rng, resamples=500).policies["paper"].intervals
    refitted = refitted_ranges(support, ["paper"], rng=rng)["paper"]
    for metric in ("advantage_vs_random", "within_group"):
        wide, narrow = refitted[metric], fixed[metric]
        assert wide.high - wide.low > narrow.high - narrow.low  # type: ignore[operator]


def test_no_end_lies_beyond_what_a_metric_can_be(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=12, families=2, dimension=16).support
    found = refitted_ranges(support, ["paper", "always_on"], rng=rng, groups=2)
    for ranges in found.values():
        for metric in ("success", "use_rate"):
            low, high = ranges[metric].low, ranges[metric].high
            assert low is not None
            assert high is not None
            assert 0 <= low <= high <= 1


def test_progress_is_told_of_every_round(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=12, families=2, dimension=16).support
    told: list[tuple[int, int]] = []
    refitted_ranges(support, ["always_on"], rng=rng, groups=3, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_more_groups_than_tasks_are_refused(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=12, families=2, dimension=16).support
    with pytest.raises(InputError, match="between 2 and the 12 tasks"):
        refitted_ranges(support, ["paper"], rng=rng)


@pytest.mark.slow
def test_refitted_intervals_keep_the_promise_that_fixed_scores_break(rng: np.random.Generator) -> None:
    """Truth: the expected result of the whole procedure on these tasks, over new executions."""
    panel = simulate_panel(rng, tasks=300, families=6, dimension=32)
    metrics = ("success_gain", "advantage_vs_random", "within_group", "between_group", "auroc")
    panels = [panel.redraw(rng).support for _ in range(120)]
    results = [evaluate_panel(s, policies=["paper"], rng=rng, resamples=300).policies["paper"] for s in panels]
    ranges = [refitted_ranges(s, ["paper"], rng=rng)["paper"] for s in panels]
    for metric in metrics:
        truth = np.mean([getattr(result, metric) for result in results])
        refitted = np.mean([r[metric].low <= truth <= r[metric].high for r in ranges])
        assert refitted >= 0.93, metric
    fixed = [result.conditional_intervals["within_group"] for result in results]
    truth = np.mean([result.within_group for result in results])
    assert np.mean([r.low <= truth <= r.high for r in fixed]) < 0.92  # type: ignore[operator]
