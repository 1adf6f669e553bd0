"""Colors and style of the report and the dashboard: those of the page here, those of policies from their table.

Figures name a role, not a color: `var(--c-blend)`. In the page the style sheet gives the role its light, dark or
printed color without drawing again; for images `resolve` puts the light color in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from skilldelta.estimators.registry import ORACLE, Colors, policies, policy_words

_PAGE = {
    "page": Colors("#ffffff", "#15191c"),
    "ink": Colors("#1f2529", "#e8eaeb"),
    "ink-2": Colors("#565f66", "#a9b1b7"),
    "ink-3": Colors("#848c93", "#7b848b"),
    "line": Colors("#d9dcdf", "#343b41"),
    "grid": Colors("#eceef0", "#262c31"),
    "accent": Colors("#0b6b66", "#56c7bd"),
    "help": Colors("#0b6b66", "#56c7bd"),
    "harm": Colors("#b5482f", "#e8866c"),
    "tie": Colors("#d5d9dc", "#3c444a"),
}

_FALLBACK = "ink-2"
_ROLE = re.compile(r"var\(--c-([\w-]+)\)")


def role(name: str) -> str:
    """The color of a role or policy, as the style sheet's variable; an unknown policy is grey."""
    return f"var(--c-{name if name in _colors() else _FALLBACK})"


def policy_scale(names: Iterable[str]) -> dict[str, Any]:
    """The Vega-Lite color scale that gives every policy its own color in every figure."""
    listed = list(names)
    return {"domain": [policy_words(name) for name in listed], "range": [role(name) for name in listed]}


def resolve(value: Any) -> Any:
    """The same value with the light color in place of every role, for images."""
    if isinstance(value, dict):
        return {key: resolve(item) for key, item in value.items()}
    if isinstance(value, list):
        return [resolve(item) for item in value]
    if isinstance(value, str):
        return _ROLE.sub(lambda match: _colors()[match[1]].light, value)
    return value


def shared_style() -> str:
    """The style sheet of report and dashboard: light or dark as the system says, unless `data-theme` says otherwise."""
    light, dark = light_variables(), f"{dark_variables()}color-scheme:dark"
    return (
        asset("base.css") + f":root{{{light}}}"
        f":root[data-theme=dark]{{{dark}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}}}}}"
        f"@media print{{:root,:root[data-theme=dark]{{{light}color-scheme:light}}}}"
    )


def asset(name: str) -> str:
    """A style sheet or script of this package."""
    return files("skilldelta.report").joinpath("assets", name).read_text(encoding="utf-8")


def light_variables() -> str:
    """The light colors as CSS declarations."""
    return "".join(f"--c-{name}:{both.light};" for name, both in _colors().items())


def dark_variables() -> str:
    """The dark colors as CSS declarations."""
    return "".join(f"--c-{name}:{both.dark};" for name, both in _colors().items())


def _colors() -> dict[str, Colors]:
    return _PAGE | {entry.name: entry.colors for entry in (*policies().values(), ORACLE) if entry.colors}
