"""Intervals that account for refitting: a jackknife that takes groups of tasks away and scores all the others anew.

The bootstrap holds scores fixed. But a task's outcome also moves the actions of its neighbors, so a panel's results vary
more than its rows do: on simulated panels the fixed-score intervals of the paper's rule hold the truth in 85 to 95 of 100
cases for success and advantage, and in 74 to 87 for the within-group part. Leaving out each of G groups of tasks in turn
lets that coupling show. Actions jump at the threshold, which makes the jackknife err on the wide side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import t as student

from skilldelta.errors import InputError
from skilldelta.evaluation.leave_one_out import Progress
from skilldelta.evaluation.panel_policy import policy_result
from skilldelta.evaluation.resampling.bootstrap import LEVEL
from skilldelta.evaluation.resampling.rescoring import standard_error, symmetric_range
from skilldelta.evaluation.results import METRICS, Range
from skilldelta.evaluation.scored_policies import EvaluationPlan, score_policies
from skilldelta.nouns import plural
from skilldelta.records import Judgement
from skilldelta.support import Support

_NOT_REFITTED = ("success_vs_always_on", "always_on", "tokens", "gain_mse", "router_tokens")

# Groups of tasks to leave out in turn: enough for a standard error, few enough to wait for.
GROUPS = 20


def refitted_ranges(
    support: Support,
    policies: Sequence[str],
    *,
    rng: np.random.Generator,
    plan: EvaluationPlan | None = None,
    judgements: Sequence[Judgement] | None = None,
    groups: int = GROUPS,
    level: float = LEVEL,
    progress: Progress | None = None,
) -> dict[str, dict[str, Range]]:
    """Wide-side intervals by policy and metric; a metric that some part of the panel does not have is left out.

    Every policy is scored `groups` + 1 times; `progress` is told of each time.
    """
    tasks = int(support.task_codes.max()) + 1
    if not 2 <= groups <= tasks:
        raise InputError(f"groups must lie between 2 and the {plural(tasks, 'task')} of the panel, got {groups}")
    group = rng.permutation(np.arange(tasks) % groups)[support.task_codes]
    scored = []
    for left_out in (None, *range(groups)):
        rows = support if left_out is None else support.rows(group != left_out)
        scored.append(_values(rows, policies, plan or EvaluationPlan(), judgements))
        if progress:
            progress(len(scored), groups + 1)
    whole, *parts = scored
    quantile = float(student.ppf((1 + level) / 2, groups - 1))
    ranges: dict[str, dict[str, Range]] = {name: {} for name in whole}
    for name, values in whole.items():
        for metric, value in values.items():
            if all(metric in part.get(name, {}) for part in parts):
                left_out = np.array([[part[name][metric] for part in parts]])
                ranges[name][metric] = symmetric_range(metric, value, quantile * standard_error(left_out))
    return ranges


def _values(
    support: Support, policies: Sequence[str], plan: EvaluationPlan, judgements: Sequence[Judgement] | None
) -> dict[str, Mapping[str, float]]:
    scored = score_policies(support, policies, plan, judgements)
    refitted = [metric for metric in METRICS if metric not in _NOT_REFITTED]
    results = {name: policy_result(policy, support, {}) for name, policy in scored.policies.items()}
    return {
        name: {metric: value for metric in refitted if (value := getattr(result, metric)) is not None}
        for name, result in results.items()
    }
