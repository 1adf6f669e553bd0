"""A gate with its evidence: it decides one target, or every recorded task from the others.

Both ways look up the same neighbors, weigh the same costs and apply the same rule. They differ in who scores: a target is
scored by what was learned from all other tasks, recorded tasks are scored together by `Estimator.leave_one_out`, which is
what makes an evaluation of thousands of tasks affordable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from skilldelta import bounds, intervals, resemblance
from skilldelta.arrays import Flags, Floats, Vectors, exceeds
from skilldelta.costs import TokenCosts
from skilldelta.estimators.base import Estimator, FittedEstimator, Needs, Score, Scored, Scores, Target, target_of
from skilldelta.estimators.blend import Blend, FittedBlend
from skilldelta.estimators.blend.blend import left_out_with, rows_left_out_together, rows_without
from skilldelta.estimators.blend.fitted import pulled_to
from skilldelta.estimators.registry import PolicyEntry, deciding_entry
from skilldelta.gate.answer import Answer, Explanation
from skilldelta.gate.basis import basis_of
from skilldelta.gate.decision import decide
from skilldelta.gate.gate import Gate
from skilldelta.intervals import Interval
from skilldelta.predictor import Prediction, Predictions, predict, predict_each
from skilldelta.probability import Chance, Probabilities, fit_probabilities, new_family_chance
from skilldelta.resemblance import Familiarity, nearness
from skilldelta.support import Scope, Support

# Pairs below which a curve of chances over scores would be a guess.
_ENOUGH_FOR_CHANCES = 20


class GateEvidence(Protocol):
    """What a gate asks about recorded pairs: those in scope, and scores that were learned from all of them."""

    def in_scope(self, scope: Scope, target: Target) -> tuple[Scope, Support]:
        """The scope that a target really has, and its pairs; see `Support.scope_of`."""

    def score(self, target: Target) -> Score:
        """The estimator's score of a target, made without its own task."""

    def scored(self, target: Target) -> Scored:
        """Scores of recorded pairs, each made without its own outcome, in which the target's own task had no part."""

    def recorded_tasks(self, scope: Scope, target: Target, rows: Support) -> ScopeTasks:
        """The distinct tasks of a target's scope, which has these rows, and what is usual among them."""

    def chance_curve(self, target: Target) -> ChanceCurve | None:
        """How likely help and harm are by score, as `scored` shows; None on a small panel."""


class SupportEvidence:
    """The evidence of a support in memory."""

    def __init__(self, gate: Gate, support: Support, needs: Needs) -> None:
        self._support = support
        self._entry = deciding_entry(gate.estimator)
        self._estimator = estimator_of(gate, needs)
        self._fitted = self._estimator.fit(support)
        self._scored: dict[str, Scored] = {}

    def in_scope(self, scope: Scope, target: Target) -> tuple[Scope, Support]:
        """The rows of the support in a target's scope."""
        names = {"family": target.family, "skill": target.skill, "task_id": target.task_id}
        used, rows = self._support.scope_of(scope, **names)
        return used, self._support if len(rows) == len(self._support) else self._support.rows(rows)

    def score(self, target: Target) -> Score:
        """The fitted estimator's; where another package brought it, its own task is taken out of what it sees."""
        return score_without_own(self._entry, self._estimator, self._fitted, self._support, target)

    def scored(self, target: Target) -> Scored:
        """Made once for what a target must not have had a part in."""
        if isinstance(self._fitted, FittedBlend):
            return self._fitted.never_saw(target).scored
        name = left_out_for(self._support, target)
        if name not in self._scored:
            self._scored[name] = scored_without(self._estimator, self._support, name)
        return self._scored[name]

    def recorded_tasks(self, scope: Scope, target: Target, rows: Support) -> ScopeTasks:
        """Looked up anew for each target."""
        return ScopeTasks.of(rows)

    def chance_curve(self, target: Target) -> ChanceCurve | None:
        """Fitted to `scored`."""
        return ChanceCurve.of(self.scored(target))


