"""From policy names to scored policies of one panel, and the settings that all of them get.

A policy whose needs a panel does not meet is left out with the reason in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.errors import InputError
from skilldelta.estimators.base import Needs, NotApplicableError, Scores
from skilldelta.estimators.partition import Partition
from skilldelta.estimators.registry import PolicyEntry, policies, policy_entry
from skilldelta.estimators.relevance_scores import RelevanceScores
from skilldelta.evaluation.panel_policy import PanelPolicy
from skilldelta.evaluation.structure import eligible_pairs
from skilldelta.gate import Gate
from skilldelta.nouns import plural
from skilldelta.probability import FOLDS, held_out_folds
from skilldelta.records import Judgement
from skilldelta.support import Scope, Support

# What is left out together with a target: its own task, or its whole family.
Holdout = Literal["task", "family"]
HOLDOUTS: tuple[Holdout, ...] = ("task", "family")

# Leave-one-task-out scores (n,) of a support's rows.
Scorer = Callable[[Support], Floats]


@dataclass(frozen=True, slots=True)
class EvaluationPlan:
    """The gate that is evaluated, and how; nothing here may depend on the panel's outcomes."""

    gate: Gate = field(default_factory=Gate)
    skill_texts: Mapping[str, str] = field(default_factory=dict)
    partition: Partition | None = None
    """Where both Ridge controls train, validate and are tested; their own split unless given."""
    holdout: Holdout = "task"
    """What is left out together with a target."""
    relevance: RelevanceScores | None = None
    """Relevance scores from elsewhere; computed from the texts unless given."""

    @property
    def scope(self) -> Scope:
        """The scope of the controls: the paper's, unless the gate has a wider one or whole families are held out."""
        if self.gate.scope == "skill-family":
            return "skill" if self.holdout == "family" else "family"
        return self.gate.scope

    def scope_of(self, policy: str) -> Scope:
        """The scope of a policy: the gate's own, or that of the controls."""
        return self.gate.scope if policy == self.gate.estimator else self.scope

    def needs(self, judgements: Sequence[Judgement] = ()) -> Needs:
        """What the estimators of the controls are made with."""
        return Needs(
            self.gate.settings, self.scope, self.skill_texts, self.partition, tuple(judgements), self.relevance
        )


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPolicies:
    """The scored policies of a panel in the design's order, and why the others are missing."""

    policies: Mapping[str, PanelPolicy]
    left_out: tuple[str, ...]

    @property
    def plain(self) -> list[str]:
        """The policies whose actions follow from scores and one threshold alone."""
        return [n for n, policy in self.policies.items() if policy.decisions is None or policy.decisions.is_plain]


def score_policies(
    support: Support, names: Sequence[str] | None, plan: EvaluationPlan, judgements: Sequence[Judgement] | None
) -> ScoredPolicies:
    """Every named policy on a panel (all of them unless named)."""
    check_holdout(plan.holdout, plan.gate.scope)
    chosen = check_names(names)
    n, scored = len(support), as_scored(support, plan.holdout)
    answers = tuple(judgements or ())
    scored_policies: dict[str, PanelPolicy] = {
        "always_off": PanelPolicy.constant("always_off", 0.0, n),
        "always_on": PanelPolicy.constant("always_on", 1.0, n),
        "paper": _scored(policy_entry("paper"), scored, plan, answers),
    }
    scored_policies["random_matched"] = PanelPolicy.constant(
        "random_matched", float(scored_policies["paper"].actions.mean()), n
    )
    left_out = []
    for name in chosen:
        if name in scored_policies:
            continue
        entry = policy_entry(name)
        if plan.holdout == "family" and entry.unfit_without_family:
            left_out.append(f"{entry.title}: left out, {entry.unfit_without_family}")
            continue
        try:
            panel = support if name == "self_judge" else scored  # judgements are found by task id
            scored_policies[name] = _scored(entry, panel, plan, answers)
        except NotApplicableError as error:
            if name != "self_judge" or judgements:
                left_out.append(f"{entry.title}: left out, {error}")
    return ScoredPolicies({name: scored_policies[name] for name in chosen if name in scored_policies}, tuple(left_out))


