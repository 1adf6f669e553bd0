"""A partition of tasks into training, validation and test that was made elsewhere, such as the paper authors' own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from skilldelta.arrays import Ints
from skilldelta.errors import InputError
from skilldelta.estimators.base import NotApplicableError
from skilldelta.estimators.task_rows import read_task_rows
from skilldelta.files import fault
from skilldelta.support import Support

Part = Literal["train", "validation", "test"]

_WORDS: Mapping[str, Part] = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("validation", "valid", "val", "dev"), "validation"),
    **dict.fromkeys(("test", "testing"), "test"),
}


@dataclass(frozen=True, slots=True)
class Split:
    """Rows of each part; a task group lies in one part only."""

    train: Ints
    validation: Ints
    test: Ints


@dataclass(frozen=True, slots=True)
class Partition:
    """The part of each task, by suite and id; an empty suite is any."""

    parts: Mapping[tuple[str, str], Part]

    def split(self, support: Support) -> Split:
        """The rows of each part; a task without one is in none of them."""
        parts = np.array([self._part(support.suite, task_id) for task_id in support.task_ids.tolist()])
        rows = Split(*(np.flatnonzero(parts == part) for part in ("train", "validation", "test")))
        for name, part in (("training", rows.train), ("validation", rows.validation), ("test", rows.test)):
            if not len(part):
                raise NotApplicableError(f"the partition has no {name} task of this panel; add some, or leave it out")
        return rows

    def _part(self, suite: str, task_id: str) -> str:
        return self.parts.get((suite, task_id)) or self.parts.get(("", task_id)) or ""


def read_partition(path: Path) -> Partition:
    """A CSV or JSONL file with the columns task_id, split and, where ids are not unique, suite."""
    parts: dict[tuple[str, str], Part] = {}
    for number, row in read_task_rows(path, "split"):
        task_id, suite = str(row.get("task_id") or ""), str(row.get("suite") or "")
        if not task_id:
            raise fault(path, number, "there is no task_id; give every row one")
        part = _WORDS.get(str(row.get("split")).strip().lower())
        if part is None:
            raise fault(path, number, f"split must be train, validation or test, got {str(row.get('split'))[:40]!r}")
        if parts.setdefault((suite, task_id), part) != part:
            raise fault(path, number, f"the task {task_id[:40]!r} is in two parts; a task lies in one only")
    if not parts:
        raise InputError(f"{path}: the file has no rows; give one per task")
    return Partition(parts)
