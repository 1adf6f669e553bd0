"""Options that several commands share. Flags go before the environment (SKILLDELTA_*), before skilldelta.toml, before
these defaults; the file is read in `setting_sources`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from skilldelta.cli.given_values import GivenPath, OutputPath

F = TypeVar("F", bound=Callable[..., Any])

DEFAULT_BANK = "skilldelta.bank"
MOST_DRAWS = 100_000
"""Bootstrap draws, and shuffles: ten times what the paper takes, in a memory that every machine has."""


def bank_option(function: F) -> F:
    """--bank PATH|URL."""
    return click.option(
        "--bank",
        envvar="SKILLDELTA_BANK",
        default=DEFAULT_BANK,
        show_default=True,
        metavar="PATH|URL",
        help="The bank: a file, or a database URL.",
    )(function)


def tokens_option(function: F) -> F:
    """--tokens FILE."""
    return click.option(
        "--tokens",
        type=GivenPath(dir_okay=False),
        envvar="SKILLDELTA_TOKENS",
        default=lambda: Path.home() / ".config" / "skilldelta" / "tokens.json",
        show_default="~/.config/skilldelta/tokens.json",
        metavar="FILE",
        help="The file of the server's access tokens.",
    )(function)


def json_option(function: F) -> F:
    """--json."""
    return click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout, for programs.")(function)


def output_option(function: F) -> F:
    """--output FILE."""
    return click.option("--output", type=OutputPath(), metavar="FILE", help="Write the JSON document to FILE.")(
        function
    )


def agent_option(function: F) -> F:
    """--agent."""
    return click.option(
        "--agent", envvar="SKILLDELTA_AGENT", metavar="NAME", help="The agent; needed when the bank has several."
    )(function)


def suite_option(function: F) -> F:
    """--suite."""
    return click.option("--suite", envvar="SKILLDELTA_SUITE", metavar="NAME", help="Only this suite.")(function)


def seed_option(function: F) -> F:
    """--seed."""
    return click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of everything random."
    )(function)


def resamples_option(function: F) -> F:
    """--resamples."""
    return click.option(
        "--resamples",
        type=click.IntRange(0, MOST_DRAWS),
        default=10_000,
        show_default=True,
        help="Bootstrap draws; 0 switches intervals off.",
    )(function)


def margin_option(function: F) -> F:
    """--margin."""
    return click.option(
        "--margin",
        type=float,
        default=0.02,
        show_default=True,
        help="Differences of success below this count as none in the verdict; 0.02 is 2 points.",
    )(function)


def level_option(function: F) -> F:
    """--level."""
    return click.option(
        "--level",
        type=click.FloatRange(0.5, 0.9999),
        default=0.95,
        show_default=True,
        help="How sure an interval is to hold the truth.",
    )(function)


def exclude_options(function: F) -> F:
    """--exclude and --exclude-file."""
    function = click.option(
        "--exclude-file",
        type=GivenPath(dir_okay=False),
        metavar="FILE",
        help="Tasks to leave out, one per line: the id, a tab, and the reason.",
    )(function)
    return click.option(
        "--exclude", multiple=True, metavar="TASK_ID", help="Leave this task out, and say so; can be repeated."
    )(function)


def corrections_option(function: F) -> F:
    """--corrections."""
    return click.option(
        "--corrections",
        type=GivenPath(dir_okay=False),
        metavar="FILE",
        help="Corrected gradings, one JSON object per line: task_id, condition, success, reason. Each is flagged.",
    )(function)


def encoder_options(function: F) -> F:
    """--encoder and where an endpoint is; the key comes from the environment only."""
    function = click.option("--encoder-model", envvar="SKILLDELTA_ENCODER_MODEL", metavar="NAME", help="Its model.")(
        function
    )
    function = click.option(
        "--encoder-url", envvar="SKILLDELTA_ENCODER_URL", metavar="URL", help="An OpenAI-compatible endpoint."
    )(function)
    return click.option(
        "--encoder",
        envvar="SKILLDELTA_ENCODER",
        default="wordllama",
        show_default=True,
        help="wordllama, tfidf, openai or sentence-transformers.",
    )(function)


def rule_options(function: F) -> F:
    """--k, --scope, --weighting: how neighbours are chosen and averaged."""
    function = click.option(
        "--weighting",
        type=click.Choice(["cosine", "uniform"]),
        default="cosine",
        show_default=True,
        help="How neighbours are weighted.",
    )(function)
    function = click.option(
        "--scope",
        type=click.Choice(["family", "skill", "global"]),
        help="Which pairs may inform: the target's family where known, else its skill.",
    )(function)
    return click.option("--k", type=int, default=6, show_default=True, help="Neighbours.")(function)


def threshold_option(function: F) -> F:
    """--threshold."""
    return click.option(
        "--threshold",
        type=float,
        envvar="SKILLDELTA_THRESHOLD",
        default=0.0,
        show_default=True,
        help="Use the skill when the predicted gain is strictly larger.",
    )(function)
