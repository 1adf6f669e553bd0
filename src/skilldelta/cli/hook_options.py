"""The options of `skilldelta hook`: flags before the environment, before skilldelta.toml, before the defaults.

Read without click, whose import takes longer than a server's answer. `cli/hook.py` shows the same table as help.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from skilldelta.gate_settings import GATE_SETTINGS, SETTING
from skilldelta.regular_file import is_below, read_regular
from skilldelta.renames import SCOPES
from skilldelta.serve.hooks.server_client import DEFAULT_SERVER

FILE_NAME = "skilldelta.toml"
_MOST_SETTINGS = 1 << 20
_PATHS = ("bank", "skill_file", "state")
"""Settings whose value in a file is meant from the file's folder."""


_ON_THIS_MACHINE: Mapping[str, Callable[[str], bool]] = {
    "server": lambda value: re.fullmatch(r"http://(127\.0\.0\.1|localhost|\[::1\]):[0-9]{1,5}/?", value) is not None,
    "bank": lambda value: "://" not in value,
    "state": lambda value: value == "-",
    "encoder": lambda value: value in ("wordllama", "tfidf"),
    "encoder_url": lambda value: False,
    "encoder_model": lambda value: False,
    "time_limit": lambda value: False,
}
"""What a project's file may say of the settings that a stranger could misuse."""


class OptionError(ValueError):
    """A word, a variable or a key that cannot be taken; the message is one line."""


class HookOption(NamedTuple):
    """One option, as a person reads about it and as this file reads it."""

    name: str
    help: str
    metavar: str = "TEXT"
    default: str = ""
    variable: str = ""
    kind: type = str
    """bool is a flag without a value."""
    choices: tuple[str, ...] = ()
    several: bool = False
    """Given more than once; in the environment, separated as in PATH."""

    @property
    def key(self) -> str:
        """As files and programs write it."""
        return self.name.replace("-", "_")


OPTIONS: tuple[HookOption, ...] = (
    HookOption(
        "skill",
        "A skill on offer; of several, the one with the largest gain is used.",
        "NAME",
        variable="SKILLDELTA_SKILL",
        several=True,
    ),
    HookOption(
        "skill-file",
        "A SKILL.md on offer, named as in its front matter, or by --skill where there is one of each.",
        "PATH",
        variable="SKILLDELTA_SKILL_FILE",
        several=True,
    ),
    HookOption("bank", "The bank, where no server answers.", "PATH|URL", "skilldelta.bank", "SKILLDELTA_BANK"),
    HookOption("server", "The server to ask.", "URL", DEFAULT_SERVER, "SKILLDELTA_SERVER"),
    HookOption("timeout", "Seconds that the server may take.", "S", "1", "SKILLDELTA_TIMEOUT", kind=float),
    HookOption(
        "ask",
        "The server, the bank in this process, or (auto) the bank where no server answers.",
        default="auto",
        variable="SKILLDELTA_ASK",
        choices=("auto", "server", "bank"),
    ),
    HookOption(
        "fallback",
        "The decision when neither a server nor the bank can answer.",
        default="skip",
        variable="SKILLDELTA_FALLBACK",
        choices=("use", "skip", "abstain"),
    ),
    HookOption(
        "inject",
        "The skill's text, or the instruction to invoke the skill first.",
        default="text",
        variable="SKILLDELTA_INJECT",
        choices=("text", "invoke"),
    ),
    HookOption(
        "part",
        "Which part of a long skill this entry delivers, as in 2/3; 1/auto is 1/3 if SKILLDELTA_LONG_SKILLS is set, else 1/1.",
        "N/M",
        "1/1",
    ),
    HookOption(
        "state", "Where decisions of conversations are kept; - keeps none.", "FOLDER", variable="SKILLDELTA_STATE"
    ),
    HookOption("time-limit", "Seconds after which the fallback answers in any case.", "S", "10", kind=float),
    HookOption(
        "no-record",
        "Leave the decision log alone, for trying a hook out.",
        variable="SKILLDELTA_NO_RECORD",
        kind=bool,
    ),
    HookOption("agent", "The agent; needed when the bank has several.", "NAME", variable="SKILLDELTA_AGENT"),
    HookOption("suite", "Only this suite.", "NAME", variable="SKILLDELTA_SUITE"),
    HookOption("encoder", "The encoder, where no server answers.", "NAME", "wordllama", "SKILLDELTA_ENCODER"),
    HookOption("encoder-url", "An OpenAI-compatible endpoint.", "URL", variable="SKILLDELTA_ENCODER_URL"),
    HookOption("encoder-model", "Its model.", "NAME", variable="SKILLDELTA_ENCODER_MODEL"),
    HookOption(
        "gate",
        "A gate of skilldelta.toml: the settings in [gates.NAME]; flags go before them.",
        "NAME",
        variable="SKILLDELTA_GATE",
    ),
    *(
        HookOption(
            setting.name.replace("_", "-"),
            setting.help,
            setting.metavar or "TEXT",
            variable=setting.variable,
            kind=setting.kind,
            choices=setting.choices,
        )
        for setting in GATE_SETTINGS
    ),
)
_BY_NAME = {option.name: option for option in OPTIONS}


def read_options(
    words: Sequence[str], environment: Mapping[str, str], folder: Path | None = None
) -> tuple[str, dict[str, Any]]:
    """The host, and a value for every option: None where nothing sets it and there is no default."""
    host, flags = _from_words(words)
    variables = _from_environment(environment)
    path, settings = _project_settings(folder or Path.cwd())
    file = _trusted(_from_file(path, settings), {**variables, **flags})
    _, gate = {**file, **variables, **flags}.get("gate", ("", ""))
    named = _named_gate(path, settings, str(gate)) if gate else {}
    given = {**file, **variables, **named, **flags}
    defaults = {option.key: ("default", option.default) for option in OPTIONS if option.default}
    values = {**defaults, **given}
    return host, {
        option.key: _converted(option, *values[option.key]) if option.key in values else None for option in OPTIONS
    }