def estimator_of(gate: Gate, needs: Needs) -> Estimator:
    """The estimator that a gate decides by, made with the gate's own settings."""
    make = deciding_entry(gate.estimator).estimator
    assert make is not None  # what predicts gains has an estimator
    return make(Needs(gate.settings, gate.scope, needs.skill_texts, needs.partition, needs.judgements))


def score_without_own(
    entry: PolicyEntry, estimator: Estimator, fitted: FittedEstimator, support: Support, target: Target
) -> Score:
    """A score that the outcomes of the target's own task cannot have touched.

    SkillDelta's own estimators leave the task out themselves. Another package's estimator is not trusted to: for a recorded
    task it is fitted anew without it.
    """
    if entry.is_installed and target.task_id and target.task_id in support.row_of_task:
        fitted = estimator.fit(support.rows(support.task_ids != target.task_id))
    return fitted.score(target)


def left_out_for(support: Support, target: Target) -> str:
    """What must stay unseen for a target, as `left_out_with` names it; empty where its task is not recorded."""
    tasks = support.row_of_task
    is_recorded = target.task_id and target.task_id in tasks
    return left_out_with(target.task_id, len(tasks)) if is_recorded else ""


def scored_without(estimator: Estimator, support: Support, left_out: str) -> Scored:
    """The scores of the rows that may be seen, each made without its own outcome and without all that is left out.

    Taking the errors of a target's own rows out of those of all others would not be enough: its outcomes moved the scores
    of the other rows as well.
    """
    if left_out:
        support = support.rows(rows_without(support.task_ids, left_out))
    scores = estimator.leave_one_out(support).values if len(support) else np.zeros(0)
    scored = ~np.isnan(scores)  # rows that an estimator trains on have no score
    return Scored(scores[scored], support.gains[scored], support.families[scored])


@dataclass(frozen=True, slots=True, eq=False)
class ScopeTasks:
    """The distinct tasks of a scope, and what is usual among them."""

    rows: Support
    vectors: Vectors  # (tasks, dim)
    place: Mapping[str, int]
    usual: Familiarity | None

    @classmethod
    def of(cls, rows: Support) -> ScopeTasks:
        """One row per task."""
        first = np.array([at[0] for at in rows.row_of_task.values()], np.int64)
        vectors = rows.vectors if len(first) == len(rows) else rows.vectors[first]
        return cls(rows, vectors, {task: i for i, task in enumerate(rows.row_of_task)}, Familiarity.of(vectors))

    def familiarity_of(self, target: Target) -> float | None:
        """How much a target resembles these tasks, without its own record; None where they are too few to say."""
        own = self.place.get(target.task_id) if target.task_id else None
        if own is not None:
            value = float(resemblance.leave_one_out(self.vectors)[own])
            return None if np.isnan(value) else value
        return None if self.usual is None else self.usual.at(nearness(self.vectors, target.vector))


@dataclass(frozen=True, slots=True, eq=False)
class ChanceCurve:
    """How likely one more pair shows help or harm, by predicted gain."""

    scored: Scored
    curve: Probabilities

    @classmethod
    def of(cls, scored: Scored) -> ChanceCurve | None:
        """None where the panel is too small for a curve."""
        if len(scored.gains) < _ENOUGH_FOR_CHANCES:
            return None
        return cls(scored, fit_probabilities(scored.scores, scored.gains))

    @property
    def usual(self) -> Chance:
        """How often pairs of this panel showed help and harm, whatever the task."""
        gains = self.scored.gains
        return Chance(float((gains > 0).mean()), float((gains < 0).mean()))

    def at(self, score: Score) -> Chance:
        """The chance at a score. As far as the target is unlike the recorded tasks it is what families show on the whole."""
        chance = self.curve.at(score.gain)
        if score.credit == 1:
            return chance
        return chance.blended(new_family_chance(self.scored.gains, self.scored.families), score.credit)


