"""Files and flags that name single records of a study: tasks to exclude, and executions that were corrected."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilldelta.errors import InputError

if TYPE_CHECKING:
    from skilldelta.evaluation.corrections import Correction
    from skilldelta.evaluation.exclusions import Exclusion

_ON_COMMAND_LINE = "named on the command line"
_CORRECTION_KEYS = {"task_id", "condition", "success", "reason", "skill", "repetition"}


def exclusions(options: Mapping[str, Any]) -> tuple[Exclusion, ...]:
    """--exclude and --exclude-file together, in that order."""
    from skilldelta.evaluation.exclusions import Exclusion

    named = [Exclusion(task_id, _ON_COMMAND_LINE) for task_id in options.get("exclude") or ()]
    path = options.get("exclude_file")
    return (*named, *([] if path is None else [_exclusion(*line) for line in _lines(path)]))


def corrections(options: Mapping[str, Any]) -> tuple[Correction, ...]:
    """--corrections: one JSON object per line."""
    path = options.get("corrections")
    return () if path is None else tuple(_correction(*line) for line in _lines(path))


def _lines(path: Path) -> list[tuple[str, str]]:
    """Every line that is not empty, with its place."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None
    return [(line.strip(), f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip()]


def _exclusion(line: str, where: str) -> Exclusion:
    """A JSON object with task_id and reason, or a task id and, after a tab, the reason."""
    from skilldelta.evaluation.exclusions import Exclusion

    if not line.startswith("{"):
        task_id, _, reason = line.partition("\t")
        return Exclusion(task_id.strip(), reason.strip())
    row = _object(line, where, {"task_id", "reason"})
    return Exclusion(_text(row, "task_id", where), _text(row, "reason", where, default=""))


def _correction(line: str, where: str) -> Correction:
    from skilldelta.evaluation.corrections import Correction

    row = _object(line, where, _CORRECTION_KEYS)
    condition, success, repetition = row.get("condition"), row.get("success"), row.get("repetition")
    if condition not in ("use", "skip"):
        raise InputError(f"{where}: condition must be use or skip, got {condition!r}")
    if isinstance(success, bool) or not isinstance(success, int | float):
        raise InputError(f"{where}: success must be a number from 0 to 1, got {success!r}")
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


def _object(line: str, where: str, known: set[str]) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        raise InputError(f"{where}: not JSON; write one object per line") from None
    if not isinstance(row, dict):
        raise InputError(f"{where}: expected an object with {', '.join(sorted(known))}")
    unknown = sorted(set(row) - known)
    if unknown:
        raise InputError(f"{where}: unknown key {unknown[0]!r}; keep {', '.join(sorted(known))}")
    return row


def _text(row: Mapping[str, Any], key: str, where: str, *, default: str | None = None) -> str:
    value = row.get(key, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise InputError(f"{where}: {key} is missing or not a text")
    return value
