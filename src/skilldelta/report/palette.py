"""The report's colours: those of the page here, those of policies from their table.

Figures name a role, not a colour: `var(--c-skilldelta)`. In the page the style sheet gives the role its light, dark or
printed colour without drawing again; for images `resolve` puts the light colour in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from skilldelta.evaluation.policy_table import ORACLE, Colours, policies, policy_words

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
}

_FALLBACK = "ink-2"
_ROLE = re.compile(r"var\(--c-([\w-]+)\)")


def role(name: str) -> str:
    """The colour of a role or policy, as the style sheet's variable; an unknown policy is grey."""
    return f"var(--c-{name if name in _LIGHT or name in _of_policies() else _FALLBACK})"


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
        return _ROLE.sub(lambda match: _LIGHT.get(match[1]) or _of_policies()[match[1]].light, value)
    return value


def light_variables() -> str:
    """The light colours as CSS declarations."""
    return _declarations(_LIGHT | {name: both.light for name, both in _of_policies().items()})


def dark_variables() -> str:
    """The dark colours as CSS declarations."""
    return _declarations(_DARK | {name: both.dark for name, both in _of_policies().items()})


def _declarations(colours: dict[str, str]) -> str:
    return "".join(f"--c-{name}:{colour};" for name, colour in colours.items())


def _of_policies() -> dict[str, Colours]:
    return {entry.name: entry.colours for entry in (*policies().values(), ORACLE) if entry.colours}
