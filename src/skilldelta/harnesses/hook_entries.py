"""Hook entries in a harness's JSON settings, put there and taken out as text edits: everything else stays as it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skilldelta.harnesses import json_edit
from skilldelta.harnesses.harness import Dialect, FileContent, Harness
from skilldelta.harnesses.wanted_setup import WantedSetup

# Seconds that the harness gives a hook; the hook itself answers sooner.
_HOOK_SECONDS = 15


@dataclass(frozen=True, slots=True)
class HookEntries:
    """The entries of a harness that runs command lines at its events."""

    file: str
    """Below the folder of settings."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """Further fields of every hook."""
    per_second: int = 1
    """The unit of a hook's time limit: 1000 for milliseconds."""
    end_seconds: int = _HOOK_SECONDS
    """The most that a hook is given at the end of a conversation."""

    def files(self, harness: Harness, folder: Path) -> Sequence[Path]:
        """The one settings file."""
        return [folder / self.file]

    def wanted(self, harness: Harness, folder: Path, setup: WantedSetup) -> Sequence[FileContent]:
        """The settings with exactly the wanted entries of ours; as they are where they have them already."""
        path = folder / self.file
        text = read_text_exactly(path)
        entries = self._entries(harness, setup)
        if _our_groups(text, _dialect(harness), harness.name) != entries:
            text = self.cleaned(harness, path, text)
            for event, group in entries:
                text = json_edit.appended(text, ["hooks", event], group)
        return [FileContent(path, text.encode())]

    def cleaned(self, harness: Harness, path: Path, text: str) -> str:
        """The settings without entries of ours."""
        for event in _events(_dialect(harness)):
            text = json_edit.without(text, ["hooks", event], lambda group: _is_ours(group, harness.name))
        return text

    def commands(self, harness: Harness, text: str) -> Mapping[str, Sequence[str]]:
        """Our command lines, by event."""
        commands: dict[str, list[str]] = {}
        for event, group in _our_groups(text, _dialect(harness), harness.name):
            commands.setdefault(event, []).extend(str(hook["command"]) for hook in group["hooks"] if "command" in hook)
        return commands

    def modules(self, harness: Harness, folder: Path) -> Iterable[Path]:
        """None: the harness runs command lines."""
        return []

    def _entries(self, harness: Harness, setup: WantedSetup) -> list[tuple[str, dict[str, Any]]]:
        """Injection with every submitted prompt, denial of the skill tool, and the end of a conversation."""
        dialect = _dialect(harness)
        if setup.http:
            hook = {
                **self.fields,
                "type": "http",
                "url": setup.hook_url(harness.name),
                "timeout": self.per_second * _HOOK_SECONDS,
            }
            matchers = {dialect.tool: {"matcher": dialect.skill_tool}, dialect.start: {"matcher": "compact"}}
            return [(event, {**matchers.get(event, {}), "hooks": [hook]}) for event in _events(dialect)]
        count = setup.parts(dialect.longest)
        parts = [f"{number}/{count}" for number in range(1, count + 1)] if count > 1 else [""]
        plain = setup.hook_command(harness.name)
        prompt = {"hooks": [self._hook(setup.hook_command(harness.name, part)) for part in parts]}
        entries: list[tuple[str, dict[str, Any]]] = [(dialect.prompt, prompt)]
        if dialect.skill_tool:
            entries.append((dialect.tool, {"matcher": dialect.skill_tool, "hooks": [self._hook(plain)]}))
        if dialect.start:  # a compaction takes the injected text out of the conversation
            entries.append((dialect.start, {"matcher": "compact", **prompt}))
        return [*entries, (dialect.end, {"hooks": [self._hook(plain, self.end_seconds)]})]

    def _hook(self, command: str, seconds: int = _HOOK_SECONDS) -> dict[str, Any]:
        return {**self.fields, "type": "command", "command": command, "timeout": seconds * self.per_second}


def read_text_exactly(path: Path) -> str:
    """The text of a file with its line ends as they are; empty where there is none."""
    from skilldelta.harnesses.installation import content_of  # a hook needs none of it, and would wait for it

    return (content_of(path) or b"").decode("utf-8")


def _dialect(harness: Harness) -> Dialect:
    assert harness.dialect is not None, f"{harness.name} has hook entries, so it needs a dialect"
    return harness.dialect


def _events(dialect: Dialect) -> list[str]:
    return [event for event in (dialect.prompt, dialect.tool, dialect.start, dialect.end) if event]


def _our_groups(text: str, dialect: Dialect, harness: str) -> list[tuple[str, dict[str, Any]]]:
    hooks = json_edit.parse(text).value
    hooks = hooks.get("hooks") if isinstance(hooks, dict) else None
    groups = {event: hooks.get(event) for event in _events(dialect)} if isinstance(hooks, dict) else {}
    return [
        (event, group)
        for event, several in groups.items()
        if isinstance(several, list)
        for group in several
        if _is_ours(group, harness)
    ]


def _is_ours(group: object, harness: str) -> bool:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    pattern = re.compile(rf"skilldelta\S*\s+hook\s+{re.escape(harness)}(\s|$)")
    return isinstance(hooks, list) and any(
        isinstance(hook, dict)
        and (
            pattern.search(str(hook.get("command", "")).replace("'", "").replace('"', ""))
            or f"/v1/hooks/{harness}?" in str(hook.get("url", ""))
        )
        for hook in hooks
    )
