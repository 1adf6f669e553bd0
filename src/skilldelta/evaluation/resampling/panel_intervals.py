"""All intervals of one panel: which design serves which metric, with draws shared across the agents of a suite.

The intervals that stand beside a result are those that hold their truth about as often as they promise. Rules that
average their neighbours' outcomes get intervals that refit (`rescoring`). Policies that no outcome of the panel touches
keep the bootstrap with fixed actions. What neither way covers has no interval; `docs/limits.md` has the measured
coverage. The bootstrap with everything fixed, as the paper has it, stays available as conditional intervals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.evaluation.panel_policy import Outcomes, PanelPolicy
from skilldelta.evaluation.resampling.bootstrap import (
    Design,
    Difference,
    Inventory,
    Tick,
    percentile_range,
    resample_components,
    resample_policies,
)
from skilldelta.evaluation.resampling.rescoring import LinearRule, Splits, normal_range, replicates, standard_error
from skilldelta.evaluation.results import PolicyResult, Range
from skilldelta.support import Support

_ADVANTAGE = "advantage_vs_random"


@dataclass(frozen=True, slots=True)
class ResamplingPlan:
    """How many draws and from which seeds; the agents of a suite share one plan, and with it their draws.

    The paper takes 10,000 draws for ranking and policy value, and half as many for advantage and decomposition.
    """

    resamples: int
    task_seed: int
    family_seed: int
    within_seed: int
    split_seed: int

    @classmethod
    def of(cls, resamples: int, rng: np.random.Generator) -> ResamplingPlan:
        """A plan with fresh seeds."""
        seeds = rng.integers(2**63, size=4).tolist()
        return cls(resamples, *seeds)

    @property
    def half(self) -> int:
        """Draws of the designs with 5,000 in the paper."""
        return max(1, self.resamples // 2)


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Ranges by policy and metric with actions fixed, and what means over panels are made from."""

    ranges: Mapping[str, Mapping[str, Range]]
    samples: Mapping[str, Mapping[str, Floats]]
    replicates: Mapping[str, Replicates] = field(default_factory=dict)
    """Of the rules that were refitted, by policy and metric."""


def panel_intervals(
    support: Support,
    policies: Sequence[PanelPolicy],
    plan: ResamplingPlan,
    inventory: Inventory,
    *,
    linear: Mapping[str, LinearRule] | None = None,
    tick: Tick | None = None,
) -> Intervals:
    """Intervals of every policy: whole-panel policies together, policies with rows of their own each on those rows.

    The `linear` rules among them are also refitted.
    """
    everywhere = [policy for policy in policies if len(policy.rows) == len(support)]
    ranges, samples = _on_shared_rows(support, everywhere, plan, inventory, tick)
    reference = next((policy for policy in everywhere if policy.name == "skilldelta"), None)
    for policy in policies:
        if len(policy.rows) < len(support):
            ranges[policy.name] = _on_own_rows(support, policy, reference, plan, inventory, tick, ranges)
    splits = Splits.draw(inventory, np.random.default_rng(plan.split_seed))
    named = {policy.name: policy for policy in policies}
    refitted = {name: replicates(support, named[name], rule, splits) for name, rule in (linear or {}).items()}
    return Intervals(ranges, samples, refitted)


def draws_of(support: Support, policies: Sequence[PanelPolicy], plan: ResamplingPlan) -> int:
    """How many draws `panel_intervals` makes, for a progress bar."""
    own = sum(len(policy.rows) < len(support) for policy in policies)
    shared = plan.resamples + 3 * plan.half if own < len(policies) else 0
    return shared + own * 4 * plan.half


def _on_shared_rows(
    support: Support, policies: Sequence[PanelPolicy], plan: ResamplingPlan, inventory: Inventory, tick: Tick | None
) -> tuple[dict[str, dict[str, Range]], dict[str, dict[str, Floats]]]:
    if not policies:
        return {}, {}
    outcomes = Outcomes.of(support, policies[0].rows)
    by_task = resample_policies(
        policies,
        outcomes,
        Design.tasks(outcomes.task_ids, inventory),
        draws=plan.resamples,
        rng=np.random.default_rng(plan.task_seed),
        tick=tick,
    )
    by_family, components = _clustered(policies, outcomes, plan, inventory, tick)
    ranges = {p.name: _ranges(by_task, by_family, components, p.name, plan.half) for p in policies}
    return ranges, {name: found | components[name] for name, found in by_task.items()}


def _clustered(
    policies: Sequence[PanelPolicy], outcomes: Outcomes, plan: ResamplingPlan, inventory: Inventory, tick: Tick | None
) -> tuple[dict[str, dict[str, Floats]], dict[str, dict[str, Floats]]]:
    """Whole families for everything, and tasks within families for the decomposition."""
    whole = Design.families(outcomes.families, inventory)
    by_family = resample_policies(
        policies, outcomes, whole, draws=plan.half, rng=np.random.default_rng(plan.family_seed), tick=tick
    )
    parts_by_family = resample_components(
        policies, outcomes, whole, draws=plan.half, rng=np.random.default_rng(plan.family_seed), tick=tick
    )
    by_family = {name: found | parts_by_family[name] for name, found in by_family.items()}
    components = resample_components(
        policies,
        outcomes,
        Design.tasks_within_families(outcomes.task_ids, inventory),
        draws=plan.half,
        rng=np.random.default_rng(plan.within_seed),
        tick=tick,
    )
    return by_family, components


