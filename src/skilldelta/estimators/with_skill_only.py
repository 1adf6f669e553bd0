"""With-skill-only control: the paper's neighbours and weights, but the success with the skill instead of the gain.

What it lacks against the paper's rule is the unpaired half, so the difference between the two is the value of pairing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skilldelta.estimators.base import Score, Scores, Target
from skilldelta.estimators.paper_rule import RowsByScope
from skilldelta.predictor import PAPER, Settings, predict_each
from skilldelta.support import Scope, Support

MORE_LIKELY_THAN_NOT = 0.5
"""The paper ranks with this score and names no threshold; as a policy it uses the skill when success is the likelier."""


@dataclass(frozen=True, slots=True)
class WithSkillOnly:
    """Mean success with the skill over the paper's neighbours."""

    settings: Settings = PAPER
    scope: Scope = "family"
    threshold: float = MORE_LIKELY_THAN_NOT

    @property
    def name(self) -> str:
        """The policy name."""
        return "with_skill_only"

    def leave_one_out(self, support: Support) -> Scores:
        """Exactly the weights of the paper's rule, on y1; empty support scores 0."""
        treated = support.with_outcomes(np.zeros(len(support)), support.y1)
        values = predict_each(treated, self.scope, settings=replace(self.settings, label="gain")).gains
        return Scores(values, self.threshold, is_gain=False)

    def fit(self, support: Support) -> FittedWithSkillOnly:
        """Nothing is fitted: the rows of each scope are looked up once."""
        return FittedWithSkillOnly(RowsByScope.of(support, self.scope), replace(self.settings, label="gain"))


@dataclass(frozen=True, slots=True)
class FittedWithSkillOnly:
    """The control with its evidence at hand."""

    rows: RowsByScope
    settings: Settings

    def score(self, target: Target) -> Score:
        """Expected success with the skill: a level, not a gain, to be compared with the policy's own threshold."""
        level = self.rows.predict(target, self.rows.support.y1, self.settings).gain
        return Score(level, {"with_skill_only": level}, {"with_skill_only": 1.0})
