"""What an evaluation found: one policy, one panel, and the mean over panels.

Rates are fractions of 1, what is unknown is None, and `panel_to_dict` is the wire form that `evaluate --json` prints.
Computing these numbers is `leave_one_out`'s work; drawing them is the report's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skilldelta.support import Floats, Ints, Support

Actions = NDArray[np.bool_] | Floats
"""(n,) what a policy does: use or skip, or the probability of use where it is random."""


@dataclass(frozen=True, slots=True)
class Range:
    """A percentile interval; both ends are None where no resample gave a value."""

    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, eq=False)
class PolicyResult:
    """One policy on one panel.

    `intervals` are 95% ranges by metric name: the fields below, `success_gain` (over always-off),
    `success_vs_always_on`, `balanced_accuracy_vs_skilldelta` and `success_vs_skilldelta` (this policy minus SkillDelta on
    the same draws), on `skilldelta` also `balanced_accuracy_vs_self_judge`; the same names with `_by_family` come from
    resampling whole families.
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
    router_tokens: float | None = None
    """Mean tokens of the routing call itself."""
    notes: tuple[str, ...] = ()


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

    @property
    def gain(self) -> float:
        """Mean observed gain of the family."""
        return self.on - self.off


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


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval."""

    value: float
    interval: Range


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """Several panels evaluated together, task draws shared across the agents of a suite."""

    panels: tuple[PanelResult, ...]
    means: Mapping[str, Mapping[str, Estimate]] = field(default_factory=dict)
    """Policy, then metric: the mean over panels of equal weight, for policies that every panel has."""


def panel_to_dict(panel: PanelResult) -> dict[str, Any]:
    """One member of `panels` in `evaluate --json`; notes say in words why a value is null."""
    return {
        "agent": panel.agent,
        "suite": panel.suite,
        "tasks": panel.tasks,
        "families": panel.families,
        "off": panel.off,
        "on": panel.on,
        "oracle": panel.oracle,
        "policies": {name: _policy_to_dict(policy) for name, policy in panel.policies.items()},
        "notes": list(panel.notes),
    }


_METRICS = (
    "success",
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
)


def _policy_to_dict(policy: PolicyResult) -> dict[str, Any]:
    document: dict[str, Any] = {name: _number(getattr(policy, name)) for name in _METRICS}
    document["intervals"] = {
        name: {"low": _number(found.low), "high": _number(found.high)} for name, found in policy.intervals.items()
    }
    document["tasks"] = len(policy.rows)
    document["threshold"] = _number(policy.threshold)
    document["notes"] = list(policy.notes)
    return document


def _number(value: float | None) -> float | None:
    """JSON has no infinity and no NaN: both are unknown."""
    return float(value) if value is not None and math.isfinite(value) else None
