"""The report's colours and the names of policies in words.

Figures name a role, not a colour: `var(--c-skilldelta)`. In the page the style sheet gives the role its light, dark or
printed colour without drawing again; for images `resolve` puts the light colour in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

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

_LIGHT: dict[str, str] = {
    "paper": "#ffffff",
    "ink": "#1f2529",
    "ink-2": "#565f66",
    "ink-3": "#848c93",
    "line": "#d9dcdf",
    "grid": "#eceef0",
    "accent": "#0b6b66",
    "help": "#0b6b66",
    "harm": "#b5482f",
    "tie": "#d5d9dc",
    "skilldelta": "#0b6b66",
    "stack": "#1d3f73",
    "always_off": "#858e95",
    "always_on": "#5f6870",
    "random_matched": "#7d868d",
    "oracle": "#8a9298",
    "with_skill_only": "#a67c1f",
    "relevance": "#7e64a8",
    "tfidf_knn": "#a8567f",
    "family_mean": "#b9683a",
    "ridge": "#7b8f3d",
    "dual_ridge": "#4c7a55",
    "self_judge": "#7a5548",
}

_DARK: dict[str, str] = {
    "paper": "#15191c",
    "ink": "#e8eaeb",
    "ink-2": "#a9b1b7",
    "ink-3": "#7b848b",
    "line": "#343b41",
    "grid": "#262c31",
    "accent": "#56c7bd",
    "help": "#56c7bd",
    "harm": "#e8866c",
    "tie": "#3c444a",
    "skilldelta": "#56c7bd",
    "stack": "#8fb3ec",
    "always_off": "#737c83",
    "always_on": "#b4bbc0",
    "random_matched": "#929aa1",
    "oracle": "#646d74",
    "with_skill_only": "#d9b15a",
    "relevance": "#b79fdd",
    "tfidf_knn": "#dc92b6",
    "family_mean": "#e09a6d",
    "ridge": "#b3c674",
    "dual_ridge": "#85b68e",
    "self_judge": "#c9a08f",
}

_FALLBACK = "ink-2"
_ROLE = re.compile(r"var\(--c-([\w-]+)\)")


def role(name: str) -> str:
    """The colour of a role or policy, as the style sheet's variable; an unknown policy is grey."""
    return f"var(--c-{name if name in _LIGHT else _FALLBACK})"


def policy_words(name: str) -> str:
    """A policy's name for people; an unknown one keeps its own."""
    return POLICY_WORDS.get(name, name)


def policy_scale(names: Iterable[str]) -> dict[str, Any]:
    """The Vega-Lite colour scale that gives every policy its own colour in every figure."""
    listed = list(names)
    return {"domain": [policy_words(name) for name in listed], "range": [role(name) for name in listed]}


def resolve(value: Any) -> Any:
    """The same value with the light colour in place of every role, for images."""
    if isinstance(value, dict):
        return {key: resolve(item) for key, item in value.items()}
    if isinstance(value, list):
        return [resolve(item) for item in value]
    if isinstance(value, str):
        return _ROLE.sub(lambda match: _LIGHT[match.group(1)], value)
    return value


def light_variables() -> str:
    """The light colours as CSS declarations."""
    return _declarations(_LIGHT)


def dark_variables() -> str:
    """The dark colours as CSS declarations."""
    return _declarations(_DARK)


def _declarations(colours: dict[str, str]) -> str:
    return "".join(f"--c-{name}:{colour};" for name, colour in colours.items())
