"""The gains of skills, task by task, as a file: what a later check is held against.

A task is known by its id and a digest of its text, so that a changed task is not compared with its former self.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from skilldelta.errors import InputError, shown
from skilldelta.files import json_document, write_text
from skilldelta.records import text_digest

FORMAT = "skilldelta-baseline"
VERSION = 1
_DIGEST_LENGTH = 16


@dataclass(frozen=True, slots=True)
class TaskGain:
    """The gain of one task, and which text it was measured on."""

    gain: float
    text: str
    """The beginning of the text's digest; empty where the text is not known."""

    @classmethod
    def of(cls, gain: float, text: str) -> TaskGain:
        """The gain of a task with this text."""
        return cls(gain, text_digest(text)[:_DIGEST_LENGTH] if text else "")


@dataclass(frozen=True, slots=True)
class SkillGains:
    """The gains of one skill for one agent on one suite."""

    agent: str
    suite: str
    skill: str
    tasks: Mapping[str, TaskGain]

    @property
    def key(self) -> tuple[str, str, str]:
        """What a later measurement of the same thing has in common with it."""
        return (self.agent, self.suite, self.skill)


def write_baseline(path: Path, measured: Sequence[SkillGains], *, created: str = "") -> None:
    """Write gains to a file, whole or not at all.

    Parameters:
        path: The file.
        measured: From `bank_gains`, `recorded_gains` or `compared_gains`.
        created: The time that is noted.

    Examples:
        >>> write_baseline(folder / "baseline.json", bank_gains(bank))
    """
    skills = [asdict(skill) for skill in measured]
    document = {"format": FORMAT, "version": VERSION, "created": created, "skills": skills}
    write_text(path, json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n", errors="surrogatepass")


def read_baseline(path: Path) -> tuple[SkillGains, ...]:
    """The gains of a file that `write_baseline` wrote.

    Parameters:
        path: The file.

    Returns:
        The gains, skill by skill.

    Raises:
        InputError: The file is no baseline.

    Examples:
        >>> write_baseline(folder / "baseline.json", bank_gains(bank))
        >>> [one.skill for one in read_baseline(folder / "baseline.json")]
        ['units-skill', 'dates-skill']
    """
    document = json_document(path)
    if document.get("format") != FORMAT:
        raise InputError(f"{path}: no baseline; write one with `skilldelta check --write-baseline FILE`")
    if document.get("version") != VERSION:
        raise InputError(f"{path}: a baseline of version {shown(document.get('version'))}; only {VERSION} is known")
    skills = document.get("skills")
    if not isinstance(skills, list):
        raise InputError(f"{path}: the baseline holds no list of skills; write it again with --write-baseline")
    return tuple(_skill(path, f"skills[{place}]", row) for place, row in enumerate(skills))


def _skill(path: Path, place: str, row: Any) -> SkillGains:
    names = [row.get(name) if isinstance(row, dict) else None for name in ("agent", "suite", "skill")]
    tasks = row.get("tasks") if isinstance(row, dict) else None
    if not all(isinstance(name, str) for name in names) or not isinstance(tasks, dict):
        raise InputError(f"{path}: {place} needs agent, suite, skill and tasks; write the baseline again")
    agent, suite, skill = map(str, names)
    return SkillGains(agent, suite, skill, {task: _gain(path, place, task, one) for task, one in tasks.items()})


def _gain(path: Path, place: str, task: str, row: Any) -> TaskGain:
    gain = row.get("gain") if isinstance(row, dict) else None
    text = row.get("text", "") if isinstance(row, dict) else None
    is_number = isinstance(gain, int | float) and not isinstance(gain, bool) and math.isfinite(gain)
    if not is_number or not -1 <= float(gain) <= 1 or not isinstance(text, str):  # type: ignore[arg-type]
        raise InputError(
            f"{path}: {place}, task {shown(task)}: the gain must be a number from -1 to 1; write the baseline again"
        )
    return TaskGain(float(gain), text)  # type: ignore[arg-type]
