"""The paper's rule behind the estimator contract, policy `paper`, and its controls that fit nothing.

The rule itself is `predictor`. The with-skill-only control has the paper's neighbors and weights, but the success with
the skill instead of the gain, so the difference between the two is the value of pairing. The family mean averages all
other tasks of the family, near or far. The self-judge is the agent's own recorded answer to "would this skill help
here?", with what asking cost.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from skilldelta.arrays import Floats, Ints, tie_rounding
from skilldelta.estimators.base import NotApplicableError, Score, Scores, Target
from skilldelta.predictor import PAPER, Prediction, Settings, predict, predict_each
from skilldelta.records import Judgement
from skilldelta.support import Scope, Support, scope_label

# The paper ranks with this score and names no threshold; as a policy it uses the skill when success is the likelier.
MORE_LIKELY_THAN_NOT = 0.5
# Answers are 1 or 0; anything between separates them.
YES = 0.5


@dataclass(frozen=True, slots=True)
class PaperRule:
    """Cosine-weighted signed gains of the k nearest tasks in scope."""

    settings: Settings = PAPER
    scope: Scope = "family"
    name = "paper"  # whatever the settings

    def leave_one_out(self, support: Support) -> Scores:
        """Algorithm 1 with every row as its own target; empty support scores 0."""
        predictions = predict_each(support, self.scope, settings=self.settings)
        return Scores(predictions.gains, supported=predictions.eligible > 0)

    def fit(self, support: Support) -> FittedNearest:
        """Nothing is fitted: the rows of each scope are looked up once."""
        return FittedNearest(self.name, RowsByScope(support, self.scope), support.gains, self.settings)


@dataclass(frozen=True, slots=True)
class WithSkillOnly:
    """Mean success with the skill over the paper's neighbors: a level and not a gain, with a threshold of its own."""

    settings: Settings = PAPER
    scope: Scope = "family"
    threshold: float = MORE_LIKELY_THAN_NOT
    name = "with_skill_only"

    def leave_one_out(self, support: Support) -> Scores:
        """Exactly the weights of the paper's rule, on y1; empty support scores 0."""
        treated = support.with_outcomes(np.zeros(len(support)), support.y1)
        values = predict_each(treated, self.scope, settings=replace(self.settings, label="gain")).gains
        return Scores(values, self.threshold, is_gain=False)

    def fit(self, support: Support) -> FittedNearest:
        """Nothing is fitted: the rows of each scope are looked up once."""
        rows = RowsByScope(support, self.scope)
        return FittedNearest(self.name, rows, support.y1, replace(self.settings, label="gain"))


@dataclass(frozen=True, slots=True)
class FittedNearest:
    """The evidence at hand, and the outcome of its rows that is averaged."""

    name: str
    rows: RowsByScope
    outcomes: Floats  # (n,)
    settings: Settings

    def score(self, target: Target) -> Score:
        """The weighted mean outcome of the nearest rows, 0 where nothing is in scope."""
        return Score.of_one(self.name, self.rows.predict(target, self.outcomes, self.settings).gain)


@dataclass(frozen=True, slots=True)
class RowsByScope:
    """The rows of a support by scope label, for scoring one target at a time."""

    support: Support
    scope: Scope

    def eligible(self, target: Target) -> Ints:
        """The rows in the target's scope that are not its own task, in record order, which breaks ties."""
        names = {"family": target.family, "skill": target.skill, "task_id": target.task_id}
        _, rows = self.support.scope_of(self.scope, **names)
        return rows[self.support.task_ids[rows] != target.task_id] if target.task_id else rows

    def predict(self, target: Target, outcomes: Floats, settings: Settings) -> Prediction:
        """Algorithm 1 for one target over any outcome of the support's rows."""
        rows = self.eligible(target)
        return predict(target.vector, self.support.vectors[rows], outcomes[rows], settings=settings)


@dataclass(frozen=True, slots=True)
class FamilyMean:
    """One number per family, the target's own task left out."""

    name = "family_mean"

    def leave_one_out(self, support: Support) -> Scores:
        """Family sums minus the task's own rows; a family of one task scores 0."""
        families = np.unique(support.scope_labels("family"), return_inverse=True)[1]
        own = np.unique(families * (len(support) + 1) + support.task_codes, return_inverse=True)[1]
        total = _sums(families, support.gains) - _sums(own, support.gains)
        count = np.bincount(families)[families] - np.bincount(own)[own]
        return Scores(_mean(total, count), supported=count > 0)

    def fit(self, support: Support) -> FittedFamilyMean:
        """The gains of a family are looked up for each target."""
        return FittedFamilyMean(support)


@dataclass(frozen=True, slots=True)
class FittedFamilyMean:
    """The families' gains at hand."""

    support: Support

    def score(self, target: Target) -> Score:
        """The mean gain of the family's other tasks, 0 where there is none."""
        label = scope_label("family", family=target.family, skill=target.skill)
        in_family = self.support.scope_labels("family") == label
        gains = self.support.gains[in_family & (self.support.task_ids != target.task_id)]
        return Score.of_one("family_mean", float(_mean(np.array([gains.sum()]), np.array([len(gains)]))[0]))


def _sums(codes: Ints, gains: Floats) -> Floats:
    """(n,) for each row the sum of its group."""
    return np.asarray(np.bincount(codes, weights=gains), np.float64)[codes]


def _mean(total: Floats, count: Ints) -> Floats:
    # A mean made by subtraction carries rounding error; without it, gains that cancel stay exactly zero.
    mean: Floats = tie_rounding(total / np.maximum(count, 1)) + 0.0  # no negative zero
    return np.where(count > 0, mean, 0.0)


class SelfJudge:
    """The agent's answers by task and skill; the last one recorded counts.

    Asking is `collect`'s work; here the answers are read. A task that was never asked has no answer: it is left out of
    this policy's evaluation, and counted, because silence is not a "no".
    """

    name = "self_judge"

    def __init__(self, judgements: Iterable[Judgement] = ()) -> None:
        self._answers = {(judgement.task_id, judgement.skill_id): judgement for judgement in judgements}

    def leave_one_out(self, support: Support) -> Scores:
        """1 or 0 for every row that was asked, NaN for the others; the router's tokens stand beside."""
        rows = zip(support.task_ids.tolist(), support.skills.tolist(), strict=True)
        answers = [self._answers.get(row) for row in rows]
        answered = sum(answer is not None for answer in answers)
        if not answered:
            raise NotApplicableError("no self-judgement is recorded; ask the agent first")
        values = np.array([np.nan if answer is None else float(answer.use) for answer in answers])
        tokens = np.array([np.nan if a is None or a.tokens is None else float(a.tokens) for a in answers])
        notes = (
            () if answered == len(answers) else (f"{len(answers) - answered} of {len(answers)} tasks were never asked",)
        )
        return Scores(values, YES, is_gain=False, router_tokens=tokens, notes=notes)

    def fit(self, support: Support) -> SelfJudge:
        """Recorded answers need no support."""
        return self

    def score(self, target: Target) -> Score:
        """The recorded answer to one task."""
        answer = self._answers.get((target.task_id, target.skill))
        if answer is None:
            raise NotApplicableError(f"no self-judgement of task {target.task_id!r} is recorded; ask the agent first")
        return Score.of_one(self.name, float(answer.use))
