"""What an answer rests on, in words: near tasks, trends over the text, or a level that is the same for every task.

An estimator that found no relation between a task's text and its gain answers the same for every task of a family. A reader
who is shown six near tasks beside such an answer takes them for its reason; so their share in the answer is said with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from skilldelta.estimators.base import Score
from skilldelta.probability import Chance

# The components of an answer by where they come from.
_KINDS: Mapping[str, tuple[str, ...]] = {
    "neighbors": ("paper", "skilldelta", "nearest_6", "nearest_25", "words_25", "shape_25"),
    "trends": ("vector_ridge", "word_ridge", "shape_ridge"),
    "family": ("family",),
    "skill": ("skill",),
    "other_skills": ("suite", "nearest_families"),
    "new_families": ("new_family",),
    "prior": ("zero",),
}
# A share below this prints as 0% and is not named.
_SMALLEST = 0.005
# Chances that differ by less than this from those of all pairs are only the base rate.
_SAME_CHANCE = 0.01


@dataclass(frozen=True, slots=True)
class Basis:
    """The shares of an answer by kind of evidence; they sum to 1 where the estimator tells them."""

    neighbors: float
    """Recorded tasks that are near the target."""
    trends: float
    """Lines over the texts of the family's tasks."""
    family: float
    skill: float
    other_skills: float
    """The level of all skills and families of the bank, or of those that are most like the target's."""
    new_families: float
    """What families that were never run lead to expect: for a task that is unlike the recorded ones."""
    prior: float
    """The level that an unknown skill is pulled to."""
    prior_gain: float
    """That level: zero unless the gate's `prior_gain` says otherwise."""
    level_of_others: float | None
    """The level of all skills and families, where it has a share."""

    @property
    def is_same_for_every_task(self) -> bool:
        """Whether another text would have got the same answer."""
        return self.new_families < _SMALLEST and self.neighbors + self.trends < _SMALLEST

    @property
    def sentence(self) -> str:
        """The basis in one or two sentences."""
        pull = f"{self.prior_gain:+.3g}" if self.prior_gain else "zero"
        words = {
            "neighbors": "the nearest tasks",
            "trends": "trends over the tasks' texts",
            "family": "the mean of the family",
            "skill": "the mean of the skill",
            "other_skills": f"the level of all recorded skills and families ({self.level_of_others or 0:+.3f})",
            "new_families": "what tasks of a new kind lead to expect",
            "prior": f"{pull}, to which a skill with little evidence is pulled",
        }
        shares = sorted(((round(getattr(self, kind), 6), kind) for kind in _KINDS), reverse=True)
        parts = ", ".join(f"{share:.0%} {words[kind]}" for share, kind in shares if share >= _SMALLEST)
        if not self.is_same_for_every_task:
            return f"The answer is made of {parts}."
        return f"The same for every task of this kind, because no relation between text and gain was found: {parts}."

    def to_dict(self) -> dict[str, Any]:
        """The `basis` of `predict --json`."""
        return {**asdict(self), "same_for_every_task": self.is_same_for_every_task, "sentence": self.sentence}


def basis_of(score: Score) -> Basis | None:
    """The basis of a score; None where the estimator does not say what its gain is made of."""
    if not score.shares:
        return None
    shares = {kind: sum(score.shares.get(name, 0.0) for name in names) for kind, names in _KINDS.items()}
    if sum(shares.values()) < 1 - 0.01:  # components of another package's estimator
        return None
    others = {name: score.shares.get(name, 0.0) for name in _KINDS["other_skills"]}
    total = sum(others.values())
    level = sum(share * score.components.get(name, 0.0) for name, share in others.items()) / total if total else None
    return Basis(**shares, prior_gain=score.components.get("zero", 0.0), level_of_others=level)


def chance_sentence(chance: Chance, usual: Chance) -> str:
    """The chances of help and harm, and whether they are only what all pairs of the bank show."""
    is_usual = max(abs(chance.help - usual.help), abs(chance.harm - usual.harm)) < _SAME_CHANCE
    return f"{chance.sentence}{', as everywhere in this bank' if is_usual else ''}"
