"""Options that several commands share, and the paths that options take.

Flags go before the environment (SKILLDELTA_*), before skilldelta.toml, before these defaults; the file is read, and values
are checked, in `setting_sources`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from skilldelta.errors import shown
from skilldelta.gate_settings import GATE_SETTINGS, PAPER_SETTINGS, SETTING, Setting
from skilldelta.renames import SCOPES, renamed

F = TypeVar("F", bound=Callable[..., Any])

# Bootstrap draws, and shuffles: ten times what the paper takes, in a memory that every machine has.
MOST_DRAWS = 100_000


class GivenPath(click.Path):
    """The path of a file or folder. Python takes an empty one, such as an unset variable of a shell, for this folder."""

    def __init__(self, *, file_okay: bool = True, dir_okay: bool = True) -> None:
        super().__init__(file_okay=file_okay, dir_okay=dir_okay, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A `Path`, which may or may not exist."""
        fault = _fault_of_path(os.fspath(value))
        if fault:
            self.fail(f"{shown(str(value))} {fault}", param, ctx)
        return super().convert(value, param, ctx)


def _fault_of_path(text: str) -> str:
    if not text:
        return "is an empty path; name a file or a folder"
    if "://" in text:
        return "is a URL; name a file or a folder on this machine"
    return "" if can_be_named(text) else "cannot be the name of a file; check the path"


def can_be_named(text: str) -> bool:
    """Whether a file can have this name."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


class OutputPath(GivenPath):
    """A file that the command writes, or a folder that it writes files into."""

    def __init__(self, *, folder: bool = False) -> None:
        super().__init__(file_okay=not folder, dir_okay=folder)
        self.folder = folder


def together(*options: Callable[[Any], Any]) -> Callable[[F], F]:
    """Several options as one decorator, in the order in which help shows them."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


class NameInBank(click.ParamType[str]):
    """The name of a skill, agent or suite, which shells complete from the bank."""

    def __init__(self, kind: Literal["skill", "agent", "suite"]) -> None:
        self.kind = kind
        self.name = "NAME"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The names of the bank that begin so; none where it cannot be read."""
        is_default = ctx.get_parameter_source("bank") in (None, ParameterSource.DEFAULT)
        option = os.environ.get("SKILLDELTA_BANK", "") if is_default else str(ctx.params["bank"])
        return [CompletionItem(name) for name in _names_in(option, self.kind) if name.startswith(incomplete)]


def _names_in(option: str, kind: str) -> list[str]:
    """The names of a kind in the bank that is meant: by an option or the environment, or the project's own."""
    from skilldelta.bank import Bank
    from skilldelta.cli.setting_sources import project_file
    from skilldelta.errors import SkillDeltaError

    try:
        file = None if option else project_file("predict", None)
        location = option or (file.values.get("bank") if file else None) or "skilldelta.bank"
        with Bank.open(location, create=False, readonly=True) as bank:
            names = {
                "skill": lambda: [skill.skill_id for skill in bank.skills()],
                "agent": lambda: [agent.name for agent in bank.agents()],
                "suite": bank.suites,
            }[kind]()
    except (SkillDeltaError, OSError):
        return []
    return sorted(set(names))


bank_option = click.option(
    "--bank",
    envvar="SKILLDELTA_BANK",
    default="skilldelta.bank",
    metavar="PATH|URL",
    help="The bank: a file, or a database URL.",
)
agent_option = click.option(
    "--agent",
    type=NameInBank("agent"),
    envvar="SKILLDELTA_AGENT",
    metavar="NAME",
    help="The agent; needed when the bank has several.",
)
suite_option = click.option(
    "--suite", type=NameInBank("suite"), envvar="SKILLDELTA_SUITE", metavar="NAME", help="Only this suite."
)
encoder_options = together(  # the key comes from the environment only
    click.option(
        "--encoder",
        envvar="SKILLDELTA_ENCODER",
        default="wordllama",
        help="wordllama, tfidf, openai, sentence-transformers, or another package's.",
    ),
    click.option(
        "--encoder-url", envvar="SKILLDELTA_ENCODER_URL", metavar="URL", help="An OpenAI-compatible endpoint."
    ),
    click.option("--encoder-model", envvar="SKILLDELTA_ENCODER_MODEL", metavar="NAME", help="Its model."),
)
control_options = together(  # what the paper's controls take from elsewhere
    click.option(
        "--partition",
        type=GivenPath(dir_okay=False),
        metavar="FILE",
        help="Ridge's own parts: a CSV or JSONL with task_id and split.",
    ),
    click.option(
        "--relevance",
        type=GivenPath(dir_okay=False),
        metavar="FILE",
        help="Relevance scores from elsewhere: a CSV or JSONL with task_id, score and maybe suite, agent, skill.",
    ),
)
panel_options = together(bank_option, agent_option, suite_option, encoder_options)


