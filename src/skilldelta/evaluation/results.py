"""What an evaluation found: one policy, one panel, and the mean over panels.

Rates are fractions of 1, what is unknown is None, and `panel_to_dict` is the wire form that `evaluate --json` prints.
Computing these numbers is `leave_one_out`'s work; drawing them is the report's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skilldelta.arrays import Floats, Ints
from skilldelta.support import Support

# (n,) what a policy does: use or skip, or the probability of use where it is random.
Actions = NDArray[np.bool_] | Floats


# Differences of success below this count as none in a verdict, unless a margin is given.
MARGIN = 0.02


@dataclass(frozen=True, slots=True)
class Range:
    """A percentile interval; both ends are None where no resample gave a value."""

    low: float | None
    high: float | None


UNKNOWN = Range(None, None)


def unless_nan(value: float) -> float | None:
    """A plain number; what cannot be known is NaN in arrays and None in results."""
    return None if math.isnan(value) else float(value)


@dataclass(frozen=True, slots=True)
class NullDistribution:
    """A metric on shuffled panels: its mean, the middle 95%, and how often it reaches the value observed."""

    mean: float
    low: float
    high: float
    p: float
    """One-sided, the observed panel counted among the shuffles."""


@dataclass(frozen=True, slots=True)
class PermutationNull:
    """What a policy shows when outcomes are shuffled; a metric without both classes is None."""

    shuffles: int
    auroc: NullDistribution | None
    advantage_vs_random: NullDistribution | None


@dataclass(frozen=True, slots=True, eq=False)
class PolicyResult:
    """One policy on one panel.

    `intervals` are 95% ranges by metric name: the fields below, `success_gain` (over always-off) and
    `success_vs_always_on`; the same names with `_by_family` come from resampling whole families. They take in that a
    rule is refitted to other tasks, or are left out. `conditional_intervals` have all of these with scores and actions
    fixed, and `balanced_accuracy_vs_paper`, `success_vs_paper` (this policy minus SkillDelta on the same
    draws), on `paper` also `balanced_accuracy_vs_self_judge`.
    """

    name: str
    success: float
    use_rate: float
    tokens: float | None
    """Mean tokens of a task, with the router's own where there is a router call."""
    token_saving: float | None
    """Share of always-on's tokens that the policy does not spend."""
    auroc: float | None
    balanced_accuracy: float | None
    advantage_vs_random: float
    within_group: float
    between_group: float
    gain_mae: float | None
    gain_mse: float | None
    intervals: Mapping[str, Range]
    threshold: float | None
    scores: Floats | None  # (n,) of the panel, NaN outside `rows`; None where the policy has no score
    actions: Actions  # (n,) of the panel, meaningful on `rows`
    rows: Ints  # (m,) the panel's rows this policy was evaluated on: all, or its test split
    supported: NDArray[np.bool_] | None = None  # (n,) rows with evidence; None where every score is an estimate
    success_gain: float = 0.0
    """Success minus always-off's on the same rows."""
    always_on: float = math.nan
    """Success of always using the skill on the same rows: the panel's own, or that of a test split."""
    router_tokens: float | None = None
    """Mean tokens of the routing call itself."""
    abstained: int | None = None
    """Pairs that the gate leaves to the fallback, which skips them; None where the policy is not the gate."""
    unlike: int | None = None
    """Pairs that are less familiar than the gate's limit; None where the policy is not the gate."""
    notes: tuple[str, ...] = ()
    null: Mapping[str, PermutationNull] = field(default_factory=dict)
    """Outcomes shuffled `within` families and `across` them; empty where no shuffle was made."""
    conditional_intervals: Mapping[str, Range] = field(default_factory=dict)
    """The paper's: tasks resampled with scores and actions fixed, which leaves out that other tasks would move them."""

    @property
    def success_vs_always_on(self) -> float:
        """Success minus always-on's on the same rows."""
        return self.success - self.always_on


# The numbers of a policy's result, in the order of documents.
METRICS = (
    "success",
    "success_gain",
    "success_vs_always_on",
    "always_on",
    "use_rate",
    "tokens",
    "token_saving",
    "auroc",
    "balanced_accuracy",
    "advantage_vs_random",
    "within_group",
    "between_group",
    "gain_mae",
    "gain_mse",
    "router_tokens",
)


@dataclass(frozen=True, slots=True)
class FamilyCounts:
    """How often the skill helped, harmed or changed nothing in one family."""

    family: str
    pairs: int
    help: int
    harm: int
    tie: int
    off: float
    on: float
    both_succeed: int = 0
    """Ties in which every run succeeded, with the skill and without."""
    both_fail: int = 0

    @property
    def gain(self) -> float:
        """Mean observed gain of the family."""
        return self.on - self.off

    @property
    def tie_between(self) -> int:
        """Ties of the same partial success in both arms, which only repetitions or partial credit make."""
        return self.tie - self.both_succeed - self.both_fail


@dataclass(frozen=True, slots=True)
class Structure:
    """Task–skill structure and support coverage of a panel."""

    groups: int
    median_group: float
    smallest_group: int
    largest_group: int
    singletons: int
    skills: int
    """Distinct supplied skills, a bundle counted as one."""
    families_with_several_skills: int
    tasks_with_several_skills: int
    bundles: int = 0
    """Distinct supplied bundles of two or more skills."""
    edges: int = 0
    """Task–skill memberships: a task under a bundle of three skills has three."""
    without_support: int = 0
    """Rows with no pair of another task in their scope."""
    eligible_smallest: int = 0
    """Pairs of other tasks in scope of a row, at least, in the median, and at most."""
    eligible_median: float = 0.0
    eligible_largest: int = 0


