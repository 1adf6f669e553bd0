"""The hook entries of Claude Code, Codex and Gemini CLI, put into their settings and taken out of them as text edits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from skilldelta.serve.harness import json_edit
from skilldelta.serve.harness.wanted_setup import WantedSetup
from skilldelta.serve.hooks.hook_event import DIALECTS, HOSTS, Host

HOOK_SECONDS = 15
"""What the harness gives a hook; the hook itself answers sooner."""
_LAST_SECONDS = 3
"""The most that Codex gives a hook at the end of a session."""

_OURS = re.compile(rf"skilldelta\S*\s+hook\s+(?:{'|'.join(HOSTS)})\b")


@dataclass(frozen=True, slots=True)
class Entry:
    """A group of hooks at one event."""

    event: str
    group: dict[str, Any]

    @property
    def commands(self) -> list[str]:
        """What the harness runs."""
        return [str(hook.get("command", "")) for hook in self.group["hooks"]]


def entries(host: Host, wanted: WantedSetup) -> list[Entry]:
    """Injection with every submitted prompt, denial of the skill tool, and the end of a conversation."""
    dialect, count = DIALECTS[host], wanted.parts(host)
    parts = [f"{i}/{count}" for i in range(1, count + 1)] if count > 1 else [""]
    plain = _hook(host, wanted.hook_command(host))
    found = [Entry(dialect.prompt, {"hooks": [_hook(host, wanted.hook_command(host, part)) for part in parts]})]
    if host != "codex":  # has no skill tool
        found.append(Entry(dialect.tool, {"matcher": dialect.skill_tool, "hooks": [plain]}))
    last = {**plain, "timeout": _LAST_SECONDS} if host == "codex" else plain
    return [*found, Entry(dialect.end, {"hooks": [last]})]


def with_entries(text: str, host: Host, wanted: WantedSetup) -> str:
    """The settings with exactly these entries of ours; as they are where they have them already."""
    new = entries(host, wanted)
    if _as_pairs(installed_entries(text, host)) == _as_pairs(new):
        return text
    text = without_entries(text, host)
    for entry in new:
        text = json_edit.appended(text, ["hooks", entry.event], entry.group)
    return text


def without_entries(text: str, host: Host) -> str:
    """The settings without entries of ours."""
    for event in _events(host):
        text = json_edit.without(text, ["hooks", event], _is_ours)
    return text


def installed_entries(text: str, host: Host) -> list[Entry]:
    """The entries of ours that the settings have."""
    hooks = json_edit.parse(text).value
    hooks = hooks.get("hooks") if isinstance(hooks, dict) else None
    groups = {event: hooks.get(event) for event in _events(host)} if isinstance(hooks, dict) else {}
    return [
        Entry(event, group)
        for event, several in groups.items()
        if isinstance(several, list)
        for group in several
        if _is_ours(group)
    ]


def _hook(host: Host, command: str) -> dict[str, Any]:
    if host == "gemini":
        return {"name": "skilldelta", "type": "command", "command": command, "timeout": 1000 * HOOK_SECONDS}
    return {"type": "command", "command": command, "timeout": HOOK_SECONDS}


def _is_ours(group: object) -> bool:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(hooks, list) and any(
        isinstance(hook, dict) and _OURS.search(str(hook.get("command", "")).replace("'", "").replace('"', ""))
        for hook in hooks
    )


def _events(host: Host) -> tuple[str, str, str]:
    dialect = DIALECTS[host]
    return dialect.prompt, dialect.tool, dialect.end


def _as_pairs(found: list[Entry]) -> list[tuple[str, dict[str, Any]]]:
    return [(entry.event, entry.group) for entry in found]