@dataclass(frozen=True, slots=True)
class FittedGate:
    """A gate that knows its evidence and decides targets."""

    gate: Gate
    evidence: GateEvidence

    def decide(self, target: Target, *, explain: bool = False) -> Answer:
        """Predict, decide and explain. No evidence in scope is an answer (skip), not an error."""
        gate, entry = self.gate, deciding_entry(self.gate.estimator)
        scope, rows, near, score = self._scored(target)
        familiarity = score.familiarity
        if familiarity is None and not entry.own_interval:
            familiarity = self.evidence.recorded_tasks(scope, target, rows).familiarity_of(target)
        cost = None
        if explain or gate.cost_rule:
            names = {"family": target.family, "skill": target.skill, "task_id": target.task_id}
            cost = TokenCosts.of(rows).predict(near.rows, **names, price=gate.price)
        interval = None if near.is_fallback else self._interval(target, rows, near, score)
        decision = decide(
            score.gain,
            threshold=gate.threshold_at(cost),
            eligible=near.eligible,
            rule=gate.rule,
            interval=interval,
            used=len(near.rows) if entry.averages_neighbors else None,
        )
        explanation = None
        if explain:
            curve = self.evidence.chance_curve(target)
            chance = None if curve is None else curve.at(score)
            usual = None if curve is None else curve.usual
            explanation = Explanation(score.components, score.shares, chance, usual, cost)
        answer = Answer(
            decision=gate.unless_unlike(decision, familiarity),
            skill=target.skill,
            family=target.family,
            estimator=gate.estimator,
            settings=gate.settings,
            settings_choose="gain" if entry.averages_neighbors else "neighbors",
            scope=scope,
            other_skills=int((rows.skills != target.skill).sum()),
            familiarity=familiarity,
            interval=interval,
            of_previous_revision=score.of_previous_revision,
            basis=None if near.is_fallback else basis_of(score),
            explanation=explanation,
        )
        return answer if near.is_fallback else answer.resting_on(rows, near)

    def gain(self, target: Target) -> float:
        """The predicted gain alone."""
        return self._scored(target)[-1].gain

    def _scored(self, target: Target) -> tuple[Scope, Support, Prediction, Score]:
        """The target's scope with its rows, the nearest of them, and the estimator's score."""
        entry = deciding_entry(self.gate.estimator)
        scope, rows = self.evidence.in_scope(self.gate.scope, target)
        own = rows.row_of_task.get(target.task_id) if target.task_id else None
        near = predict(target.vector, rows.vectors, rows.gains, settings=self.gate.settings, excluded=own)
        if near.is_fallback:  # without any evidence in scope every estimator falls back to 0
            score = Score(0.0)
        elif entry.averages_neighbors:
            score = Score.of_one(entry.name, near.gain)
        else:
            score = pulled_to(self.evidence.score(target), self.gate.prior_gain)
        return scope, rows, near, score

    def _interval(self, target: Target, rows: Support, near: Prediction, score: Score) -> Interval:
        method, level = self.gate.interval_method, self.gate.level
        if method == intervals.BLEND:
            return own_interval(score, level)
        if method == intervals.CONFORMAL:
            return conformal_interval(self.gate, score, self.evidence.scored(target), target.family)
        return neighbor_interval(self.gate, rows, near)


def own_interval(score: Score, level: float) -> Interval:
    """The interval that an estimator gives its own gain; everything is possible where it does not say."""
    if score.spread is None:
        return Interval(-1.0, 1.0, level, intervals.BLEND)
    deviation, freedom = score.spread.deviation, score.spread.freedom
    return intervals.posterior(score.gain, deviation=deviation, freedom=freedom, level=level)


def conformal_interval(gate: Gate, score: Score, scored: Scored, family: str) -> Interval:
    """The interval from the errors of recorded scores."""
    residuals = intervals.Residuals.of(scored.scores, scored.gains, scored.families)
    # The errors were made without the pull towards a prior gain, so the interval is longer by as much.
    pull = abs(gate.prior_gain) * score.shares.get("zero", 0.0)
    return intervals.conformal(score.gain, residuals, family=family, level=gate.level, widened_by=pull)


