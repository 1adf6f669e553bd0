"""What several panels show together: means of equal weight with their intervals, and in how many a policy is ahead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.evaluation.resampling.bootstrap import percentile_range
from skilldelta.evaluation.resampling.jackknife import normal_range, standard_error
from skilldelta.evaluation.resampling.panel_intervals import Intervals
from skilldelta.evaluation.results import Estimate, Means, PanelResult, PolicyMeans, PolicyResult, Range

METRICS = (
    "success",
    "success_gain",
    "success_vs_always_on",
    "use_rate",
    "token_saving",
    "auroc",
    "balanced_accuracy",
    "advantage_vs_random",
    "within_group",
    "between_group",
)
_NOTHING = 1e-12
"""Below this a difference is the rounding of a sum, as random activation's advantage over itself is."""
_DIFFERENCES = ("success_gain", "success_vs_always_on", "advantage_vs_random", "within_group")


def mean_over_panels(panels: Sequence[PanelResult], intervals: Sequence[Intervals]) -> Means:
    """By policy and metric, for policies of every panel and metrics that every panel knows.

    Conditional intervals come from draws shared by the agents of a suite: within families for the advantage and its two
    parts, of tasks for the rest. Rules that were refitted have intervals from their replicates.
    """
    common = [name for name in panels[0].policies if all(name in panel.policies for panel in panels)]
    results = {name: [panel.policies[name] for panel in panels] for name in common}
    suites = [panel.suite for panel in panels]
    return Means(
        len(panels),
        {
            name: PolicyMeans(_means(found, name, suites, intervals), _wins(name, results), _clear(found))
            for name, found in results.items()
        },
    )


def _means(
    policies: Sequence[PolicyResult], name: str, suites: Sequence[str], intervals: Sequence[Intervals]
) -> dict[str, Estimate]:
    samples = [found.samples.get(name, {}) for found in intervals]
    replicates = [found.replicates.get(name, {}) for found in intervals]
    means = {}
    for metric in METRICS:
        values = [getattr(policy, metric) for policy in policies]
        if any(value is None for value in values):
            continue
        value = float(np.mean(values))
        draws = [found[metric] for found in samples if metric in found]
        conditional = percentile_range(np.mean(draws, axis=0)) if len(draws) == len(policies) else _UNKNOWN
        refitted = [found[metric] for found in replicates if metric in found]
        covering = conditional if not any(replicates) else _refitted(metric, value, refitted, suites)
        is_covered = all(metric in policy.intervals for policy in policies)
        means[metric] = Estimate(value, covering if is_covered else _UNKNOWN, conditional)
    return means


_UNKNOWN = Range(None, None)


def _refitted(metric: str, value: float, replicates: Sequence[Floats], suites: Sequence[str]) -> Range:
    """Agents of a suite lost the same tasks in a replicate, so that they add up there; suites are independent."""
    if len(replicates) < len(suites):
        return _UNKNOWN
    by_suite = [
        np.sum([found for found, of in zip(replicates, suites, strict=True) if of == suite], axis=0)
        for suite in dict.fromkeys(suites)
    ]
    error = float(np.sqrt(sum(standard_error(found) ** 2 for found in by_suite))) / len(suites)
    return normal_range(metric, value, error)


def _wins(name: str, results: Mapping[str, Sequence[PolicyResult]]) -> dict[str, int]:
    own = results[name]
    wins = {metric: sum(getattr(one, metric) > _NOTHING for one in own) for metric in _DIFFERENCES}
    if any(one.auroc is None for one in own):
        return wins
    for other, theirs in results.items():
        if other != name and all(one.auroc is not None for one in theirs):
            wins[f"auroc_vs_{other}"] = sum(a.auroc > b.auroc for a, b in zip(own, theirs, strict=True))  # type: ignore[operator]
    return wins


def _clear(policies: Sequence[PolicyResult]) -> dict[str, int]:
    found = {metric: [one.intervals.get(metric) for one in policies] for metric in _DIFFERENCES}
    return {
        metric: sum(one is not None and one.low is not None and one.low > 0 for one in ranges)
        for metric, ranges in found.items()
        if any(one is not None for one in ranges)
    }