class SpelledChoice(click.Choice[str]):
    """One of several words; `_` is taken for `-`, and old names for those that replaced them."""

    def __init__(self, choices: Sequence[str], new_names: dict[str, str] | None = None) -> None:
        super().__init__(choices)
        self._new_names = new_names or {}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The choice as it is spelled today."""
        kind = param.name if param is not None and param.name else "choice"
        return super().convert(renamed(kind, str(value), self._new_names).replace("_", "-"), param, ctx)


def gate_option(setting: Setting, default: Any = None) -> Callable[[F], F]:
    """The option of one setting of a gate. It is None where nothing sets it, so that a named gate can."""
    if setting.kind is bool:
        return click.option(setting.flag, is_flag=True, envvar=setting.variable, help=setting.help)
    kind: Any = {int: click.INT, float: click.FLOAT}.get(setting.kind, click.STRING)
    if setting.choices:
        kind = SpelledChoice(setting.choices, SCOPES if setting.name == "scope" else None)
    elif setting.low is not None and setting.kind is float:
        kind = click.FloatRange(setting.low, setting.high, min_open=setting.open_ends, max_open=setting.open_ends)
    default_words = setting.default_words or (str(setting.default) if setting.default else False)
    return click.option(
        setting.flag,
        setting.name,
        type=kind,
        default=default,
        envvar=setting.variable,
        metavar=setting.metavar or None,
        show_default=default_words,
        help=setting.help,
    )


named_gate_option = click.option(
    "--gate",
    envvar="SKILLDELTA_GATE",
    metavar="NAME",
    help="A gate of skilldelta.toml: the settings in [gates.NAME]; flags go before them.",
)
gate_options = together(named_gate_option, *(gate_option(setting) for setting in GATE_SETTINGS))
# Of studies that choose the threshold or have prices of their own.
gate_options_without_prices = together(
    named_gate_option,
    *(gate_option(setting) for setting in GATE_SETTINGS if setting.name not in ("success_worth", "price")),
)
# Of `freeze`, whose threshold may also be a rule, and which seals the paper's rule unless told otherwise.
_FROZEN_DEFAULTS = {"estimator": PAPER_SETTINGS["estimator"], "scope": PAPER_SETTINGS["scope"]}
frozen_gate_options = together(
    named_gate_option,
    *(
        gate_option(setting._replace(default=_FROZEN_DEFAULTS.get(setting.name, setting.default)))
        for setting in GATE_SETTINGS
        if setting.name != "threshold"
    ),
)
threshold_option = gate_option(SETTING["threshold"], SETTING["threshold"].default)
rule_options = together(
    gate_option(SETTING["k"], SETTING["k"].default),
    gate_option(SETTING["scope"]),
    gate_option(SETTING["weighting"], SETTING["weighting"].default),
)


seed_option = click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of everything random.")
resamples_option = click.option(
    "--resamples",
    type=click.IntRange(0, MOST_DRAWS),
    default=10_000,
    help="Bootstrap draws; 0 switches intervals off.",
)
margin_option = click.option(
    "--margin",
    type=float,
    default=0.02,
    help="Differences of success below this count as none in the verdict; 0.02 is 2 points.",
)
interval_options = together(seed_option, resamples_option, margin_option)
evaluation_options = together(
    panel_options,
    gate_options,
    interval_options,
)
exclude_options = together(
    click.option(
        "--exclude", multiple=True, metavar="TASK_ID", help="Leave this task out, and say so; can be repeated."
    ),
    click.option(
        "--exclude-file",
        type=GivenPath(dir_okay=False),
        metavar="FILE",
        help="Tasks to leave out, one per line: the id, a tab, and the reason.",
    ),
)
corrections_option = click.option(
    "--corrections",
    type=GivenPath(dir_okay=False),
    metavar="FILE",
    help="Corrected gradings, one JSON object per line: task_id, condition, success, reason. Each is flagged.",
)

format_option = click.option("--format", "format_", default="auto", help="The files' format; auto looks inside.")
json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout, for programs.")
document_options = together(
    json_option,
    click.option("--output", type=OutputPath(), metavar="FILE", help="Write the JSON document to FILE."),
)
yes_option = click.option("--yes", is_flag=True, help="Do not ask.")

tokens_option = click.option(
    "--tokens",
    type=GivenPath(dir_okay=False),
    envvar="SKILLDELTA_TOKENS",
    default=lambda: Path.home() / ".config" / "skilldelta" / "tokens.json",
    show_default="~/.config/skilldelta/tokens.json",
    metavar="FILE",
    help="The file of the server's access tokens.",
)
keep_option = click.option(
    "--keep",
    type=click.Choice(["whole", "digest", "nothing"]),
    default="digest",
    help="What the decision log keeps of a task's text.",
)


def listening_options(port: int) -> Callable[[F], F]:
    """Where a server listens, and whom it lets in; each server has a default port of its own."""
    return together(
        click.option("--host", default="127.0.0.1", help="The address to listen on; others than loopback need tokens."),
        click.option("--port", type=click.IntRange(0, 65535), default=port, help="The port; 0 takes a free one."),
        click.option(
            "--allow-host",
            multiple=True,
            metavar="NAME",
            help="A name under which clients reach the server; repeatable.",
        ),
        click.option("--require-token", is_flag=True, help="Ask for a token on loopback, too."),
        tokens_option,
    )


def fallback_option(meaning: str) -> Callable[[F], F]:
    """--fallback, with what it is for in a command."""
    return click.option(
        "--fallback", type=click.Choice(["use", "skip", "abstain"]), envvar="SKILLDELTA_FALLBACK", help=meaning
    )
