"""The tasks where a policy lost success, worst first: what to read before trusting a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.support import Support


@dataclass(frozen=True, slots=True)
class WrongCase:
    """A task where the skill was used and harmed, or was skipped and would have helped."""

    task_id: str
    family: str
    skill: str
    action: Literal["use", "skip"]
    score: float
    threshold: float
    loss: float
    """Success that the other action had more."""


def wrong_cases(support: Support, *, scores: Floats, thresholds: Floats, actions: Floats) -> tuple[WrongCase, ...]:
    """Largest loss first, then the most confident, then by task id; rows without a score are left out.

    `actions` (n,) are 1 for use and 0 for skip.
    """
    loss = np.where(actions > 0, -support.gains, support.gains)
    wrong = np.flatnonzero((loss > 0) & ~np.isnan(scores))
    confidence = np.abs(scores[wrong] - thresholds[wrong])
    order = wrong[np.lexsort((support.task_ids[wrong], -confidence, -loss[wrong]))]
    return tuple(
        WrongCase(
            task_id=str(support.task_ids[row]),
            family=str(support.families[row]),
            skill=str(support.skills[row]),
            action="use" if actions[row] else "skip",
            score=float(scores[row]),
            threshold=float(thresholds[row]),
            loss=float(loss[row]),
        )
        for row in order
    )
