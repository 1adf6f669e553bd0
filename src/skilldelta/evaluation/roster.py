"""Which policies there are, and what each needs: names to scored policies for one panel.

A policy whose needs a panel does not meet is left out with the reason in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from skilldelta.errors import InputError, unknown_name
from skilldelta.estimators.base import Estimator, NotApplicableError
from skilldelta.estimators.family_mean import FamilyMean
from skilldelta.estimators.paper_rule import PaperRule
from skilldelta.estimators.partition import Partition
from skilldelta.estimators.relevance import Relevance
from skilldelta.estimators.ridge import Ridge
from skilldelta.estimators.self_judge import SelfJudge
from skilldelta.estimators.stack import Stack
from skilldelta.estimators.tfidf_knn import TfidfKnn
from skilldelta.estimators.with_skill_only import WithSkillOnly
from skilldelta.evaluation.holdout import WITHOUT_FAMILY, Holdout, as_scored, check_holdout
from skilldelta.evaluation.panel_policy import PanelPolicy
from skilldelta.evaluation.policy_words import policy_words
from skilldelta.predictor import PAPER, Settings
from skilldelta.records import Judgement
from skilldelta.support import Scope, Support

POLICIES: tuple[str, ...] = (
    "always_off",
    "always_on",
    "random_matched",
    "skilldelta",
    "with_skill_only",
    "relevance",
    "tfidf_knn",
    "family_mean",
    "ridge",
    "dual_ridge",
    "stack",
    "self_judge",
)


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
    policies: dict[str, PanelPolicy] = {
        "always_off": PanelPolicy.constant("always_off", 0.0, n),
        "always_on": PanelPolicy.constant("always_on", 1.0, n),
        "skilldelta": _scored(PaperRule(rules.settings, rules.scope), scored, rules),
    }
    policies["random_matched"] = PanelPolicy.constant("random_matched", float(policies["skilldelta"].actions.mean()), n)
    left_out = []
    for name in wanted:
        if name in policies:
            continue
        if rules.holdout == "family" and name in WITHOUT_FAMILY:
            left_out.append(f"{policy_words(name)}: left out, {WITHOUT_FAMILY[name]}")
            continue
        try:
            panel = support if name == "self_judge" else scored  # judgements are found by task id
            policies[name] = _scored(_ESTIMATORS[name](rules, judgements or ()), panel, rules)
        except NotApplicableError as error:
            if name != "self_judge" or judgements:
                left_out.append(f"{policy_words(name)}: left out, {error}")
    return Roster({name: policies[name] for name in wanted if name in policies}, tuple(left_out))


def check_names(names: Sequence[str] | None) -> tuple[str, ...]:
    """Policy names in the design's order; an unknown one is refused with the nearest."""
    for name in names or ():
        if name not in POLICIES:
            raise unknown_name("policy", name, POLICIES)
    if names is not None and not names:
        raise InputError(f"no policy is named; choose from {', '.join(POLICIES)}")
    return POLICIES if names is None else tuple(name for name in POLICIES if name in names)


def _scored(estimator: Estimator, support: Support, rules: Rules) -> PanelPolicy:
    threshold = rules.threshold if estimator.name in _BY_GAIN else None
    return PanelPolicy.from_scores(estimator.name, estimator.leave_one_out(support), threshold=threshold)


_BY_GAIN = ("skilldelta", "tfidf_knn", "family_mean", "stack")


_ESTIMATORS: Mapping[str, Callable[[Rules, Sequence[Judgement]], Estimator]] = {
    "with_skill_only": lambda rules, _: WithSkillOnly(rules.settings, rules.scope),
    "relevance": lambda rules, _: Relevance(rules.skill_texts),
    "tfidf_knn": lambda rules, _: TfidfKnn(rules.settings.k, rules.scope),
    "family_mean": lambda rules, _: FamilyMean(),
    "ridge": lambda rules, _: Ridge(partition=rules.partition),
    "dual_ridge": lambda rules, _: Ridge(dual=True, partition=rules.partition),
    "stack": lambda rules, _: Stack(),
    "self_judge": lambda _, judgements: SelfJudge(judgements),
}
