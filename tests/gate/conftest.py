"""An estimator that another package adds."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import metadata

import numpy as np
import pytest

from skilldelta.estimators import registry
from skilldelta.estimators.base import Score, Scores, Target
from skilldelta.support import Support


class ShrunkSkillMean:
    """The mean gain of the skill, pulled toward zero."""

    name = "shrunk_mean"

    def leave_one_out(self, support: Support) -> Scores:
        rows = range(len(support))
        others = [support.rows(support.task_ids != support.task_ids[row]) for row in rows]
        return Scores(np.array([self._mean(others[row], str(support.skills[row])) for row in rows]))

    def fit(self, support: Support) -> FittedMean:
        return FittedMean(self, support)

    @staticmethod
    def _mean(support: Support, skill: str) -> float:
        gains = support.gains[support.skills == skill]
        return float(gains.sum() / (len(gains) + 4))


class FittedMean:
    def __init__(self, estimator: ShrunkSkillMean, support: Support) -> None:
        self._estimator = estimator
        self._support = support

    def score(self, target: Target) -> Score:
        return Score(self._estimator._mean(self._support, target.skill))


@pytest.fixture
def shrunk_mean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package with the estimator of this file."""
    point = metadata.EntryPoint("shrunk_mean", f"{__name__}:ShrunkSkillMean", registry.GROUP)
    monkeypatch.setattr(metadata, "entry_points", lambda *, group: [point] if group == registry.GROUP else [])
    registry._table.cache_clear()
    yield
    registry._table.cache_clear()