def _on_own_rows(
    support: Support,
    policy: PanelPolicy,
    reference: PanelPolicy | None,
    plan: ResamplingPlan,
    inventory: Inventory,
    tick: Tick | None,
    shared: dict[str, dict[str, Range]],
) -> dict[str, Range]:
    """A policy with a test split, or with missing answers: resample what it was evaluated on, 5,000 task groups."""
    outcomes = Outcomes.of(support, policy.rows)
    together = [policy, *_restricted(reference, policy)]
    design = (
        Design.tasks(outcomes.task_ids, _part(inventory, outcomes))
        if policy.groups is None
        else Design.groups(policy.groups[policy.rows])
    )
    by_task = resample_policies(
        together, outcomes, design, draws=plan.half, rng=np.random.default_rng(plan.task_seed), tick=tick
    )
    by_family, components = _clustered(together, outcomes, plan, _part(inventory, outcomes), tick)
    ranges = _ranges(by_task, by_family, components, policy.name, plan.half)
    if policy.name == "self_judge" and reference is not None:
        shared["skilldelta"]["balanced_accuracy_vs_self_judge"] = percentile_range(
            Difference("balanced_accuracy", "skilldelta", "self_judge").of(by_task)
        )
    return ranges


def _restricted(reference: PanelPolicy | None, policy: PanelPolicy) -> list[PanelPolicy]:
    """SkillDelta on the same rows, for paired differences."""
    if reference is None:
        return []
    return [PanelPolicy(reference.name, reference.actions, policy.rows, reference.scores, reference.threshold, True)]


def _part(inventory: Inventory, outcomes: Outcomes) -> Inventory:
    """The inventory's tasks that a policy was evaluated on."""
    kept = np.isin(inventory.task_ids, outcomes.task_ids)
    return Inventory(inventory.task_ids[kept], inventory.families[kept])


def _ranges(
    by_task: Mapping[str, Mapping[str, Floats]],
    by_family: Mapping[str, Mapping[str, Floats]],
    components: Mapping[str, Mapping[str, Floats]],
    name: str,
    half: int,
) -> dict[str, Range]:
    samples = dict(by_task[name])
    samples[_ADVANTAGE] = samples[_ADVANTAGE][:half]
    samples |= {part: components[name][part] for part in ("within_group", "between_group")}
    samples |= {f"{metric}_by_family": values for metric, values in by_family[name].items()}
    samples |= _differences(by_task, name)
    return {metric: percentile_range(values) for metric, values in samples.items()}


def _differences(by_task: Mapping[str, Mapping[str, Floats]], name: str) -> dict[str, Floats]:
    """Paired with SkillDelta, and SkillDelta with the self-judge where all its answers are known."""
    if name != "skilldelta" and "skilldelta" in by_task:
        return {
            f"{metric}_vs_skilldelta": Difference(metric, name, "skilldelta").of(by_task)
            for metric in ("balanced_accuracy", "success")
        }
    if name == "skilldelta" and "self_judge" in by_task:
        return {
            "balanced_accuracy_vs_self_judge": Difference("balanced_accuracy", "skilldelta", "self_judge").of(by_task)
        }
    return {}


Replicates = Mapping[str, Floats]
"""Metric to (rounds, parts)."""

_NOT_COVERED: Mapping[str, tuple[str, ...]] = {
    # A mean over the family cannot choose within it: what is measured there is left over from leaving one out.
    "family_mean": ("within_group",),
    # Its rate is SkillDelta's own, which varies with the outcomes.
    "random_matched": ("use_rate", "tokens", "token_saving"),
    # It learns from all outcomes, and nothing short of fitting it many times would show how much they move it.
    "stack": ("use_rate", "tokens", "token_saving", "within_group", "between_group"),
}
_PAIRED = ("_vs_skilldelta", "_vs_self_judge")


def covering_intervals(result: PolicyResult, refitted: Replicates | None) -> dict[str, Range]:
    """The intervals of one policy: refitted where there are replicates, else its conditional ones that cover."""
    found = {name: one for name, one in result.intervals.items() if not name.endswith(_PAIRED)}
    if refitted is not None:
        by_family = {name: one for name, one in found.items() if name.endswith("_by_family")}
        found = {metric: _refitted(result, metric, values) for metric, values in refitted.items()} | by_family
    dropped = _NOT_COVERED.get(result.name, ())
    return {name: one for name, one in found.items() if one.low is not None and name not in dropped}


def _refitted(result: PolicyResult, metric: str, replicates: Floats) -> Range:
    value = getattr(result, metric)
    if value is None or not np.isfinite(replicates).all():
        return Range(None, None)
    return normal_range(metric, value, standard_error(replicates))
