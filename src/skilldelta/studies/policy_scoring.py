"""One policy on one panel, scored leave-one-task-out: what thresholds are swept over and chosen for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from skilldelta.arrays import Floats
from skilldelta.errors import InputError
from skilldelta.evaluation.nested import Scorer
from skilldelta.evaluation.panel_policy import PanelPolicy
from skilldelta.evaluation.roster import Rules, score_policies
from skilldelta.support import Support


def with_skill_texts(rules: Rules, texts: Mapping[str, str]) -> Rules:
    """The rules with the bank's skill texts, unless they bring others."""
    return replace(rules, skill_texts={**texts, **rules.skill_texts})


def scored_policy(name: str, support: Support, rules: Rules) -> PanelPolicy:
    """One policy with its scores; constant policies have none and are refused."""
    roster = score_policies(support, [name], rules, None)
    if name not in roster.policies:
        raise InputError("; ".join(roster.left_out) or f"{name} cannot be scored on this panel")
    if roster.policies[name].scores is None:
        raise InputError(f"{name} has no scores; choose skilldelta, stack, family_mean or tfidf_knn")
    return roster.policies[name]


def scorer_of(name: str, rules: Rules) -> Scorer:
    """How a policy scores a part of a panel."""

    def score(support: Support) -> Floats:
        scores = scored_policy(name, support, rules).scores
        assert scores is not None  # scored_policy refuses policies without
        return scores

    return score