def check_names(names: Sequence[str] | None) -> tuple[str, ...]:
    """Policy names in the table's order; an unknown one is refused with the nearest."""
    if names is not None:
        names = [policy_entry(name).name for name in names]
    if names is not None and not names:
        raise InputError(f"no policy is named; choose from {', '.join(policies())}")
    return tuple(name for name in policies() if names is None or name in names)


def _scored(entry: PolicyEntry, support: Support, plan: EvaluationPlan, judgements: Sequence[Judgement]) -> PanelPolicy:
    assert entry.estimator is not None  # policies of fixed actions are made by hand
    if entry.name == plan.gate.estimator:
        decisions = plan.gate.leave_one_out(support, plan.needs(judgements))
        _check_shape(entry, support, decisions.scores)
        return PanelPolicy.from_decisions(entry.name, decisions)
    scores = entry.estimator(plan.needs(judgements)).leave_one_out(support)
    _check_shape(entry, support, scores)
    return PanelPolicy.from_scores(entry.name, scores, threshold=plan.gate.threshold if entry.predicts_gain else None)


def _check_shape(entry: PolicyEntry, support: Support, scores: Scores) -> None:
    if scores.values.shape != (len(support),):
        raise InputError(
            f"{entry.name} of {entry.version} gave scores of shape {scores.values.shape} for {len(support)} pairs"
        )


def as_scored(support: Support, holdout: Holdout) -> Support:
    """The panel with task ids that name what is left out together.

    Leaving one family out asks what the evidence is worth for tasks of a kind that was never run. Rules look for support
    by task id, so a panel whose tasks bear their family's name leaves whole families out everywhere.
    """
    if holdout == "task":
        return support
    labels = support.scope_labels("family")
    if (labels == labels[0]).all():
        raise InputError(
            f"the panel of {support.agent!r} on {support.suite!r} has one family; holding it out leaves nothing to learn from"
        )
    return replace(support, task_ids=labels)


def check_holdout(holdout: Holdout, scope: Scope) -> None:
    """Refuse an unknown holdout, and one that empties every scope."""
    if holdout not in HOLDOUTS:
        raise InputError(f"holdout must be task or family, got {holdout!r}")
    if holdout == "family" and scope == "family":
        raise InputError("a held-out family leaves nothing in the scope family; choose the scope skill or global")


def holdout_notes(support: Support, scored: Support, scope: Scope) -> tuple[str, ...]:
    """What a reader must know about a panel whose families were held out."""
    if scored is support:
        return ()
    alone = int((eligible_pairs(scored, scope) == 0).sum())
    notes = ["every task was scored without its whole family: what the evidence is worth for families never run"]
    if alone:
        wider = "; the scope global takes in other skills" if scope == "skill" else ""
        notes.append(f"{alone} of {plural(len(support), 'pair')} have no support then and are skipped{wider}")
    return tuple(notes)


def scores_without_folds(
    score: Scorer, support: Support, *, folds: int = FOLDS, progress: Callable[[int, int], None] | None = None
) -> Floats:
    """(folds, n) row f: scores of the rows outside fold f, made without fold f; NaN inside it.

    A row's leave-one-out score leaves its own outcome out but was made from the others', and so the others' scores hold a
    trace of it. A threshold or a probability learned from them would have seen, faintly, what it is judged by.
    """
    fold_of = held_out_folds(support.task_ids, folds)
    scores = np.full((folds, len(support)), np.nan)
    for fold in range(folds):
        others = np.flatnonzero(fold_of != fold)
        if len(others):
            scores[fold, others] = score(support.rows(others))
        if progress:
            progress(fold + 1, folds)
    return scores
