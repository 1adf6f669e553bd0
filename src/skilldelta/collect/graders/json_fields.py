"""The JSON grader: fields of an object in the answer equal those expected."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilldelta.collect.suite import SuiteTask


@dataclass(frozen=True, slots=True)
class Fields:
    """All named fields are equal; without names, all fields of the expected object. With `partial`, the share that is."""

    fields: tuple[str, ...] = ()
    partial: bool = False

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> float:
        found = find_object(answer)
        if found is None:
            return 0.0
        names = self.fields or tuple(task.answer)
        equal = [name in found and found[name] == task.answer.get(name) for name in names]
        return sum(equal) / len(equal) if self.partial else float(all(equal))


def find_object(text: str) -> dict[str, Any] | None:
    """The first whole JSON object in a text, with or without prose and fences around it."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start >= 0:
        try:
            value, _ = decoder.raw_decode(text, start)
        except ValueError:
            value = None
        if isinstance(value, dict):
            return value
        start = text.find("{", start + 1)
    return None
