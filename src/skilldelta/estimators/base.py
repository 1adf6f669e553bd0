"""What it means to score a target: one small contract for the paper's rule, its controls and the blend.

An estimator scores every row of a panel from the other tasks' outcomes alone (`leave_one_out`), and, once fitted to a
support, any new target (`fit`, then `score`). Thresholds, intervals and curves live outside the score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from skilldelta.arrays import Flags, Floats, Strings, Vectors
from skilldelta.errors import InputError
from skilldelta.predictor import PAPER, Settings
from skilldelta.records import Judgement
from skilldelta.support import Scope, Support

if TYPE_CHECKING:  # these raise the error below
    from skilldelta.estimators.partition import Partition
    from skilldelta.estimators.relevance_scores import RelevanceScores


class NotApplicableError(InputError):
    """This support lacks what the estimator needs; the message says what, and an evaluation leaves the policy out."""


@dataclass(frozen=True, slots=True)
class Target:
    """The task asked about: what is known before its first execution."""

    vector: Vectors  # (dim,), length 1
    text: str = ""
    family: str = ""
    skill: str = ""
    task_id: str = ""


def target_of(support: Support, row: int) -> Target:
    """A recorded task as a target."""
    text = support.texts[row] if support.texts else ""
    names = (str(support.families[row]), str(support.skills[row]), str(support.task_ids[row]))
    return Target(support.vectors[row], text, *names)


@dataclass(frozen=True, slots=True)
class Scores:
    """One score per row of a panel, and the threshold above which the policy uses the skill.

    A row with the score NaN is not evaluated: it was a row of the training split, or nobody asked about it.
    """

    values: Floats  # (n,)
    threshold: float = 0.0
    is_gain: bool = True
    """Whether values are predicted gains, so that errors against observed gains make sense."""
    router_tokens: Floats | None = None  # (n,) what routing itself cost, where there is a router call
    groups: Strings | None = None  # (n,) what was split and is resampled together, where it is not the task
    supported: Flags | None = None  # (n,) rows with evidence; the others are skipped at every threshold
    familiarity: Floats | None = None  # (n,) how much rows resemble the others; NaN where these are too few to say
    notes: tuple[str, ...] = ()
    """What a reader of the result must know, in words."""


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Scores of recorded rows, each made without its own outcome, beside the gains that were observed."""

    scores: Floats  # (n,)
    gains: Floats  # (n,)
    families: Strings  # (n,)


@dataclass(frozen=True, slots=True)
class Spread:
    """The standard deviation of an expected gain, as sure as a t distribution with these degrees of freedom."""

    deviation: float
    freedom: float


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one new target, with what went into it by name."""

    gain: float
    components: Mapping[str, float] = field(default_factory=dict)
    """Each component's predicted gain."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """Each component's weight in the gain."""
    spread: Spread | None = None
    """How far the expected gain may lie from `gain`, where the estimator says so."""
    familiarity: float | None = None
    """How much the target resembles the recorded tasks it was compared with, where the estimator looks at that."""
    credit: float = 1.0
    """How much of the gain rests on those tasks; the rest is what new families lead to expect."""
    of_previous_revision: bool = False
    """Whether evidence was added since the estimator learned."""

    @classmethod
    def of_one(cls, name: str, gain: float) -> Score:
        """The score of an estimator that is its own only component."""
        return cls(gain, {name: gain}, {name: 1.0})


@dataclass(frozen=True, slots=True)
class Needs:
    """What an estimator may be made with besides a support; each takes what it knows how to use."""

    settings: Settings = PAPER
    """How neighbors are chosen and averaged."""
    scope: Scope = "family"
    skill_texts: Mapping[str, str] = field(default_factory=dict)
    partition: Partition | None = None
    """Where both Ridge controls train, validate and are tested; their own split unless given."""
    judgements: tuple[Judgement, ...] = ()
    """The agent's own recorded answers."""
    relevance: RelevanceScores | None = None
    """Relevance scores from elsewhere, for the panels that they name; computed from the texts unless given."""


class FittedEstimator(Protocol):
    """An estimator that has seen its support and can score new targets."""

    def score(self, target: Target) -> Score:
        """The predicted gain of one target; its own task, where it is in the support, is left out."""


class Estimator(Protocol):
    """A way to predict gains from a support."""

    @property
    def name(self) -> str:
        """The policy name in results, one of those the design lists."""

    def leave_one_out(self, support: Support) -> Scores:
        """Score every row with its own task's outcomes left out entirely."""

    def fit(self, support: Support) -> FittedEstimator:
        """Prepare for scoring new targets."""
