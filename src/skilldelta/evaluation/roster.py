"""Names to scored policies for one panel, and what all of them are told.

A policy whose needs a panel does not meet is left out with the reason in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skilldelta.errors import InputError
from skilldelta.estimators.base import NotApplicableError
from skilldelta.estimators.partition import Partition
from skilldelta.evaluation.holdout import Holdout, as_scored, check_holdout
from skilldelta.evaluation.panel_policy import PanelPolicy
from skilldelta.evaluation.policy_table import PolicyEntry, policies, policy_entry
from skilldelta.predictor import PAPER, Settings
from skilldelta.records import Judgement
from skilldelta.support import Scope, Support


@dataclass(frozen=True, slots=True)
class Rules:
    """What the policies of an evaluation are told; nothing here may depend on the panel's outcomes."""

    settings: Settings = PAPER
    scope: Scope = "family"
    threshold: float = 0.0
    """The cut of every policy that predicts gains; the others bring their own."""
    skill_texts: Mapping[str, str] = field(default_factory=dict)
    partition: Partition | None = None
    """Where both Ridge controls train, validate and are tested; their own split unless given."""
    holdout: Holdout = "task"
    """What is left out together with a target."""


@dataclass(frozen=True, slots=True, eq=False)
class Roster:
    """The scored policies of a panel in the design's order, and why the others are missing."""

    policies: Mapping[str, PanelPolicy]
    left_out: tuple[str, ...]


def score_policies(
    support: Support, names: Sequence[str] | None, rules: Rules, judgements: Sequence[Judgement] | None
) -> Roster:
    """Every named policy on a panel (all of them unless named)."""
    check_holdout(rules.holdout, rules.scope)
    wanted = check_names(names)
    n, scored = len(support), as_scored(support, rules.holdout)
    given = tuple(judgements or ())
    found: dict[str, PanelPolicy] = {
        "always_off": PanelPolicy.constant("always_off", 0.0, n),
        "always_on": PanelPolicy.constant("always_on", 1.0, n),
        "skilldelta": _scored(policy_entry("skilldelta"), scored, rules, given),
    }
    found["random_matched"] = PanelPolicy.constant("random_matched", float(found["skilldelta"].actions.mean()), n)
    left_out = []
    for name in wanted:
        if name in found:
            continue
        entry = policy_entry(name)
        if rules.holdout == "family" and entry.unfit_without_family:
            left_out.append(f"{entry.title}: left out, {entry.unfit_without_family}")
            continue
        try:
            panel = support if name == "self_judge" else scored  # judgements are found by task id
            found[name] = _scored(entry, panel, rules, given)
        except NotApplicableError as error:
            if name != "self_judge" or judgements:
                left_out.append(f"{entry.title}: left out, {error}")
    return Roster({name: found[name] for name in wanted if name in found}, tuple(left_out))


def check_names(names: Sequence[str] | None) -> tuple[str, ...]:
    """Policy names in the table's order; an unknown one is refused with the nearest."""
    for name in names or ():
        policy_entry(name)
    if names is not None and not names:
        raise InputError(f"no policy is named; choose from {', '.join(policies())}")
    return tuple(name for name in policies() if names is None or name in names)


def _scored(entry: PolicyEntry, support: Support, rules: Rules, judgements: Sequence[Judgement]) -> PanelPolicy:
    assert entry.estimator is not None  # policies of fixed actions are made by hand
    scores = entry.estimator(rules, judgements).leave_one_out(support)
    if scores.values.shape != (len(support),):
        raise InputError(
            f"{entry.name} of {entry.version} gave scores of shape {scores.values.shape} for {len(support)} pairs"
        )
    return PanelPolicy.from_scores(entry.name, scores, threshold=rules.threshold if entry.predicts_gain else None)
