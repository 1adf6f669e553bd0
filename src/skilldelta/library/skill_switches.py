"""A harness's own way to list a skill by name only, or not at all: which file says it, and what the file says then."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from skilldelta.errors import InputError
from skilldelta.harnesses import json_edit
from skilldelta.harnesses.installation import FileChange, content_of
from skilldelta.library.installed_skills import InstalledSkill

Listing = Literal["on", "name only", "off"]

_FILES = {
    "claude-code": "settings.json",
    "codex": "config.toml",
    "gemini": "settings.json",
    "opencode": "opencode.json",
    "pi": "settings.json",
}
# A skill that is off stays callable by its name where the harness has such a state.
_CLAUDE = {"on": "on", "name only": "name-only", "off": "user-invocable-only"}


def switchable(harness: str) -> bool:
    """Whether SkillDelta knows how this harness switches single skills."""
    return harness in _FILES


def has_name_only(harness: str) -> bool:
    """Whether the harness can list a skill without its description."""
    return harness == "claude-code"


def current_listing(harness: str, folder: Path) -> dict[str, Listing]:
    """What the user's settings say now, by name (for pi, by path); a skill that they do not name is on."""
    if harness not in _FILES:
        return {}
    text = (content_of(folder / _FILES[harness]) or b"").decode("utf-8", "replace")
    try:
        settings = tomllib.loads(text) if harness == "codex" else json_edit.parse(text).value
    except (InputError, tomllib.TOMLDecodeError):
        return {}  # whoever wants to change the file is told
    return _listed(harness, settings if isinstance(settings, dict) else {})


def _listed(harness: str, settings: Mapping[str, Any]) -> dict[str, Listing]:
    if harness == "claude-code":
        states: dict[str, Listing] = {"name-only": "name only", "user-invocable-only": "off", "off": "off"}
        overrides = _object(settings.get("skillOverrides"))
        return {name: states[value] for name, value in overrides.items() if value in states}
    if harness == "codex":
        rows = [row for row in _array(_object(settings.get("skills")).get("config")) if isinstance(row, dict)]
        return {str(row.get("name") or row.get("path")): "off" for row in rows if row.get("enabled") is False}
    if harness == "gemini":
        return {str(name): "off" for name in _array(_object(settings.get("skills")).get("disabled"))}
    if harness == "opencode":
        rules = _object(_object(settings.get("permission")).get("skill"))
        return {name: "off" for name, rule in rules.items() if rule == "deny"}
    return {str(path)[1:]: "off" for path in _array(settings.get("skills")) if str(path).startswith("-")}


def listing_change(harness: str, folder: Path, listings: Mapping[InstalledSkill, Listing]) -> FileChange:
    """The settings file as it is, and with the listing of some skills as wanted.

    Raises:
        InputError: the harness has no such setting, or the file is not what the harness itself would read.
    """
    if harness not in _FILES:
        raise InputError(f"{harness} has no setting for single skills; its gate leaves skipped skills out of the list")
    path = folder / _FILES[harness]
    before = content_of(path)
    try:
        text = (before or b"").decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text; SkillDelta leaves it alone") from None
    try:
        for skill, listing in listings.items():
            text = _switched(harness, text, skill, listing)
        if harness == "codex":
            tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: cannot take another [[skills.config]] ({error}); edit it by hand") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return FileChange(path, before, text.encode() if listings else before)


def _switched(harness: str, text: str, skill: InstalledSkill, listing: Listing) -> str:
    if harness == "claude-code":
        return json_edit.with_member(text, ["skillOverrides", skill.name], _CLAUDE[listing])
    if listing != "off":
        return text  # these harnesses list a skill, or do not
    if harness == "codex":
        begin = text if not text or text.endswith("\n") else f"{text}\n"
        return f"{begin}\n[[skills.config]]\nname = {json.dumps(skill.name)}\nenabled = false\n"
    if harness == "gemini":
        return json_edit.appended(text, ["skills", "disabled"], skill.name)
    if harness == "opencode":
        return json_edit.with_member(text, ["permission", "skill", skill.name], "deny")
    return json_edit.appended(text, ["skills"], f"-{skill.path.parent}")


def without_switches(harness: str, before: str, now: str) -> str:
    """A settings file that was changed since, without the switches that it did not have before."""
    if harness == "codex":
        added = set(_listed(harness, tomllib.loads(now))) - set(_listed(harness, tomllib.loads(before)))
        for name in sorted(added):
            now = now.replace(f"\n[[skills.config]]\nname = {json.dumps(name)}\nenabled = false\n", "", 1)
        return now
    old = json_edit.parse(before).value
    if harness in ("gemini", "pi"):
        path = ["skills", "disabled"] if harness == "gemini" else ["skills"]
        values = _at(old, path) or []
        return json_edit.without(now, path, lambda element: element not in values and isinstance(element, str))
    path = ["skillOverrides"] if harness == "claude-code" else ["permission", "skill"]
    previous = _object(_at(old, path))
    for name, value in _object(_at(json_edit.parse(now).value, path)).items():
        if name not in previous:
            now = json_edit.without_member(now, [*path, name])
        elif value != previous[name]:
            now = json_edit.with_member(now, [*path, name], previous[name])
    return now


def _at(document: Any, path: list[str]) -> Any:
    for key in path:
        document = _object(document).get(key)
    return document


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _array(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
