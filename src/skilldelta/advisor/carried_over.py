"""Evidence of a skill's previous version, used for an edited one until it has runs of its own.

An edited skill is neither the recorded one nor an unknown one. Its gain is expected to be that of the recorded version, less
what edits of this size have cost other skills of the bank, and less sure. How gains survive edits is learned from skills
that were run in two versions; before any was, a text that changed by a tenth keeps nine tenths of its gain.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist, mean
from typing import NamedTuple

from skilldelta.gate import Answer, CarriedOver, Gate, decide
from skilldelta.intervals import Interval
from skilldelta.pairing import arms_of
from skilldelta.records import Execution, Skill, text_digest
from skilldelta.text_sketch import changed_share, text_sketch

# What an edit changes at least.
_LEAST_CHANGE = 0.01
# Where nobody can tell how much changed, half of the gain is believed.
_UNKNOWN_TRUST = 0.5
# The variance of a gain about which nothing is known.
_UNKNOWN_VARIANCE = 0.05
# The variance of one task's gain, and how sure the cost of edits is beforehand: 1 per changed share, give or take 0.5.
_TASK_VARIANCE, _PRIOR_COST, _PRIOR_PRECISION = 0.5, 1.0, 4.0
_FEWEST_TASKS = 3


@dataclass(frozen=True, slots=True)
class Edit:
    """A skill that was run in two versions on the same tasks."""

    changed: float
    before: float
    """Mean gain of the earlier version over the common tasks."""
    after: float
    tasks: int


def carried_over(advice: Answer, gate: Gate, version: str, changed: float | None, cost: float) -> Answer:
    """The advice about the recorded version as advice about an edited one; `cost` is what `edit_cost` has learned."""
    if advice.interval is None or advice.decision.is_fallback:
        return advice
    trust = _UNKNOWN_TRUST if changed is None else min(1.0, max(0.0, 1 - cost * changed))
    source = CarriedOver(version, changed, trust)
    gain, interval = trust * advice.decision.gain, advice.interval
    reach = NormalDist().inv_cdf((1 + interval.level) / 2)
    deviation = (interval.high - interval.low) / 2 / reach
    half = reach * math.sqrt((trust * deviation) ** 2 + (1 - trust**2) * _UNKNOWN_VARIANCE)
    wider = Interval(max(-1.0, gain - half), min(1.0, gain + half), interval.level, interval.method)
    decision = decide(
        gain, threshold=advice.decision.threshold, eligible=advice.eligible, rule=gate.rule, interval=wider
    )
    decision = gate.unless_unlike(
        replace(
            decision,
            reason=f"{decision.reason}; {source.sentence}",
            would_change=f"{decision.would_change}, or runs with this version",
        ),
        advice.familiarity,
    )
    return replace(advice, decision=decision, interval=wider, carried_over=source)


def for_version(advice: Answer, gate: Gate, recorded: Skill, offered: SkillVersion, edits: Iterable[Edit]) -> Answer:
    """The advice about a recorded skill as advice about the version on offer, which may have been edited since."""
    if offered.is_recorded(recorded):
        return advice
    return carried_over(advice, gate, recorded.digest, offered.changed_since(recorded), edit_cost(edits))


class SkillVersion(NamedTuple):
    """What a question says about the version of the skill on offer; empty is unknown."""

    digest: str
    """Of the text."""
    sketch: str
    """Of the text."""
    folder_digest: str = ""
    """Of the whole folder, where it has other files."""
    folder_sketch: str = ""

    @classmethod
    def of(cls, skill: Skill) -> SkillVersion:
        """The version that a skill on disk or in a bank is."""
        if not skill.text:
            return cls(skill.digest, "")
        return cls(
            text_digest(skill.text), text_sketch(skill.text), skill.digest, skill.sketch or text_sketch(skill.text)
        )

    def is_recorded(self, recorded: Skill) -> bool:
        """Whether this is the recorded version. Whoever knows the text alone, on either side, is believed."""
        if not recorded.digest or not self.digest:
            return True
        if recorded.files and self.folder_digest:
            return recorded.digest == self.folder_digest
        of_text = text_digest(recorded.text) if recorded.text else recorded.digest
        return of_text == self.digest or recorded.digest == (self.folder_digest or self.digest)

    def changed_since(self, recorded: Skill) -> float | None:
        """The share of the recorded version that was changed; None where that cannot be told."""
        if recorded.files and self.folder_sketch:
            # Something did change, if only in a file that a sketch does not see.
            return max(_LEAST_CHANGE, changed_share(recorded.sketch, self.folder_sketch))
        return changed_share(text_sketch(recorded.text), self.sketch) if recorded.text and self.sketch else None


def edit_cost(edits: Iterable[Edit]) -> float:
    """How much of a gain an edit costs, per share of changed text, from what other edits did.

    Least squares of the later gain on the earlier one, less the cost, pulled towards 1: nothing is left of a rewritten text.

    >>> edit_cost([])
    1.0
    >>> round(edit_cost([Edit(0.2, 0.5, 0.5, 200)] * 4), 2)  # gains survived
    0.3
    """
    upper, lower = _PRIOR_COST * _PRIOR_PRECISION, _PRIOR_PRECISION
    for edit in edits:
        weight, noise = edit.tasks / (2 * _TASK_VARIANCE), _TASK_VARIANCE / edit.tasks
        # The earlier gain is itself measured: without its noise taken out, falling back to the mean would pass for a cost.
        upper += weight * edit.changed * (edit.before * (edit.before - edit.after) - noise)
        lower += weight * edit.changed**2 * (edit.before**2 - noise)
    return min(2.0, max(0.0, upper / max(lower, _PRIOR_PRECISION)))


def edits_of(skills: Sequence[Skill], executions: Iterable[Execution]) -> list[Edit]:
    """The edits that a bank can learn from: consecutive versions with known texts, run on common tasks."""
    gains: dict[tuple[str, str], dict[tuple[str, str, str], float]] = {}
    for arms in arms_of(executions):
        if not arms.missing:
            skip, use = ([run.success or 0.0 for run in arm] for arm in (arms.skip, arms.use))
            task = (arms.agent.name, arms.suite, arms.task_id)
            gains.setdefault((arms.skill_id, arms.digest), {})[task] = mean(use) - mean(skip)
    edits = []
    for earlier, later in _consecutive([skill for skill in skills if skill.text]):
        before, after = (gains.get((skill.skill_id, skill.digest), {}) for skill in (earlier, later))
        common = before.keys() & after.keys()
        if len(common) >= _FEWEST_TASKS:
            changed = changed_share(*(skill.sketch or text_sketch(skill.text) for skill in (earlier, later)))
            edits.append(
                Edit(changed, mean(before[task] for task in common), mean(after[task] for task in common), len(common))
            )
    return edits


def _consecutive(skills: Sequence[Skill]) -> Iterable[tuple[Skill, Skill]]:
    latest: dict[str, Skill] = {}
    for skill in skills:
        if skill.skill_id in latest:
            yield latest[skill.skill_id], skill
        latest[skill.skill_id] = skill
