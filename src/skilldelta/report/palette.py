"""The report's colours.

Figures name a role, not a colour: `var(--c-skilldelta)`. In the page the style sheet gives the role its light, dark or
printed colour without drawing again; for images `resolve` puts the light colour in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from skilldelta.evaluation.policy_words import policy_words

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
