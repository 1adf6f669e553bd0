"""The permutation nulls of one panel's policies, and the note that keeps an artefact from being read as a finding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from skilldelta.estimators.stack import Stack
from skilldelta.evaluation.holdout import as_scored
from skilldelta.evaluation.panel_policy import PanelPolicy
from skilldelta.evaluation.resampling.linear_rules import LinearRule
from skilldelta.evaluation.resampling.permutation import Scoring, linear_scoring, permutation_nulls, repeated_scoring
from skilldelta.evaluation.results import PermutationNull, PolicyResult
from skilldelta.evaluation.roster import Rules
from skilldelta.support import Support

Nulls = Mapping[str, Mapping[str, PermutationNull]]
"""By policy, then `within` and `across`."""


def panel_nulls(
    support: Support,
    policies: Mapping[str, PanelPolicy],
    rules: Rules,
    linear: Mapping[str, LinearRule],
    *,
    shuffles: int,
    with_stack: bool,
    rng: np.random.Generator,
) -> Nulls:
    """For the linear rules, and for the stack where asked: it is fitted anew each time."""
    if not shuffles:
        return {}
    scorings: dict[str, Scoring] = {name: linear_scoring(rule) for name, rule in linear.items()}
    if with_stack and "stack" in policies:
        scored = as_scored(support, rules.holdout)
        scorings["stack"] = repeated_scoring(lambda panel: Stack().leave_one_out(panel).values, scored)
    return permutation_nulls(support, policies, scorings, shuffles=shuffles, rng=rng)


def below_chance(policies: Iterable[PolicyResult]) -> tuple[str, ...]:
    """The note on orders that look backward: which are no more than what leaving one out does to shuffled gains."""
    backward = [policy for policy in policies if policy.auroc is not None and policy.auroc < _BACKWARD]
    artefacts = [f"{one.name} {one.auroc:.2f} ({_chance(one):.2f})" for one in backward if _is_artefact(one)]
    notes = []
    if artefacts:
        notes.append(
            "an AUROC below 0.5 that shuffled gains reach as well is an artefact of leaving one out, not a backward order; "
            f"with the shuffled mean in brackets: {', '.join(artefacts)}"
        )
    untested = [f"{one.name} {one.auroc:.2f}" for one in backward if not one.null and one.name in _LEAVES_ONE_OUT]
    if untested:
        notes.append(
            "an AUROC below 0.5 may be an artefact of leaving one out, which lowers a task's score where its gain is high; "
            f"not tested by shuffling: {', '.join(untested)}"
        )
    return tuple(notes)


_BACKWARD = 0.48
"""Nearer to 0.5 nobody reads an order into it."""
_LEAVES_ONE_OUT = ("skilldelta", "with_skill_only", "tfidf_knn", "family_mean", "stack")


def _is_artefact(policy: PolicyResult) -> bool:
    assert policy.auroc is not None
    return any(null.auroc is not None and policy.auroc >= null.auroc.low for null in policy.null.values())


def _chance(policy: PolicyResult) -> float:
    """The shuffled mean nearest to what was observed."""
    assert policy.auroc is not None
    means = [null.auroc.mean for null in policy.null.values() if null.auroc is not None]
    return min(means, key=lambda mean: abs(mean - policy.auroc))  # type: ignore[operator]
