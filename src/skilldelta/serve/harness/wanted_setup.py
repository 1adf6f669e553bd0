"""What a harness is to be set up with: the words of a hook's command line, hook entries, and settings for an adapter.

Hook entries are put into the settings of Claude Code, Codex and Gemini CLI, and taken out of them, as text edits.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from skilldelta.serve.harness import json_edit
from skilldelta.serve.hooks.hook_event import DIALECTS, HOSTS, Host
from skilldelta.serve.hooks.offered_skill import LONGEST, OfferedSkill, in_parts, skill_body

HarnessName = Literal["claude-code", "codex", "gemini", "opencode", "pi", "dsh"]
HARNESSES: tuple[HarnessName, ...] = get_args(HarnessName)
Scope = Literal["user", "project"]

HOOK_SECONDS = 15
"""What the harness gives a hook; the hook itself answers sooner."""
_LAST_SECONDS = 3
"""The most that Codex gives a hook at the end of a session."""

_OURS = re.compile(rf"skilldelta\S*\s+hook\s+(?:{'|'.join(HOSTS)})\b")


@dataclass(frozen=True, slots=True)
class WantedSetup:
    """The skills on offer, and how SkillDelta is to be started and asked."""

    command: tuple[str, ...]
    """The words that start `skilldelta`."""
    skills: tuple[OfferedSkill, ...]
    options: Mapping[str, str]
    """Options of the hook by name, those that differ from their defaults."""

    def hook_command(self, host: Host, part: str = "") -> str:
        """The command line of a hook entry, quoted for the shell that the harness gives it to."""
        words = [*self.command, "hook", host]
        for skill in self.skills:
            words += ["--skill", skill.name] if skill.file is None or len(self.skills) == 1 else []
            words += ["--skill-file", str(skill.file)] if skill.file is not None else []
        for name, value in self.options.items():
            words += [f"--{name}", value]
        words += ["--part", part] if part else []
        return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)

    def parts(self, host: Host) -> int:
        """How many hook entries it takes to inject the longest of the skills."""
        texts = [skill_body(skill.file) for skill in self.skills if skill.file is not None]
        if self.options.get("inject") == "invoke":
            return 1
        return max((len(in_parts("", text, LONGEST[host])) for text in texts), default=1)

    def adapter_settings(self) -> dict[str, Any]:
        """The settings of the adapters for OpenCode, pi and DeepSeek Harness, which supply one skill."""
        skill = self.skills[0]
        names = {"server": "server", "bank": "bank", "agent": "agent", "suite": "suite", "fallback": "failMode"}
        told = {names[name]: value for name, value in self.options.items() if name in names}
        timeout = {"timeout": float(self.options["timeout"])} if "timeout" in self.options else {}
        file = {} if skill.file is None else {"skillFile": str(skill.file)}
        return {"skill": skill.name, **file, **told, **timeout}


def skilldelta_command(program: str) -> tuple[str, ...]:
    """The words that start this very installation, from the name under which it was started."""
    path = Path(program)
    if path.name in ("skilldelta", "skilldelta.exe") and path.is_file():
        return (str(path.absolute()),)
    beside = Path(sys.executable).with_name("skilldelta.exe" if sys.platform == "win32" else "skilldelta")
    return (str(beside),) if beside.is_file() else (sys.executable, "-m", "skilldelta")


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
    if installed_entries(text, host) == new:
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
