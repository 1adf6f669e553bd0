"""Means over panels of equal weight, with intervals from the panels' draws taken together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from skilldelta.evaluation.bootstrap import percentile_range
from skilldelta.evaluation.results import Estimate, PanelResult, Range
from skilldelta.support import Floats

METRICS = (
    "success",
    "use_rate",
    "token_saving",
    "auroc",
    "balanced_accuracy",
    "advantage_vs_random",
    "within_group",
    "between_group",
)


def mean_over_panels(
    panels: Sequence[PanelResult], samples: Sequence[Mapping[str, Mapping[str, Floats]]]
) -> dict[str, dict[str, Estimate]]:
    """By policy and metric, for policies of every panel and metrics that every panel knows.

    The advantage and its two parts come from draws within families, the other metrics from draws of tasks.
    """
    common = [name for name in panels[0].policies if all(name in panel.policies for panel in panels)]
    return {
        name: _means([panel.policies[name] for panel in panels], [s.get(name, {}) for s in samples]) for name in common
    }


def _means(policies: Sequence[object], samples: Sequence[Mapping[str, Floats]]) -> dict[str, Estimate]:
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