def _from_words(words: Sequence[str]) -> tuple[str, dict[str, tuple[str, Any]]]:
    host, found = "", dict[str, tuple[str, Any]]()
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if not word.startswith("--"):
            if host:
                raise OptionError(f"unexpected word {word[:60]!r}; name one harness, then options")
            host = word
            continue
        name, equals, value = word[2:].partition("=")
        option = _BY_NAME.get(name)
        if option is None:
            raise OptionError(f"no such option: {word[:60]}")
        if option.kind is bool:
            value = "true"
        elif not equals:
            if not waiting:
                raise OptionError(f"--{name} needs a value")
            value = waiting.pop(0)
        _put(found, option, f"--{name}", [value])
    return host, found


def _from_environment(environment: Mapping[str, str]) -> dict[str, tuple[str, Any]]:
    found = dict[str, tuple[str, Any]]()
    for option in OPTIONS:
        value = environment.get(option.variable) if option.variable else None
        if value:
            _put(found, option, option.variable, value.split(os.pathsep) if option.several else [value])
    return found


def _project_settings(folder: Path) -> tuple[Path | None, dict[str, Any]]:
    """The nearest skilldelta.toml upward, and what it says."""
    # A pipe, a device or a loop of links with that name is nobody's settings.
    path = next((place / FILE_NAME for place in (folder, *folder.parents) if (place / FILE_NAME).is_file()), None)
    if path is None:
        return None, {}
    if not is_below(path, path.parent):
        raise OptionError(f"{path}: is a link out of its folder; a project's settings are a file of the project")
    import tomllib

    try:
        return path, tomllib.loads(read_regular(path, _MOST_SETTINGS).decode())
    except (OSError, ValueError, RecursionError) as error:
        raise OptionError(f"{path}: cannot be read ({str(error)[:120]})") from None


def _from_file(path: Path | None, settings: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    """Keys of all commands, and the table [hook] above them."""
    own = settings.get("hook")
    values_of = dict[str, tuple[str, Any]]()
    for key, value in {**settings, **(own if isinstance(own, dict) else {})}.items():
        option = _BY_NAME.get(key.replace("_", "-"))
        if option is not None and path is not None and not isinstance(value, dict):
            values = [_as_word(word) for word in (value if isinstance(value, list) else [value])]
            _put(values_of, option, f"{path}: {key}", _placed(option, values, path.parent))
    return values_of


def _named_gate(path: Path | None, settings: Mapping[str, Any], name: str) -> dict[str, tuple[str, Any]]:
    """The settings in [gates.NAME]."""
    gates = settings.get("gates")
    table = gates.get(name) if isinstance(gates, dict) else None
    if not isinstance(table, dict):
        raise OptionError(
            f"there is no gate {name[:60]!r}: no skilldelta.toml from here upward has [gates.{name[:60]}]"
        )
    values_of = dict[str, tuple[str, Any]]()
    for key, value in table.items():
        if key.replace("-", "_") not in SETTING:
            raise OptionError(f"{path}: gates.{name}.{key}: a gate has no such setting")
        _put(values_of, _BY_NAME[key.replace("_", "-")], f"{path}: gates.{name}.{key}", [_as_word(value)])
    return values_of


def _trusted(file: dict[str, tuple[str, Any]], own: Mapping[str, object]) -> dict[str, tuple[str, Any]]:
    """A hook runs in every folder, also in one that a stranger has written: its file cannot say where prompts are sent."""
    for key, (source, value) in file.items():
        may_be = _ON_THIS_MACHINE.get(key)
        is_refused = may_be is not None and not may_be(str(value))
        if key == "skill_file":  # a text that would be put into the model's context
            project = os.path.dirname(source.partition(f"{FILE_NAME}: ")[0])
            is_refused = not all(is_below(path, project) for path in value)
        if key not in own and is_refused:
            raise OptionError(
                f"{source}: not taken from a project's file; say it by flag or variable, which are your own"
            )
    return file


def _as_word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _placed(option: HookOption, values: Iterable[str], folder: Path) -> list[str]:
    if option.key not in _PATHS:
        return list(values)
    return [value if "://" in value or value == "-" else str(folder / value) for value in values]


def _put(found: dict[str, tuple[str, Any]], option: HookOption, source: str, values: list[str]) -> None:
    if option.several:
        before = found[option.key][1] if option.key in found else ()
        found[option.key] = (source, (*before, *values))
    elif len(values) == 1:
        found[option.key] = (source, values[0])
    else:
        raise OptionError(f"{source}: one value is needed, not {len(values)}")


def _converted(option: HookOption, source: str, value: Any) -> Any:
    if option.choices and option.key in SETTING:
        value = SCOPES.get(value, value).replace("_", "-")  # old names and spellings
    if option.choices and value not in option.choices:
        raise OptionError(f"{source}: {value[:60]!r} is not one of {', '.join(option.choices)}")
    if option.kind is bool:
        return value.lower() in ("true", "1", "yes")
    if option.kind in (int, float):
        try:
            number = option.kind(value)
        except ValueError:
            raise OptionError(f"{source}: {value[:60]!r} is not a number") from None
        if option.metavar == "S" and not 0 < number <= 3600:
            raise OptionError(f"{source}: {value[:60]} seconds are not between 0 and 3600")
        return number
    return value
