"""The names of policies for people, by the names that JSON documents use: one table for terminal, report and docs."""

from __future__ import annotations

POLICY_WORDS: dict[str, str] = {
    "always_off": "Always off",
    "always_on": "Always on",
    "random_matched": "Random, same rate",
    "skilldelta": "SkillDelta",
    "stack": "SkillDelta stack",
    "with_skill_only": "With-skill only",
    "relevance": "Relevance gate",
    "tfidf_knn": "TF-IDF neighbours",
    "family_mean": "Family mean",
    "ridge": "Ridge",
    "dual_ridge": "Dual Ridge",
    "self_judge": "Self-judge",
    "oracle": "Oracle",
}

POLICY_MEANINGS: dict[str, str] = {
    "always_off": "never uses the skill",
    "always_on": "uses the skill on every task",
    "random_matched": "uses the skill on randomly chosen tasks, at SkillDelta's use rate (exact expectation)",
    "skilldelta": "the paper's rule: mean gain of the nearest tasks with paired runs",
    "stack": "the product's own estimator: several kinds of evidence, combined with learned weights",
    "with_skill_only": "the same neighbours, but only their success with the skill: no baseline",
    "relevance": "uses the skill where its text resembles the task: no outcomes",
    "tfidf_knn": "the paper's rule with word overlap instead of the encoder",
    "family_mean": "the mean gain of the task's family: no neighbours",
    "ridge": "a linear model of the gain, on its own train, validation and test split",
    "dual_ridge": "Ridge with a second model for the extra tokens",
    "self_judge": "the agent is asked beforehand whether it needs the skill",
    "oracle": "the better condition of every task, known only afterwards: an upper line",
}


def policy_words(name: str) -> str:
    """A policy's name for people; an unknown one keeps its own."""
    return POLICY_WORDS.get(name, name)
