"""Files that name single records of a study: tasks to exclude, executions that were corrected, targets to freeze.

Nothing unknown passes: a mistyped key would change nothing in silence, and an outcome has no place among targets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilldelta.errors import InputError, shown
from skilldelta.evaluation.amendments import Correction, Exclusion
from skilldelta.files import json_lines, lines
from skilldelta.json_text import decode_json

_CORRECTION_KEYS = {"task_id", "condition", "success", "reason", "skill", "repetition"}
_TARGET_KEYS = {"task_id", "text", "question", "family", "skill"}


@dataclass(frozen=True, slots=True)
class TargetTask:
    """A task whose outcome is not known yet."""

    task_id: str
    text: str
    skill: str
    family: str = ""


def read_exclusions(path: Path) -> tuple[Exclusion, ...]:
    r"""Tasks to leave out, from a file.

    Parameters:
        path: One task per line: its id and, after a tab, the reason; or a JSON object with task_id and reason.

    Returns:
        The exclusions.

    Examples:
        >>> _ = (folder / "excluded.txt").write_text("dates-0\tasked twice")
        >>> read_exclusions(folder / "excluded.txt")
        (Exclusion(task_id='dates-0', reason='asked twice'),)
    """
    return tuple(_exclusion(*line) for line in _lines(path))


def read_corrections(path: Path) -> tuple[Correction, ...]:
    """Corrected gradings from a file.

    Parameters:
        path: One JSON object per line: task_id, condition, success and, where known, reason, skill and repetition.

    Returns:
        The corrections.

    Examples:
        >>> _ = (folder / "corrected.jsonl").write_text('{"task_id": "units-3", "condition": "skip", "success": 0}')
        >>> read_corrections(folder / "corrected.jsonl")[0].success
        0.0
    """
    return tuple(_correction(*line) for line in _lines(path))


def read_targets(path: Path) -> tuple[TargetTask, ...]:
    """Tasks without outcomes, from a file.

    Parameters:
        path: One JSON object per line: task_id, text, skill and, where known, family.

    Returns:
        The targets.

    Examples:
        >>> _ = (folder / "targets.jsonl").write_text('{"task_id": "new", "text": "two miles?", "skill": "units-skill"}')
        >>> read_targets(folder / "targets.jsonl")
        (TargetTask(task_id='new', text='two miles?', skill='units-skill', family=''),)
    """
    targets = tuple(_target(row, f"{path}:{number}") for number, row in json_lines(path))
    if not targets:
        raise InputError(f"{path}: no targets; write one JSON object per line with task_id, text and skill")
    return targets


def _lines(path: Path) -> list[tuple[str, str]]:
    """Every line that is not empty, with its place."""
    return [(line.strip(), f"{path}:{number}") for number, line in lines(path) if line.strip()]


def _exclusion(line: str, where: str) -> Exclusion:
    if not line.startswith("{"):
        task_id, _, reason = line.partition("\t")
        return Exclusion(task_id.strip(), reason.strip())
    row = _object(line, where, {"task_id", "reason"})
    return Exclusion(_text(row, "task_id", where), _text(row, "reason", where, default=""))


def _correction(line: str, where: str) -> Correction:
    row = _object(line, where, _CORRECTION_KEYS)
    condition, success, repetition = row.get("condition"), row.get("success"), row.get("repetition")
    if condition not in ("use", "skip"):
        raise InputError(f"{where}: condition must be use or skip, got {condition!r}")
    if isinstance(success, bool) or not isinstance(success, int | float) or not 0 <= success <= 1:
        raise InputError(f"{where}: success must be a number from 0 to 1, got {shown(success)}")
    if repetition is not None and (isinstance(repetition, bool) or not isinstance(repetition, int)):
        raise InputError(f"{where}: repetition must be a whole number, got {repetition!r}")
    return Correction(
        task_id=_text(row, "task_id", where),
        condition=condition,
        success=float(success),
        reason=_text(row, "reason", where, default=""),
        skill=_text(row, "skill", where) if "skill" in row else None,
        repetition=repetition,
    )


def _target(row: Mapping[str, Any], where: str) -> TargetTask:
    unknown = sorted(set(row) - _TARGET_KEYS)
    if unknown:
        # An outcome in the target file would make the seal worthless, so nothing unknown passes.
        raise InputError(f"{where}: {unknown[0]!r} does not belong to a target; keep task_id, text, skill and family")
    text = row.get("text", row.get("question"))
    for name, value in (("task_id", row.get("task_id")), ("text", text), ("skill", row.get("skill"))):
        if not isinstance(value, str) or not value.strip():
            raise InputError(f"{where}: {name} is missing or empty")
    return TargetTask(row["task_id"], str(text), row["skill"], str(row.get("family") or ""))


def _object(line: str, where: str, fields: set[str]) -> dict[str, Any]:
    try:
        row = decode_json(line)
    except ValueError:
        raise InputError(f"{where}: not JSON; write one object per line") from None
    if not isinstance(row, dict):
        raise InputError(f"{where}: expected an object with {', '.join(sorted(fields))}")
    unknown = sorted(set(row) - fields)
    if unknown:
        raise InputError(f"{where}: unknown key {unknown[0]!r}; keep {', '.join(sorted(fields))}")
    return row


def _text(row: Mapping[str, Any], key: str, where: str, *, default: str | None = None) -> str:
    value = row.get(key, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise InputError(f"{where}: {key} is missing or not a text")
    return value
