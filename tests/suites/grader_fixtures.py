"""Replies, programs and workbooks with the grade of the benchmarks' own evaluators, which stand beside a checkout."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

_FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data" / "graders"
_DATES = {
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
}


def fixture_folder() -> Path:
    if not _FOLDER.is_dir():
        pytest.skip("the graded replies ../shared/data/graders are not beside this checkout")
    return _FOLDER


def fixture_rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (fixture_folder() / name).read_text("utf-8").splitlines()]


def cell_value(value: Any) -> Any:
    """A cell's value from its JSON form."""
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    if kind == "timedelta":
        return datetime.timedelta(seconds=content)
    if kind == "float":
        return float(content)
    return _DATES[kind](content) if kind in _DATES else content


def disagreements(rows: list[dict[str, Any]], grades: list[Any], key: str = "original") -> dict[str, list[Any]]:
    """The rows that are graded otherwise, by kind of reply."""
    wrong: dict[str, list[Any]] = {}
    for row, grade in zip(rows, grades, strict=True):
        if grade != row[key]:
            wrong.setdefault(row.get("kind", ""), []).append((row, grade))
    return wrong
