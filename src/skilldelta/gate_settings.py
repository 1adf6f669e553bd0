"""The settings of a gate, declared once: name, kind, choices, default and help.

Options of commands, environment variables, skilldelta.toml, hook options, HTTP bodies and MCP arguments are made from this
list, and `gate.Gate` takes its defaults from it. It imports nothing but the standard library, because a hook reads it
while a user waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Setting(NamedTuple):
    """One setting, as a person reads about it and as every surface checks it."""

    name: str
    kind: type
    """str, int, float, or bool for a flag."""
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    open_ends: bool = False
    """Whether `low` and `high` themselves are excluded."""
    metavar: str = ""
    default_words: str = ""
    """The default in words, where it depends on other settings."""

    @property
    def flag(self) -> str:
        """`--familiarity-limit`."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def variable(self) -> str:
        """`SKILLDELTA_FAMILIARITY_LIMIT`."""
        return f"SKILLDELTA_{self.name.upper()}"


GATE_SETTINGS: tuple[Setting, ...] = (
    Setting(
        "estimator",
        str,
        "blend",
        "Who predicts the gain: blend (SkillDelta), paper (the paper's rule), a control, or another package's estimator.",
        metavar="NAME",
    ),
    Setting("paper", bool, False, "The paper's rule and settings, and its Hoeffding band."),
    Setting("k", int, 6, "Neighbors.", low=1, metavar="N"),
    Setting(
        "scope",
        str,
        "skill-family",
        "Which pairs may inform: the family within the skill, the family whatever the skill, the skill, or all.",
        choices=("skill-family", "family", "skill", "global"),
    ),
    Setting("weighting", str, "cosine", "How neighbors are weighted.", choices=("cosine", "uniform")),
    Setting(
        "threshold",
        float,
        0.0,
        "Use the skill when the predicted gain is strictly larger, from -1 to 1.",
        metavar="GAIN",
    ),
    Setting(
        "rule",
        str,
        "plain",
        "plain compares the gain with the threshold; the others compare its interval.",
        choices=("plain", "three-way", "conservative"),
    ),
    Setting(
        "interval",
        str,
        None,
        "blend, exact, betting, empirical-bernstein, hoeffding-independent, hoeffding or conformal.",
        metavar="NAME",
        default_words="blend; exact for other estimators",
    ),
    Setting(
        "level",
        float,
        0.95,
        "The probability that the interval promises.",
        low=0,
        high=1,
        open_ends=True,
    ),
    Setting(
        "familiarity_limit",
        float,
        None,
        "A task whose familiarity is lower is skipped, or abstained from under the three-way rule.",
        low=0,
        high=1,
        default_words="0.01; 0 for the paper's rule",
    ),
    Setting(
        "prior_gain",
        float,
        0.0,
        "The gain that the blend pulls a skill with little evidence to; 0 asks a skill to show its worth.",
        low=-1,
        high=1,
        metavar="GAIN",
    ),
    Setting("success_worth", float, None, "What one success is worth; needs a price.", metavar="USD"),
    Setting("price", float, None, "What a million tokens cost.", metavar="USD"),
    Setting("lipschitz", float, 0.0, "B_delta of the paper: add L times the mean distance.", metavar="L"),
    Setting("epsilon", float, 0.0, "B_delta of the paper: add E.", metavar="E"),
)

SETTING: Mapping[str, Setting] = {setting.name: setting for setting in GATE_SETTINGS}

# What `paper` stands for: the paper's rule in its main setting, and the band of its theory.
PAPER_SETTINGS: Mapping[str, Any] = {
    "estimator": "paper",
    "k": 6,
    "weighting": "cosine",
    "scope": "family",
    "threshold": 0.0,
    "interval": "hoeffding",
    "familiarity_limit": None,
}
# Settings that make it another rule than the paper's; beside `paper` they are refused.
SETTLED_BY_PAPER = ("estimator", "interval", "success_worth", "price")
