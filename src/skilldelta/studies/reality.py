"""What was predicted beside what happened: the decision log's outcomes, and whether predictions and outcomes part.

A decision predicts a success: what its nearest recorded tasks show without the skill, plus the predicted gain where the skill
is used. Used and skipped tasks are different tasks, so each kind is compared with its own prediction and never with the other.

One test watches all outcomes, and one watches each skill. Together they raise a false alarm with a chance of at most 5%,
however often one looks (`skilldelta.evaluation.anytime`). Two things count as agreement: a difference below 5 points, and one
that so few recorded tasks leave open.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.bank.entries import DecisionRecord
from skilldelta.estimators.registry import policies
from skilldelta.evaluation.anytime import LEVEL, Watched, mean_interval, watch
from skilldelta.nouns import plural
from skilldelta.renames import ESTIMATORS

MARGIN = 0.05
Reason = Literal["no success reported", "the skill was neither used nor skipped", "no prediction"]

_HOUR = 3600.0
# Lengths of a period, so that a chart has at most two dozen.
_LENGTHS = tuple(hours * _HOUR for hours in (1, 6, 24, 7 * 24, 30 * 24, 91 * 24, 365 * 24))
_MOST_PERIODS = 24


@dataclass(frozen=True, slots=True)
class DecisionOutcome:
    """A decision whose success was reported."""

    decision_id: int
    time: float
    """When the success was reported, in seconds since 1970."""
    agent: str
    skill: str
    action: str
    task: str
    """What tells tasks apart: the id, else the digest of the text; empty where the log keeps neither."""
    conversation: str
    gain: float
    success: float
    predicted: float | None
    """Success; None where nothing recorded was near, or nobody knows whether the skill was used."""
    left_out: Reason | None
    evidence: str
    """What the prediction was made from: pairs of the skill, or of a wider scope."""
    pairs: int
    """How many those are."""

    @property
    def difference(self) -> float:
        """Of the success from its prediction; NaN where it was left out."""
        return math.nan if self.predicted is None else self.success - self.predicted


@dataclass(frozen=True, slots=True)
class ActionLine:
    """Outcomes after one action, in all or in one period."""

    action: Literal["use", "skip"]
    start: float
    end: float
    number: int
    predicted: float
    observed: float
    low: float
    """The 95% interval of what was observed, over tasks."""
    high: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """Whether predictions and outcomes agree, about one skill or all."""

    skill: str
    """Empty is all of them together."""
    number: int
    """Outcomes that count; a task that comes again counts once."""
    repeated: int
    predicted: float | None
    observed: float | None
    difference: Watched
    alarm_time: float | None

    @property
    def state(self) -> Literal["parts", "agrees", "open"]:
        """Whether predictions and outcomes part, agree within the margin, or neither is clear yet."""
        if self.alarm_time is not None:
            return "parts"
        watched = self.difference
        return "agrees" if -watched.margin <= watched.low and watched.high <= watched.margin else "open"


@dataclass(frozen=True, slots=True)
class Reality:
    """All that the log says about predictions and what happened."""

    outcomes: int
    left_out: Mapping[Reason, int]
    whole: Agreement
    skills: tuple[Agreement, ...]
    """Those with an alarm first, then by the number of outcomes."""

    @property
    def alarms(self) -> tuple[Agreement, ...]:
        """Where predictions and outcomes part."""
        return tuple(one for one in (self.whole, *self.skills) if one.alarm_time is not None)

    @property
    def sentence(self) -> str:
        """What the log says about the predictions, in words."""
        parting = [one.skill for one in self.skills if one.state == "parts"]
        if not self.whole.number:
            return "No outcome can be compared with a prediction yet."
        if self.whole.state == "parts":
            how = "more" if self.whole.difference.direction > 0 else "less"
            return f"Predictions and outcomes part: tasks succeed {how} often than predicted."
        if parting:
            return f"Predictions and outcomes part for {plural(len(parting), 'skill')}."
        if self.whole.state == "agrees":
            return "Predictions and outcomes agree."
        return "No alarm: nothing speaks clearly against the predictions so far."


def outcome_of(record: DecisionRecord) -> DecisionOutcome | None:
    """The outcome of a logged decision; None where nobody reported whether it succeeded."""
    reports = [report for report in record.outcomes if report.success is not None]
    if not reports or reports[-1].success is None:
        return None
    # A correction changes the value and not its place in the order of arrival.
    success, time = reports[-1].success, reports[0].time
    is_decided = record.action in ("use", "skip")
    is_applied = is_decided and record.evidence.get("applied") is not False and not record.source.endswith("-shadow")
    predicted = _predicted_success(record) if is_applied else None
    left_out: Reason | None = None
    if predicted is None:
        left_out = "no prediction" if is_applied else "the skill was neither used nor skipped"
    support, scope = record.evidence.get("support"), str(record.evidence.get("scope", "skill"))
    eligible = support.get("eligible") if isinstance(support, dict) else None
    return DecisionOutcome(
        decision_id=record.decision_id,
        time=time,
        agent=record.agent.name,
        skill=record.skill_id,
        action=record.action,
        task=record.task_id or record.text_digest,
        conversation=record.conversation,
        gain=record.gain,
        success=success,
        predicted=predicted,
        left_out=left_out,
        evidence=record.skill_id if scope == "skill" else scope,
        pairs=eligible if isinstance(eligible, int) else 0,
    )


def compare_with_reality(outcomes: Iterable[DecisionOutcome], without_success: int = 0) -> Reality:
    """Whether predictions and outcomes agree, in the order in which outcomes arrived."""
    ordered = sorted(outcomes, key=lambda one: (one.time, one.decision_id))
    left_out = Counter(one.left_out for one in ordered if one.left_out is not None)
    if without_success:
        left_out["no success reported"] += without_success
    counted = [one for one in ordered if one.left_out is None]
    by_skill: dict[str, list[DecisionOutcome]] = defaultdict(list)
    for one in counted:
        by_skill[one.skill].append(one)
    # Half of the chance of a false alarm is for all outcomes together, the other half is shared by the skills.
    half = (1 - LEVEL) / 2
    skills = [_agreement(skill, rows, 1 - half / len(by_skill)) for skill, rows in by_skill.items()]
    skills.sort(key=lambda one: (one.alarm_time is None, -one.number, one.skill))
    return Reality(len(ordered), dict(left_out), _agreement("", counted, 1 - half), tuple(skills))


def reality_to_dict(reality: Reality) -> dict[str, Any]:
    """The comparison for `log --summary --json`; moments are in seconds since 1970."""
    return {
        "sentence": reality.sentence,
        "false_alarm_rate": round(1 - LEVEL, 6),
        "outcomes": reality.outcomes,
        "left_out": dict(reality.left_out),
        "whole": _agreement_to_dict(reality.whole),
        "skills": [_agreement_to_dict(one) for one in reality.skills],
    }


def _agreement_to_dict(one: Agreement) -> dict[str, Any]:
    watched = one.difference
    return {
        "skill": one.skill or None,
        "outcomes": one.number,
        "repeated": one.repeated,
        "predicted": one.predicted,
        "observed": one.observed,
        "difference": watched.mean,
        "interval": {"low": watched.low, "high": watched.high, "level": watched.level},
        "margin": watched.margin,
        "state": one.state,
        "alarm_time": one.alarm_time,
    }


def action_lines(outcomes: Iterable[DecisionOutcome]) -> list[ActionLine]:
    """Used and skipped, over the whole time."""
    counted = [one for one in outcomes if one.left_out is None]
    if not counted:
        return []
    start, end = min(one.time for one in counted), max(one.time for one in counted)
    return _lines(counted, start, end)


def period_lines(outcomes: Iterable[DecisionOutcome]) -> list[ActionLine]:
    """Used and skipped in periods of equal length: hours, days, weeks, whichever gives at most two dozen."""
    counted = [one for one in outcomes if one.left_out is None]
    if not counted:
        return []
    first, last = min(one.time for one in counted), max(one.time for one in counted)
    length = next((length for length in _LENGTHS if last // length - first // length < _MOST_PERIODS), last - first + 1)
    periods: dict[float, list[DecisionOutcome]] = defaultdict(list)
    for one in counted:
        periods[one.time // length * length].append(one)
    return [line for start in sorted(periods) for line in _lines(periods[start], start, start + length)]


def _lines(outcomes: Sequence[DecisionOutcome], start: float, end: float) -> list[ActionLine]:
    lines = []
    for action in ("use", "skip"):
        rows = [one for one in outcomes if one.action == action]
        if not rows:
            continue
        by_task: dict[object, list[float]] = defaultdict(list)
        for one in rows:
            by_task[one.task or one.decision_id].append(one.success)
        low, high = mean_interval(np.array([float(np.mean(values)) for values in by_task.values()]))
        predicted = float(np.mean([one.predicted for one in rows]))
        observed = float(np.mean([one.success for one in rows]))
        lines.append(ActionLine(action, start, end, len(rows), predicted, observed, low, high))
    return lines


def _agreement(skill: str, outcomes: Sequence[DecisionOutcome], level: float) -> Agreement:
    """About outcomes in order of arrival."""
    rows = _first_of_each_task(outcomes)
    differences, times = _by_conversation(rows)
    watched = watch(differences, margin=_margin(rows), level=level)
    return Agreement(
        skill=skill,
        number=len(rows),
        repeated=len(outcomes) - len(rows),
        predicted=float(np.mean([one.predicted for one in rows])) if rows else None,
        observed=float(np.mean([one.success for one in rows])) if rows else None,
        difference=watched,
        alarm_time=None if watched.alarm is None else times[watched.alarm],
    )


def _first_of_each_task(outcomes: Sequence[DecisionOutcome]) -> list[DecisionOutcome]:
    """A task that comes again is known by then: its next outcome is no surprise, and no news."""
    first: dict[object, DecisionOutcome] = {}
    for one in outcomes:
        first.setdefault((one.skill, one.task) if one.task else one.decision_id, one)
    return list(first.values())


def _by_conversation(outcomes: Sequence[DecisionOutcome]) -> tuple[Floats, list[float]]:
    """One difference per conversation: several skills of one conversation share its success."""
    groups: dict[object, list[DecisionOutcome]] = defaultdict(list)
    for one in outcomes:
        groups[one.conversation or one.decision_id].append(one)
    differences = np.array([float(np.mean([one.difference for one in rows])) for rows in groups.values()])
    return differences, [rows[0].time for rows in groups.values()]


def _margin(outcomes: Sequence[DecisionOutcome]) -> float:
    """What counts as agreement: twice the standard error that the recorded pairs leave, and 5 points in any case."""
    pairs: dict[str, int] = {}
    for one in outcomes:
        pairs[one.evidence] = max(one.pairs, pairs.get(one.evidence, 0))
    number = sum(pairs.values())
    if not number:
        return 1.0
    # Two successes and two failures more, so that 20 of 20 recorded successes are not taken for certainty (Agresti, Coull 1998).
    share = (float(np.mean([one.predicted for one in outcomes])) * number + 2) / (number + 4)
    return max(MARGIN, 2 * math.sqrt(share * (1 - share) / (number + 4)))


def _predicted_success(record: DecisionRecord) -> float | None:
    """Of the action that was taken, by the neighbors that the log keeps with the decision."""
    neighbors = record.evidence.get("neighbors")
    rows = [row for row in neighbors if isinstance(row, dict)] if isinstance(neighbors, list | tuple) else []
    without = _weighted_mean(rows, "y0")
    if record.action == "skip" or without is None:
        return without
    entry = policies().get(ESTIMATORS.get(str(record.evidence.get("estimator")), str(record.evidence.get("estimator"))))
    if entry is not None and not entry.predicts_gain:
        return _weighted_mean(rows, "y1")  # a score that is no gain
    return min(1.0, max(0.0, without + record.gain))


def _weighted_mean(rows: Sequence[Mapping[str, Any]], name: str) -> float | None:
    try:
        pairs = [(float(row["weight"]), float(row[name])) for row in rows]
    except (KeyError, TypeError, ValueError):
        return None
    weight = sum(weight for weight, _ in pairs)
    return sum(weight * value for weight, value in pairs) / weight if weight > 0 else None
