"""What several panels show together: means of equal weight with their intervals, and in how many a policy is ahead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from skilldelta.evaluation.bootstrap import percentile_range
from skilldelta.evaluation.results import Estimate, Means, PanelResult, PolicyMeans, PolicyResult, Range
from skilldelta.support import Floats

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
_DIFFERENCES = ("success_gain", "success_vs_always_on", "advantage_vs_random", "within_group")


def mean_over_panels(
    panels: Sequence[PanelResult], samples: Sequence[Mapping[str, Mapping[str, Floats]]]
) -> Means:
    """By policy and metric, for policies of every panel and metrics that every panel knows.

    The advantage and its two parts come from draws within families, the other metrics from draws of tasks.
    """
    common = [name for name in panels[0].policies if all(name in panel.policies for panel in panels)]
    results = {name: [panel.policies[name] for panel in panels] for name in common}
    return Means(
        len(panels),
        {
            name: PolicyMeans(_means(found, [s.get(name, {}) for s in samples]), _wins(name, results), _clear(found))
            for name, found in results.items()
        },
    )


def _means(policies: Sequence[PolicyResult], samples: Sequence[Mapping[str, Floats]]) -> dict[str, Estimate]:
    means = {}
    for metric in METRICS:
        values = [getattr(policy, metric) for policy in policies]
        if any(value is None for value in values):
            continue
        draws = [found[metric] for found in samples if metric in found]
        complete = len(draws) == len(policies)
        interval = percentile_range(np.mean(draws, axis=0)) if complete else Range(None, None)
        means[metric] = Estimate(float(np.mean(values)), interval)
    return means


def _wins(name: str, results: Mapping[str, Sequence[PolicyResult]]) -> dict[str, int]:
    own = results[name]
    wins = {metric: sum(getattr(one, metric) > 0 for one in own) for metric in _DIFFERENCES}
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
