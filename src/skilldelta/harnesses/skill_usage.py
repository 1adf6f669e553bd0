"""How often each skill was loaded, from the harness's own session files: read-only, and nothing but counts is kept."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from skilldelta.regular_file import read_regular

# The newest sessions say enough.
_MOST_FILES = 5_000
_LARGEST_FILE = 64 << 20


class _Traces(NamedTuple):
    """Where a harness keeps its sessions, and what the loading of a skill looks like in them."""

    patterns: tuple[str, ...]
    marks: tuple[bytes, ...]
    """A line without any of these needs no closer look; one that has the last of several is left alone."""
    names: re.Pattern[bytes]
    prints_calls: bool = False
    """Whether its output without a person has the calls of tools as well."""


_READ_BY_SHELL = re.compile(rb"([\w.-]+)[/\\]+SKILL\.md")

# Relative to the folder of settings.
_TRACES: Mapping[str, _Traces] = {
    "claude-code": _Traces(
        ("projects/**/*.jsonl",),
        (b'"Skill"', b"<command-name>"),
        re.compile(
            rb'"name"\s*:\s*"Skill"\s*,\s*"input"\s*:\s*\{[^{}]{0,400}?"(?:skill|command|name)"\s*:\s*"([^"\\]{1,200})"'
            rb"|<command-name>/?([\w:.-]{1,200})</command-name>"
        ),
    ),
    "codex": _Traces(("sessions/**/*.jsonl", "archived_sessions/*.jsonl"), (b'_call"',), _READ_BY_SHELL),
    "gemini": _Traces(
        ("tmp/*/chats/*.json",),
        (b"activate_skill",),
        re.compile(rb'"name"\s*:\s*"activate_skill"\s*,\s*"args"\s*:\s*\{\s*"name"\s*:\s*"([^"\\]{1,200})"'),
    ),
    "pi": _Traces(("sessions/**/*.jsonl",), (b'"toolCall"',), _READ_BY_SHELL),
}


@dataclass(frozen=True, slots=True)
class SkillUsage:
    """Loads by skill, over some sessions."""

    sessions: int = 0
    loads: Mapping[str, int] = field(default_factory=dict)
    """How often a skill was loaded."""
    sessions_with: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether there were sessions to look at."""
        return self.sessions > 0


def read_usage(harness: str, folder: Path) -> SkillUsage:
    """Counts from the sessions below a harness's folder of settings; none for a harness whose files are not known."""
    traces = _TRACES.get(harness)
    if traces is None:
        return SkillUsage()
    loads: Counter[str] = Counter()
    sessions_with: Counter[str] = Counter()
    problems: list[str] = []
    files = sorted((path for pattern in traces.patterns for path in folder.glob(pattern)), key=_age, reverse=True)
    sessions = 0
    for path in files[:_MOST_FILES]:
        try:
            content = read_regular(path, _LARGEST_FILE)
        except OSError as error:
            problems.append(f"{path}: {error.strerror}; left out")
            continue
        sessions += 1
        used = Counter(_loaded(content, traces))
        loads.update(used)
        sessions_with.update(used.keys())
    return SkillUsage(sessions, dict(loads), dict(sessions_with), tuple(problems))


def loaded_skill(harness: str, folder: Path, printed: str, skills: Sequence[str]) -> bool | None:
    """Whether one of some skills was loaded in the sessions below a folder, or by what the harness printed.

    None where neither tells: the harness keeps no sessions that are understood.
    """
    traces = _TRACES.get(harness)
    if traces is None:
        return None
    usage = read_usage(harness, folder)
    names = {*usage.loads, *_loaded(printed.encode("utf-8", "replace"), traces)}
    if names.intersection(skills):
        return True
    return False if usage.is_known or traces.prints_calls else None


def _loaded(content: bytes, traces: _Traces) -> Iterator[str]:
    """The names of skills, without the names of their plugins, once per load."""
    if not any(mark in content for mark in traces.marks):
        return
    for line in content.splitlines():
        if any(mark in line for mark in traces.marks):
            # One call may name a file twice.
            names = {next(filter(None, match.groups())) for match in traces.names.finditer(line)}
            yield from (name.decode("utf-8", "replace").rpartition(":")[2] for name in sorted(names))


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