def neighbor_interval(gate: Gate, rows: Support, near: Prediction) -> Interval:
    """The interval of the nearest pairs' expected gain."""
    at, level = near.rows, gate.level
    pairs = intervals.Neighborhood(near.weights, rows.y0[at], rows.y1[at], rows.r0[at], rows.r1[at])
    interval = intervals.interval(gate.interval_method, pairs, level=level)
    if not gate.lipschitz and not gate.epsilon:
        return interval
    # The whole B_delta of the paper: what neighbors at a distance may miss beside the noise of their executions.
    bound = bounds.error_bound(
        radius=bounds.radius(near.weights, near.similarities),
        noise=bounds.noise(near.weights, rows.r0[at], rows.r1[at]),
        delta=1 - level,
        smoothness=gate.lipschitz,
        residual=gate.epsilon,
    )
    return Interval(max(-1.0, near.gain - bound), min(1.0, near.gain + bound), level, "b_delta")


@dataclass(frozen=True, slots=True, eq=False)
class PanelDecisions:
    """What a gate decides about every recorded task, each from the other tasks."""

    gate: Gate
    scores: Scores
    thresholds: Floats  # (n,) what each gain must exceed; they differ under a cost rule
    supported: Flags  # (n,) rows with evidence in scope
    uses: Flags  # (n,)
    abstains: Flags  # (n,) left to the fallback
    unlike: Flags  # (n,) less familiar than the limit
    low: Floats | None = None  # (n,) ends of the intervals, where the rule needs them
    high: Floats | None = None  # (n,)
    familiarity: Floats | None = None  # (n,) NaN where unknown; None where no limit asks for it

    @property
    def compared(self) -> Floats:
        """(n,) what is compared with the gate's threshold: the skill is used where it is larger.

        Gains, or the lower ends of intervals where the rule asks for them, less what tokens weigh; minus infinity where
        no threshold would use the skill, because there is no evidence or the task is unlike the recorded ones.
        """
        values = self.scores.values if self.low is None else self.low
        weighed: Floats = values - (self.thresholds - self.gate.threshold)
        return np.where(self.supported & ~self.unlike, weighed, -np.inf)

    @property
    def is_plain(self) -> bool:
        """Whether the actions are those of the gains above one threshold, wherever there is evidence."""
        gate = self.gate
        return gate.rule == "plain" and gate.cost_rule is None and gate.familiarity_floor == 0


def leave_one_out(gate: Gate, support: Support, needs: Needs) -> PanelDecisions:
    """Decide every row of a support with its own task left out entirely."""
    entry, estimator = deciding_entry(gate.estimator), estimator_of(gate, needs)
    near = predict_each(support, gate.scope, settings=gate.settings)
    if entry.averages_neighbors:
        scores = Scores(near.gains, supported=near.eligible > 0)
    else:
        scores = estimator.leave_one_out(support)
        if gate.prior_gain:  # only fitted scores tell what they were pulled to
            pulled = {row: pulled_to(s, gate.prior_gain).gain for row, s in _fitted_scores(estimator, support)}
            scores = replace(scores, values=np.array([pulled[row] for row in range(len(support))]))
    supported = near.eligible > 0
    if scores.supported is not None:
        supported &= scores.supported
    thresholds = _thresholds(gate, support, near)
    low = high = None
    if gate.rule == "plain":
        uses, abstains = exceeds(scores.values, thresholds) & supported, np.zeros(len(support), bool)
    else:
        low, high = _interval_ends(gate, support, near, estimator, scores)
        uses = exceeds(low, thresholds) & supported
        undecided = supported & ~uses & exceeds(high, thresholds)
        abstains = undecided if gate.rule == "three-way" else np.zeros(len(support), bool)
    familiarity, unlike = None, np.zeros(len(support), bool)
    if gate.familiarity_floor > 0:
        familiarity = scores.familiarity
        if familiarity is None:
            familiarity = scope_familiarity(support, gate.scope)
        with np.errstate(invalid="ignore"):  # NaN, not known, is no reason
            unlike = (familiarity < gate.familiarity_floor) & supported
        uses &= ~unlike
        if gate.rule == "three-way":
            abstains |= unlike
    return PanelDecisions(gate, scores, thresholds, supported, uses, abstains, unlike, low, high, familiarity)


