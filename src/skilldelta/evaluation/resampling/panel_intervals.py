"""All intervals of one panel: which design serves which metric, with draws shared across the agents of a suite.

The intervals that stand beside a result are those that hold their truth about as often as they promise. Rules that
average their neighbors' outcomes get intervals that refit (`rescoring`). Policies that no outcome of the panel touches
keep the bootstrap with fixed actions. What neither way covers has no interval; `docs/limits.md` has the measured
coverage. The bootstrap with everything fixed, as the paper has it, stays available as conditional intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.evaluation.panel_policy import Outcomes, PanelPolicy
from skilldelta.evaluation.resampling.bootstrap import (
    Design,
    Inventory,
    Tick,
    percentile_range,
    resample_components,
    resample_policies,
)
from skilldelta.evaluation.resampling.rescoring import LinearRule, Splits, normal_range, replicates, standard_error
from skilldelta.evaluation.results import UNKNOWN, PolicyResult, Range
from skilldelta.support import Support

_ADVANTAGE = "advantage_vs_random"
# By policy and metric.
_Samples = dict[str, dict[str, Floats]]


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
    reference = next((policy for policy in everywhere if policy.name == "paper"), None)
    ranges: dict[str, dict[str, Range]] = {}
    samples: _Samples = {}
    if everywhere:
        outcomes = Outcomes.of(support, everywhere[0].rows)
        design = Design.tasks(outcomes.task_ids, inventory)
        drawn = _draw(everywhere, outcomes, design, plan.resamples, plan, inventory, tick)
        ranges = {policy.name: drawn.ranges(policy.name, plan.half) for policy in everywhere}
        samples = {name: own_samples | drawn.within_families[name] for name, own_samples in drawn.by_task.items()}
    for policy in policies:
        if len(policy.rows) < len(support):
            drawn = _draw_own_rows(support, policy, reference, plan, inventory, tick)
            ranges[policy.name] = drawn.ranges(policy.name, plan.half)
            if policy.name == "self_judge" and reference is not None:
                paired = drawn.differences("paper")
                ranges["paper"] |= {name: percentile_range(values) for name, values in paired.items()}
    splits = Splits.draw(inventory, np.random.default_rng(plan.split_seed))
    by_name = {policy.name: policy for policy in policies}
    refitted = {name: replicates(support, by_name[name], rule, splits) for name, rule in (linear or {}).items()}
    return Intervals(ranges, samples, refitted)


def draws_of(support: Support, policies: Sequence[PanelPolicy], plan: ResamplingPlan) -> int:
    """How many draws `panel_intervals` makes, for a progress bar."""
    own = sum(len(policy.rows) < len(support) for policy in policies)
    shared = plan.resamples + 3 * plan.half if own < len(policies) else 0
    return shared + own * 4 * plan.half


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """Metrics by policy in every draw, under each design."""

    by_task: _Samples
    by_family: _Samples
    """Whole families, for everything."""
    within_families: _Samples
    """Tasks within families, for the decomposition."""

    def ranges(self, name: str, half: int) -> dict[str, Range]:
        """The conditional intervals of a policy."""
        samples = dict(self.by_task[name])
        samples[_ADVANTAGE] = samples[_ADVANTAGE][:half]
        samples |= {part: self.within_families[name][part] for part in ("within_group", "between_group")}
        samples |= {f"{metric}_by_family": values for metric, values in self.by_family[name].items()}
        samples |= self.differences(name)
        return {metric: percentile_range(values) for metric, values in samples.items()}

    def differences(self, name: str) -> dict[str, Floats]:
        """Paired with SkillDelta, and SkillDelta with the self-judge where both are drawn on the same rows."""
        other, metrics = "paper", ["balanced_accuracy", "success"]
        if name == "paper":
            other, metrics = "self_judge", ["balanced_accuracy"]
        if other not in self.by_task:
            return {}
        own, theirs = self.by_task[name], self.by_task[other]
        return {f"{metric}_vs_{other}": own[metric] - theirs[metric] for metric in metrics}


def _draw(
    policies: Sequence[PanelPolicy],
    outcomes: Outcomes,
    tasks: Design,
    draws: int,
    plan: ResamplingPlan,
    inventory: Inventory,
    tick: Tick | None,
) -> _Drawn:
    """`draws` of the design `tasks`, and the designs that go by family."""
    families = Design.families(outcomes.families, inventory)
    within = Design.tasks_within_families(outcomes.task_ids, inventory)

    def drawn(resample: Callable[..., _Samples], design: Design, draws: int, seed: int) -> _Samples:
        return resample(policies, outcomes, design, draws=draws, rng=np.random.default_rng(seed), tick=tick)

    by_task = drawn(resample_policies, tasks, draws, plan.task_seed)
    by_family = drawn(resample_policies, families, plan.half, plan.family_seed)
    parts = drawn(resample_components, families, plan.half, plan.family_seed)
    by_family = {name: samples | parts[name] for name, samples in by_family.items()}
    return _Drawn(by_task, by_family, drawn(resample_components, within, plan.half, plan.within_seed))


def _draw_own_rows(
    support: Support,
    policy: PanelPolicy,
    reference: PanelPolicy | None,
    plan: ResamplingPlan,
    inventory: Inventory,
    tick: Tick | None,
) -> _Drawn:
    """A policy with a test split, or with missing answers: resample what it was evaluated on, 5,000 task groups.

    SkillDelta is drawn on the same rows, for paired differences.
    """
    outcomes = Outcomes.of(support, policy.rows)
    is_own = np.isin(inventory.task_ids, outcomes.task_ids)
    part = Inventory(inventory.task_ids[is_own], inventory.families[is_own])
    together = [policy]
    if reference is not None:
        together.append(
            PanelPolicy(reference.name, reference.actions, policy.rows, reference.scores, reference.threshold, True)
        )
    design = (
        Design.tasks(outcomes.task_ids, part) if policy.groups is None else Design.groups(policy.groups[policy.rows])
    )
    return _draw(together, outcomes, design, plan.half, plan, part, tick)


# Metric to (rounds, parts).
Replicates = Mapping[str, Floats]

_NOT_COVERED: Mapping[str, tuple[str, ...]] = {
    # A mean over the family cannot choose within it: what is measured there is left over from leaving one out.
    "family_mean": ("within_group",),
    # Its rate is SkillDelta's own, which varies with the outcomes.
    "random_matched": ("use_rate", "tokens", "token_saving"),
    # It learns from all outcomes, and nothing short of fitting it many times would show how much they move it.
    "blend": ("use_rate", "tokens", "token_saving", "within_group", "between_group"),
}
_PAIRED = ("_vs_paper", "_vs_self_judge")


def covering_intervals(result: PolicyResult, refitted: Replicates | None) -> dict[str, Range]:
    """The intervals of one policy: refitted where there are replicates, else its conditional ones that cover."""
    covering = {name: interval for name, interval in result.intervals.items() if not name.endswith(_PAIRED)}
    if refitted is not None:
        by_family = {name: interval for name, interval in covering.items() if name.endswith("_by_family")}
        covering = {metric: _refitted(result, metric, values) for metric, values in refitted.items()} | by_family
    dropped = _NOT_COVERED.get(result.name, ())
    return {name: interval for name, interval in covering.items() if interval.low is not None and name not in dropped}


def _refitted(result: PolicyResult, metric: str, replicates: Floats) -> Range:
    value = getattr(result, metric)
    if value is None or not np.isfinite(replicates).all():
        return UNKNOWN
    return normal_range(metric, value, standard_error(replicates))
