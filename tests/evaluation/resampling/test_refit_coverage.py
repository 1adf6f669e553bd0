"""The printed intervals of rules that learn from the panel: how often they hold the truth.

Truth is what the whole procedure gives on average over panels of this size: new tasks of one population, new executions,
the rule refitted. It differs little from the value of the learned rule on fresh tasks. `docs/limits.md` has the figures.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from skilldelta.evaluation.leave_one_out import evaluate_panel
from skilldelta.evaluation.resampling.rescoring import LINEAR
from skilldelta.evaluation.results import Range
from skilldelta.paper.simulation.simulated_panel import SimulatedPanel, simulate_panel

METRICS = (
    "success", "success_gain", "success_vs_always_on", "use_rate", "token_saving", "auroc", "balanced_accuracy",
    "advantage_vs_random", "within_group", "between_group", "gain_mae",
)  # fmt: skip
PANELS = 120
POPULATION = 6_000


def test_what_does_not_cover_has_no_interval(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=60, families=4, dimension=16).support
    found = evaluate_panel(support, policies=[*LINEAR, "blend", "random_matched"], rng=rng, resamples=40, shuffles=0)
    assert "within_group" not in found.policies["family_mean"].intervals
    for metric in ("use_rate", "token_saving", "within_group", "between_group"):
        assert metric not in found.policies["blend"].intervals
    assert "use_rate" not in found.policies["random_matched"].intervals
    for metric in METRICS:
        assert metric in found.policies["paper"].intervals, metric
        assert metric in found.policies["blend"].conditional_intervals, metric


def test_an_interval_that_refits_is_wider_where_actions_move(rng: np.random.Generator) -> None:
    support = simulate_panel(rng, tasks=200, families=6, dimension=32).support
    own = evaluate_panel(support, policies=["paper"], rng=rng, resamples=400).policies["paper"]
    for metric in ("use_rate", "token_saving", "within_group"):
        assert _width(own.intervals[metric]) > 1.1 * _width(own.conditional_intervals[metric]), metric


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "families", "kind"), [(200, 6, "mixed"), (200, 10, "family_only")])
def test_printed_intervals_of_refitted_rules_cover(
    rng: np.random.Generator, tasks: int, families: int, kind: str
) -> None:
    population = simulate_panel(rng, tasks=POPULATION, families=families, dimension=32, kind=kind)
    values, printed, fixed = defaultdict(list), defaultdict(list), defaultdict(list)
    for _ in range(PANELS):
        population = population.redraw(rng)
        for name, policy in _evaluated(population, tasks, rng).items():
            for metric in METRICS:
                values[name, metric].append(getattr(policy, metric))
                printed[name, metric].append(policy.intervals.get(metric))
                fixed[name, metric].append(policy.conditional_intervals.get(metric))
    for key, found in values.items():
        if None in found or None in printed[key]:
            continue
        truth = float(np.mean(found))
        share = _covered(printed[key], truth)
        print(f"{key[0]:16} {key[1]:21} {kind} printed {share:.2f} fixed {_covered(fixed[key], truth):.2f}")
        assert share >= 0.90, (key, share)


def _evaluated(population: SimulatedPanel, tasks: int, rng: np.random.Generator):  # type: ignore[no-untyped-def]
    drawn = population.support.rows(np.sort(rng.permutation(POPULATION)[:tasks]))
    return evaluate_panel(drawn, policies=LINEAR, rng=rng, resamples=300, shuffles=0).policies


def _covered(ranges: list[Range | None], truth: float) -> float:
    ends = [(one.low, one.high) for one in ranges if one is not None and one.low is not None and one.high is not None]
    return float(np.mean([low - 1e-9 <= truth <= high + 1e-9 for low, high in ends])) if ends else float("nan")


def _width(found: Range) -> float:
    assert found.low is not None
    assert found.high is not None
    return found.high - found.low
