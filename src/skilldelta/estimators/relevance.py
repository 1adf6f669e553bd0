"""Relevance gate: use the skill where its text resembles the task's. No outcome is read, not even to set the threshold.

The score is the TF-IDF cosine of task and skill text; the threshold is the inventory's median score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from skilldelta.arrays import Floats
from skilldelta.estimators.base import NotApplicableError, Score, Scores, Target
from skilldelta.estimators.lexical import Lexicon
from skilldelta.nouns import plural
from skilldelta.support import Support


@dataclass(frozen=True, slots=True)
class Relevance:
    """Task–skill similarity against its median; ties with the median skip."""

    skill_texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The policy name."""
        return "relevance"

    def leave_one_out(self, support: Support) -> Scores:
        """Nothing is left out because nothing is learnt: tasks, skills and the median are all that enters."""
        fitted = self.fit(support)
        return Scores(fitted.inventory_scores, fitted.threshold, is_gain=False)

    def fit(self, support: Support) -> FittedRelevance:
        """The vocabulary of tasks and skills, and the median that becomes the threshold."""
        skills = _texts_of(support, self.skill_texts)
        lexicon = Lexicon([*support.texts, *skills.values()])
        words = lexicon.inventory[: len(support)]
        vectors = {skill: lexicon.inventory[[len(support) + place]] for place, skill in enumerate(skills)}
        scores = _cosines(support, words, vectors)
        return FittedRelevance(lexicon, vectors, scores, float(np.median(scores)))


@dataclass(frozen=True, slots=True)
class FittedRelevance:
    """The skills' word rows and the fixed threshold."""

    lexicon: Lexicon
    vectors: Mapping[str, csr_array]
    inventory_scores: Floats  # (n,)
    threshold: float

    def score(self, target: Target) -> Score:
        """Similarity of the target's text and its skill's: a level, to be compared with `threshold`."""
        if target.skill not in self.vectors:
            raise NotApplicableError(f"the text of skill {target.skill!r} is unknown; add the skill with its text")
        similarity = float((self.lexicon.rows([target.text]) @ self.vectors[target.skill].T).toarray()[0, 0])
        return Score(similarity, {"relevance": similarity}, {"relevance": 1.0})


def _texts_of(support: Support, skill_texts: Mapping[str, str]) -> dict[str, str]:
    if not support.texts:
        raise NotApplicableError("the panel has no task texts; import or collect them with their text")
    skills = list(dict.fromkeys(support.skills.tolist()))
    missing = [skill for skill in skills if not skill_texts.get(skill)]
    if missing:
        raise NotApplicableError(
            f"the text of {len(missing)} of {plural(len(skills), 'skill')} is unknown ({missing[0]!r}); add the skills with their text"
        )
    return {skill: skill_texts[skill] for skill in skills}


def _cosines(support: Support, words: csr_array, vectors: Mapping[str, csr_array]) -> Floats:
    scores = np.zeros(len(support))
    for block in support.blocks("skill"):
        skill = str(support.skills[block[0]])
        scores[block] = (words[block] @ vectors[skill].T).toarray()[:, 0]
    return scores
