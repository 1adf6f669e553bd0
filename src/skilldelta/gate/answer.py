"""The answer: a decision with everything it rests on; one type on every surface, and one document made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from skilldelta import bounds, intervals
from skilldelta.costs import Cost
from skilldelta.gate.basis import Basis
from skilldelta.gate.certainty import Certainty, certainty_of
from skilldelta.gate.decision import Decision
from skilldelta.intervals import Interval
from skilldelta.nouns import plural
from skilldelta.predictor import PAPER, Prediction, Settings
from skilldelta.probability import Chance
from skilldelta.support import Scope, Support

# Familiarity in words: tasks of the scope fall below these in one case of a hundred and of ten.
_UNLIKE, _ODD = 0.01, 0.1


@dataclass(frozen=True, slots=True)
class Neighbor:
    """One pair behind a prediction."""

    task_id: str
    similarity: float
    weight: float
    gain: float
    y0: float
    y1: float
    r0: int
    r1: int
    text: str

    @classmethod
    def of(cls, rows: Support, prediction: Prediction, i: int) -> Neighbor:
        """The i-th nearest pair of a prediction."""
        at = int(prediction.rows[i])
        return cls(
            task_id=str(rows.task_ids[at]),
            similarity=float(prediction.similarities[i]),
            weight=float(prediction.weights[i]),
            gain=float(rows.gains[at]),
            y0=float(rows.y0[at]),
            y1=float(rows.y1[at]),
            r0=int(rows.r0[at]),
            r1=int(rows.r1[at]),
            text=rows.texts[at] if rows.texts else "",
        )


@dataclass(frozen=True, slots=True)
class Explanation:
    """What else there is to know about a decision, on request."""

    components: Mapping[str, float]
    """Each component's predicted gain; the paper's rule has one."""
    shares: Mapping[str, float]
    """Each component's weight."""
    chance: Chance | None
    """How likely help and harm are in one more recorded pair; None where the panel is too small to say."""
    usual_chance: Chance | None
    """The same over all recorded pairs, with which the chance of this task is compared."""
    cost: Cost | None
    """What the skill is predicted to add; None where no tokens are recorded."""

    def to_dict(self) -> dict[str, Any]:
        """The `explanation` of `predict --explain --json`."""
        return {
            "components": dict(self.components),
            "shares": dict(self.shares),
            "chance": _chance_to_dict(self.chance),
            "usual_chance": _chance_to_dict(self.usual_chance),
            "cost": None if self.cost is None else asdict(self.cost),
        }


def _chance_to_dict(chance: Chance | None) -> dict[str, float] | None:
    return None if chance is None else {**asdict(chance), "tie": chance.tie}


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """Whose evidence an answer rests on, and how much of it is believed."""

    version: str
    """The digest of the recorded version."""
    changed: float | None
    """The share of its text and files that differs from the version on offer; None where that is not known."""
    trust: float
    """The share of the recorded gain that is expected to have survived."""

    @property
    def sentence(self) -> str:
        """`carried over from version 53fa…, changed 4%`."""
        return f"carried over from version {self.version[:4]}…, changed {change_words(self.changed)}"


def change_words(changed: float | None) -> str:
    """How much of a skill was edited: `4%`, or `by an unknown amount`."""
    return "by an unknown amount" if changed is None else f"{changed:.0%}"


