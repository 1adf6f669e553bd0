"""How much a question's task resembles the recorded tasks of a scope, whatever the estimator; learned once per scope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Vectors
from skilldelta.familiarity import Familiarity, nearness
from skilldelta.support import Support


@dataclass(frozen=True, slots=True, eq=False)
class _Recorded:
    """The distinct tasks of a scope, and what is usual among them."""

    rows: Support
    vectors: Vectors  # (tasks, dim)
    place: Mapping[str, int]
    usual: Familiarity | None

    @classmethod
    def of(cls, rows: Support) -> _Recorded:
        first = np.array([at[0] for at in rows.row_of_task.values()], np.int64)
        vectors = rows.vectors if len(first) == len(rows) else rows.vectors[first]
        return cls(rows, vectors, {task: i for i, task in enumerate(rows.row_of_task)}, Familiarity.of(vectors))


class ScopeFamiliarity:
    """Scopes by name; one is learned anew when its rows have changed."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], _Recorded] = {}

    def of(self, name: tuple[str, ...], rows: Support, query: Vectors, task_id: str) -> float | None:
        """The familiarity of a task; its own record does not count. None where the scope has too few tasks to say."""
        known = self._known.get(name)
        if known is None or known.rows is not rows:
            known = self._known[name] = _Recorded.of(rows)
        if known.usual is None:
            return None
        own = known.place.get(task_id) if task_id else None
        return known.usual.at(nearness(known.vectors, query, excluded=None if own is None else np.array([own])))