def scope_familiarity(support: Support, scope: Scope) -> Floats:
    """(n,) how much each row's task resembles the other tasks of its scope; NaN where these are too few to say."""
    familiarity = np.full(len(support), np.nan)
    for targets, block in support.scope_groups(scope):
        codes, first = np.unique(support.task_codes[block], return_index=True)
        shares = resemblance.leave_one_out(support.vectors[block[first]])
        familiarity[targets] = shares[np.searchsorted(codes, support.task_codes[targets])]
    return familiarity


def _thresholds(gate: Gate, support: Support, near: Predictions) -> Floats:
    thresholds = np.full(len(support), gate.threshold)
    if gate.cost_rule is None:
        return thresholds
    for targets, block in support.scope_groups(gate.scope):
        costs = TokenCosts.of(support.rows(block))
        place = np.full(len(support), -1)
        place[block] = np.arange(len(block))
        for row in targets:
            neighbors = place[near.rows[row][near.rows[row] >= 0]]
            target = target_of(support, int(row))
            cost = costs.predict(neighbors, family=target.family, skill=target.skill, task_id=target.task_id)
            thresholds[row] = gate.threshold_at(cost)
    return thresholds


def _interval_ends(
    gate: Gate, support: Support, near: Predictions, estimator: Estimator, scores: Scores
) -> tuple[Floats, Floats]:
    """(n,) both ends of every row's interval; a row without support has none, and -1 to 1 stands there."""
    ends = np.tile([-1.0, 1.0], (len(support), 1))
    supported = near.eligible > 0
    if gate.interval_method == intervals.BLEND:
        for row, score in _fitted_scores(estimator, support):
            interval = own_interval(pulled_to(score, gate.prior_gain), gate.level)
            ends[row] = (interval.low, interval.high) if supported[row] else ends[row]
        return ends[:, 0], ends[:, 1]
    if gate.interval_method == intervals.CONFORMAL:
        for row, score, scored in _calibrated_scores(estimator, support, scores):
            interval = conformal_interval(gate, pulled_to(score, gate.prior_gain), scored, str(support.families[row]))
            ends[row] = (interval.low, interval.high) if supported[row] else ends[row]
        return ends[:, 0], ends[:, 1]
    for row in np.flatnonzero(supported).tolist():
        interval = neighbor_interval(gate, support, _prediction(near, row))
        ends[row] = interval.low, interval.high
    return ends[:, 0], ends[:, 1]


def _calibrated_scores(estimator: Estimator, support: Support, scores: Scores) -> Iterator[tuple[int, Score, Scored]]:
    """Every row with its score, and the scores of others whose errors say how wrong it may be."""
    if isinstance(estimator, Blend):
        for rows, fitted in estimator.fit_each(support):
            yield from ((row, fitted.score(target_of(support, row)), fitted.scored) for row in rows)
        return
    for name, rows in rows_left_out_together(support).items():
        scored = scored_without(estimator, support, name)
        yield from ((row, Score(float(scores.values[row])), scored) for row in rows)


def _fitted_scores(estimator: Estimator, support: Support) -> Iterator[tuple[int, Score]]:
    """Every row with the score of a fitted estimator that never saw its task."""
    if isinstance(estimator, Blend):  # it leaves several tasks out at once where that is enough
        yield from estimator.score_each(support)
        return
    for task_id, rows in support.row_of_task.items():
        fitted = estimator.fit(support.rows(support.task_ids != task_id))
        yield from ((row, fitted.score(target_of(support, row))) for row in rows.tolist())


def _prediction(near: Predictions, row: int) -> Prediction:
    there = near.rows[row] >= 0
    return Prediction(
        float(near.gains[row]),
        near.rows[row][there],
        near.similarities[row][there],
        near.weights[row][there],
        int(near.eligible[row]),
    )