@dataclass(frozen=True, slots=True)
class Answer:
    """A decision and everything it rests on."""

    decision: Decision
    agent: str = ""
    skill: str = ""
    suite: str = ""
    family: str = ""
    estimator: str = ""
    settings: Settings = PAPER
    scope: Scope = "skill"
    """The scope that was used; a family that is not known gives way to the skill."""
    settings_choose: Literal["gain", "neighbors"] = "neighbors"
    """What k, weighting and scope decide: the gain of the paper's rule, else which pairs are shown and bounded."""
    other_skills: int = 0
    """Pairs in scope that are of other skills."""
    eligible: int = 0
    neighbors: tuple[Neighbor, ...] = ()
    effective: float | None = None
    radius: float | None = None
    familiarity: float | None = None
    """How much the task resembles the recorded tasks of the scope; None where these are too few to say."""
    interval: Interval | None = None
    of_previous_revision: bool = False
    """Whether the gain was learned before the newest evidence arrived; the neighbors are always the newest."""
    carried_over: CarriedOver | None = None
    """Whose evidence it is, where that is not of the version on offer."""
    basis: Basis | None = None
    """What the gain is made of; None without evidence, and for estimators that do not say."""
    explanation: Explanation | None = None
    decision_id: int | None = None
    """Its place in the decision log; None where it was not recorded."""
    repeated: bool | None = None
    """Whether the conversation had this decision before; None where no service was asked."""
    skill_text: str | None = ""
    """The skill's text; None where it was asked for and the bank does not have it, empty where it was not asked for."""
    warning: str | None = None
    """What the caller should know of the answer, such as that the log does not have it."""
    applies: float | None = None
    """Among several skills: how likely the task is about this one; None where nothing can be said."""
    logged_document: Mapping[str, Any] | None = None
    """The document as the decision log has it, for an answer that comes from there."""

    @property
    def certainty(self) -> Certainty | None:
        """How sure the action is; None without evidence."""
        decision = self.decision
        if decision.is_fallback:
            return None
        return certainty_of(decision.action, decision.gain, decision.threshold, self.interval)

    def resting_on(self, rows: Support, near: Prediction) -> Answer:
        """The answer with the pairs that its prediction was made of."""
        evidence = bounds.evidence(near.weights, near.similarities, rows.r0[near.rows], rows.r1[near.rows])
        return replace(
            self,
            eligible=near.eligible,
            neighbors=tuple(Neighbor.of(rows, near, i) for i in range(len(near.rows))),
            effective=evidence.effective,
            radius=evidence.radius,
        )

    @property
    def is_odd(self) -> bool:
        """Whether few recorded tasks are so far from the others, or too few are recorded to say."""
        return self.familiarity is None or self.familiarity < _ODD

    @property
    def familiarity_sentence(self) -> str:
        """How much the task resembles the recorded ones, in words."""
        share = self.familiarity
        if share is None:
            return f"Too few recorded tasks ({self.eligible}) to say whether the task is like them"
        if share < _UNLIKE:
            return "The task is unlike the recorded ones"
        if share < _ODD:
            return f"The task is odd: only {share:.0%} of the recorded ones are as far from their nearest tasks"
        return f"The task is like the recorded ones: {share:.0%} of them are no nearer to their nearest tasks"

    @property
    def interval_sentence(self) -> str:
        """What the interval covers and, where it is not made from what the gain is made from, why the two differ."""
        if self.interval is None:
            return ""
        if self.interval.method == intervals.BLEND:
            return "The interval is for the mean gain of tasks like this one"
        if self.interval.method.startswith(intervals.CONFORMAL):
            return "The interval is for the gain that one more recorded pair would show, run-to-run noise included"
        nearest = plural(len(self.neighbors), "nearest pair")
        if self.settings_choose == "gain":
            return f"The interval is for the mean gain of the {nearest}"
        return (
            f"The gain rests on all pairs of the suite, the interval on the {nearest} alone, "
            "so the gain may lie outside it"
        )

    def to_dict(self) -> dict[str, Any]:
        """The document of `predict --json`, and what a service adds to it; each addition is there only where it is known."""
        document = self._evidence_document() if self.logged_document is None else dict(self.logged_document)
        if self.repeated is not None:
            document["repeated"] = self.repeated
        if self.decision_id is not None:
            document["decision_id"] = self.decision_id
        if self.skill_text != "":
            document["skill_text"] = self.skill_text
        if self.warning is not None:
            document["warning"] = self.warning
        if self.applies is not None:
            document["applies"] = self.applies
        return document

    def _evidence_document(self) -> dict[str, Any]:
        """The decision and its evidence; an explanation is part of it only where one was asked for."""
        decision, interval = self.decision, self.interval
        document: dict[str, Any] = {
            "action": decision.action,
            "gain": decision.gain,
            "threshold": decision.threshold,
            "certainty": self.certainty,
            "reason": decision.reason,
            "would_change": decision.would_change,
            "fallback": decision.is_fallback,
            "previous_revision": self.of_previous_revision,
            "agent": self.agent,
            "skill": self.skill,
            "suite": self.suite or None,
            "family": self.family or None,
            "estimator": self.estimator,
            "k": self.settings.k,
            "weighting": self.settings.weighting,
            "scope": self.scope,
            "settings_choose": self.settings_choose,
            "support": {
                "eligible": self.eligible,
                "used": len(self.neighbors),
                "other_skills": self.other_skills,
                "effective": self.effective,
                "radius": self.radius,
                "familiarity": self.familiarity,
            },
            "interval": None if interval is None else asdict(interval),
            "carried_over": None if self.carried_over is None else asdict(self.carried_over),
            "basis": None if self.basis is None else self.basis.to_dict(),
            "neighbors": [asdict(neighbor) for neighbor in self.neighbors],
        }
        if self.explanation is not None:
            document["explanation"] = self.explanation.to_dict()
        return document


@dataclass(frozen=True, slots=True)
class SkillChoice:
    """Which of several skills to use for a task, if any, and every answer behind it."""

    choice: str | None
    answers: tuple[Answer, ...]
    any_applies: float | None = None
    """How likely the task is about one of the skills; None where nothing can be said, so that every gate was asked."""

    def to_dict(self) -> dict[str, Any]:
        """The document of `/v1/choose`."""
        return {
            "choice": self.choice,
            "any_applies": self.any_applies,
            "decisions": [answer.to_dict() for answer in self.answers],
        }