@dataclass(frozen=True, slots=True)
class HeldOutValue:
    """One policy on held-out fifths of a panel, averaged over the repeats."""

    success: float
    use_rate: float
    difference: float
    """Success minus that of the constant policy chosen on the other four fifths."""
    spread: float
    """Standard deviation of the difference: over tasks within a repeat, and between repeats."""
    is_same: bool = False
    """Whether the policy acted as the chosen constant on every task of every repeat."""


@dataclass(frozen=True, slots=True)
class RepeatedFolds:
    """The policies of one panel under the same random divisions."""

    repeats: int
    folds: int
    always_on: float
    """Share of the training sets on which always using the skill was the better constant."""
    constant: float
    """Success of the constant policies so chosen, on the held-out fifths."""
    policies: Mapping[str, HeldOutValue]


@dataclass(frozen=True, slots=True, eq=False)
class PanelResult:
    """All policies on the pairs of one agent on one suite."""

    agent: str
    suite: str
    tasks: int
    """Distinct tasks."""
    pairs: int
    """Rows: a task counts once for every skill it was paired under."""
    families: int
    off: float
    on: float
    oracle: float
    """Success of the better recorded arm of every pair: an upper line that no policy can know."""
    policies: Mapping[str, PolicyResult]
    support: Support
    counts: tuple[FamilyCounts, ...]
    """By family, in order of first appearance."""
    structure: Structure
    resamples: int
    notes: tuple[str, ...] = ()
    gate: str = "blend"
    """The policy that is the gate."""
    margin: float = MARGIN
    """Differences of success below this count as none in a verdict."""
    oracle_corrected: float | None = None
    """The oracle without what run-to-run noise adds to it; None where no task ran twice under each condition."""
    repeated_folds: RepeatedFolds | None = None
    """The policies on held-out fifths of a panel of fewer than 400 tasks; None for larger ones, and without intervals."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval; `conditional` holds scores and actions fixed, as the paper does."""

    value: float
    interval: Range
    conditional: Range


@dataclass(frozen=True, slots=True)
class PolicyMeans:
    """One policy over all panels: means of equal weight, and in how many panels it is ahead."""

    metrics: Mapping[str, Estimate]
    wins: Mapping[str, int]
    """Panels in which the policy is above: `success_gain` (always-off), `success_vs_always_on`,
    `advantage_vs_random`, `within_group`, and `auroc_vs_POLICY` for every policy that ranks."""
    clear: Mapping[str, int]
    """Panels whose own interval lies above zero, for the differences among these."""


@dataclass(frozen=True, slots=True)
class Means:
    """What several panels show together, for policies that every panel has."""

    panels: int
    policies: Mapping[str, PolicyMeans]


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Several panels evaluated together, task draws shared across the agents of a suite."""

    panels: tuple[PanelResult, ...]
    means: Means


def panel_to_dict(panel: PanelResult) -> dict[str, Any]:
    """One member of `panels` in `evaluate --json`; notes say in words why a value is null."""
    names = ("agent", "suite", "tasks", "pairs", "families", "off", "on", "oracle", "oracle_corrected", "gate")
    return {
        **{name: getattr(panel, name) for name in names},
        "repeated_folds": None if panel.repeated_folds is None else asdict(panel.repeated_folds),
        "policies": {name: _policy_to_dict(policy) for name, policy in panel.policies.items()},
        "counts": _counts_to_dict(panel.counts),
        "by_family": [{"family": count.family, **_counts_to_dict([count])} for count in panel.counts],
        "structure": asdict(panel.structure),
        "notes": list(panel.notes),
    }


def means_to_dict(means: Means) -> dict[str, Any]:
    """`means` in `evaluate --json`."""
    policies = {}
    for name, policy in means.policies.items():
        metrics = {
            metric: {
                "mean": _number(estimate.value),
                **_ranges_to_dict({"interval": estimate.interval, "conditional_interval": estimate.conditional}),
            }
            for metric, estimate in policy.metrics.items()
        }
        policies[name] = {**metrics, "wins": dict(policy.wins), "clear": dict(policy.clear)}
    return {"panels": means.panels, "policies": policies}


_COUNTS = ("pairs", "help", "harm", "tie", "both_succeed", "both_fail", "tie_between")


def _counts_to_dict(counts: Sequence[FamilyCounts]) -> dict[str, int]:
    return {name: sum(getattr(count, name) for count in counts) for name in _COUNTS}


def _policy_to_dict(policy: PolicyResult) -> dict[str, Any]:
    return {
        **{name: _number(getattr(policy, name)) for name in METRICS},
        "intervals": _ranges_to_dict(policy.intervals),
        "conditional_intervals": _ranges_to_dict(policy.conditional_intervals),
        "tasks": len(policy.rows),
        "threshold": _number(policy.threshold),
        "abstained": policy.abstained,
        "unlike": policy.unlike,
        "notes": list(policy.notes),
        "null": {kind: asdict(null) for kind, null in policy.null.items()} or None,
    }


def _ranges_to_dict(ranges: Mapping[str, Range]) -> dict[str, dict[str, float | None]]:
    return {name: {"low": _number(interval.low), "high": _number(interval.high)} for name, interval in ranges.items()}


def _number(value: float | None) -> float | None:
    """JSON has no infinity and no NaN: both are unknown."""
    return float(value) if value is not None and math.isfinite(value) else None
