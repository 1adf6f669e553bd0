"""The settings of a hook from its options: the skills on offer, the server, the folder of conversations."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from skilldelta.cli.hook_options import OptionError
from skilldelta.errors import InputError
from skilldelta.gate_settings import SETTING
from skilldelta.harnesses import harness_named
from skilldelta.harnesses.offered_skill import Delivery, OfferedSkill, Part, skill_name
from skilldelta.serve.hooks.hook_settings import Fallback, HookSettings, WhomToAsk
from skilldelta.serve.hooks.server_client import ServerAddress

LONG_SKILLS = "SKILLDELTA_LONG_SKILLS"
"""The variable that switches on the further entries of a plugin, which are a process each per prompt."""
_ENTRIES_OF_A_PLUGIN = 3


def hook_settings(
    host: str, options: Mapping[str, Any], environment: Mapping[str, str], folder: Path | None = None
) -> HookSettings:
    """The settings that the options spell out; `folder` is where the hook was started, by default here."""
    here = folder or Path.cwd()
    try:
        dialect = harness_named(host).dialect
    except InputError as error:
        raise OptionError(str(error)) from None
    if dialect is None:
        raise OptionError(f"{host} runs an adapter, not hooks; set it up with: skilldelta install {host}")
    return HookSettings(
        host=host,
        dialect=dialect,
        skills=offered_skills(options["skill"] or (), options["skill_file"] or (), here),
        agent=options["agent"] or "",
        suite=options["suite"] or "",
        gate={name: options[name] for name in SETTING if options[name] is not None},
        server=ServerAddress(options["server"], environment.get("SKILLDELTA_TOKEN", ""), options["timeout"]),
        ask=cast(WhomToAsk, options["ask"]),
        fallback=cast(Fallback, options["fallback"]),
        part=_part(options["part"], bool(environment.get(LONG_SKILLS))),
        delivery=cast(Delivery, options["inject"]),
        record=not options["no_record"],
        state=state_folder(options["state"], environment, here),
    )


def offered_skills(names: Sequence[str], files: Sequence[str], folder: Path | None = None) -> tuple[OfferedSkill, ...]:
    """Names and files as skills, each once; one of each is one skill. Relative paths start at the folder, or here."""
    paths = [_skill_file((folder or Path.cwd()) / Path(file).expanduser()) for file in files]
    if len(names) == 1 and len(paths) == 1:
        return (OfferedSkill(names[0], paths[0]),)
    found = {name: OfferedSkill(name) for name in names}
    found |= {skill.name: skill for skill in (OfferedSkill(skill_name(path), path) for path in paths)}
    return tuple(found.values())


def _skill_file(path: Path) -> Path:
    path = Path(os.path.abspath(path))
    return path / "SKILL.md" if path.is_dir() else path


def _part(text: str, long_skills: bool) -> Part:
    if text == "1/auto":  # the other entries of a plugin run only where the variable is set
        return Part(1, _ENTRIES_OF_A_PLUGIN if long_skills else 1)
    number, slash, of = text.partition("/")
    if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number[:9]) <= int(of[:9]) <= 1000):
        raise OptionError(f"--part: {text[:60]!r} is not like 2/3")
    return Part(int(number), int(of))


def state_folder(given: str | None, environment: Mapping[str, str], folder: Path | None = None) -> Path | None:
    """The folder that is named, else the one that the harness gives to its plugin, else the user's own."""
    if given == "-":
        return None
    if given:
        return (folder or Path()) / Path(given).expanduser()
    if environment.get("CLAUDE_PLUGIN_DATA"):
        return Path(environment["CLAUDE_PLUGIN_DATA"])
    home = environment.get("XDG_STATE_HOME") or environment.get("LOCALAPPDATA")
    try:
        return (Path(home) if home else Path.home() / ".local" / "state") / "skilldelta"
    except RuntimeError:  # no home
        return None
