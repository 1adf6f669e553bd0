"""Self-judge control: the agent's own recorded answer to "would this skill help here?", with what asking cost.

Asking is `collect`'s work; here the answers are read. A task that was never asked has no answer: it is left out of this
policy's evaluation, and counted, because silence is not a "no".
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from skilldelta.estimators.base import NotApplicableError, Score, Scores, Target
from skilldelta.records import Judgement
from skilldelta.support import Support

YES = 0.5
"""Answers are 1 or 0; anything between separates them."""


class SelfJudge:
    """The agent's answers by task and skill; the last one recorded counts."""

    def __init__(self, judgements: Iterable[Judgement] = ()) -> None:
        self._answers = {(judgement.task_id, judgement.skill_id): judgement for judgement in judgements}

    @property
    def name(self) -> str:
        """The policy name."""
        return "self_judge"

    def leave_one_out(self, support: Support) -> Scores:
        """1 or 0 for every row that was asked, NaN for the others; the router's tokens stand beside."""
        answers = [
            self._answers.get(key) for key in zip(support.task_ids.tolist(), support.skills.tolist(), strict=True)
        ]
        asked = sum(answer is not None for answer in answers)
        if not asked:
            raise NotApplicableError("no self-judgement is recorded; ask the agent first")
        values = np.array([np.nan if answer is None else float(answer.use) for answer in answers])
        tokens = np.array([np.nan if a is None or a.tokens is None else float(a.tokens) for a in answers])
        notes = () if asked == len(answers) else (f"{len(answers) - asked} of {len(answers)} tasks were never asked",)
        return Scores(values, YES, is_gain=False, router_tokens=tokens, notes=notes)

    def fit(self, support: Support) -> SelfJudge:
        """Recorded answers need no support."""
        return self

    def score(self, target: Target) -> Score:
        """The recorded answer to one task."""
        answer = self._answers.get((target.task_id, target.skill))
        if answer is None:
            raise NotApplicableError(f"no self-judgement of task {target.task_id!r} is recorded; ask the agent first")
        return Score(float(answer.use), {"self_judge": float(answer.use)}, {"self_judge": 1.0})
