"""Relevance scores that were computed elsewhere, such as those that the paper's authors published for one agent."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.errors import InputError, shown
from skilldelta.estimators.task_rows import read_task_rows
from skilldelta.files import fault
from skilldelta.nouns import listed, plural
from skilldelta.support import Support

_NAMED = 3


@dataclass(frozen=True, slots=True)
class RelevanceScores:
    """The score of each task, by agent, suite, task id and skill; an empty agent, suite or skill is any."""

    scores: Mapping[tuple[str, str, str, str], float]

    def of(self, support: Support) -> Floats | None:
        """(n,) the scores of a panel's rows; None where the file has none of them.

        A panel of which it has only some is refused: scores from two sources have no common median.
        """
        rows = zip(support.task_ids.tolist(), support.skills.tolist(), strict=True)
        values = [self._score(support, task_id, skill) for task_id, skill in rows]
        missing = [name for name, value in zip(support.task_ids.tolist(), values, strict=True) if value is None]
        if len(missing) == len(values):
            return None
        if missing:
            raise InputError(
                f"the file has no relevance score of {plural(len(missing), 'task')} of {len(values)} "
                f"({listed(missing, _NAMED)}); add them, or leave all of the panel out"
            )
        return np.array(values, float)

    def _score(self, support: Support, task_id: str, skill: str) -> float | None:
        # Labels of agents of one name end in a part of their fingerprint.
        agents = (support.agent, support.agent.partition("@")[0], "")
        keys = ((a, s, task_id, k) for a in agents for s in (support.suite, "") for k in (skill, ""))
        return next((self.scores[key] for key in keys if key in self.scores), None)


def read_relevance(path: Path) -> RelevanceScores:
    """A CSV or JSONL file with the columns task_id, score and, where they matter, suite, agent and skill."""
    scores: dict[tuple[str, str, str, str], float] = {}
    for number, row in read_task_rows(path, "score"):
        agent, suite, task_id, skill = (str(row.get(name) or "") for name in ("agent", "suite", "task_id", "skill"))
        if not task_id:
            raise fault(path, number, "there is no task_id; give every row one")
        score = _number(row.get("score"))
        if score is None:
            raise fault(path, number, f"score must be a number, got {shown(row.get('score'))}")
        if scores.setdefault((agent, suite, task_id, skill), score) != score:
            raise fault(path, number, f"the task {task_id[:40]!r} has two scores; give it one")
    if not scores:
        raise InputError(f"{path}: the file has no rows; give one per task")
    return RelevanceScores(scores)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
