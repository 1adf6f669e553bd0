"""`blend`, the product's estimator, behind the estimator contract.

Every task of a panel is scored from the other tasks alone, weights included. The score of a task in fold f is the level
of its family without the task, plus its departures weighted by weights that were learned without any outcome of fold f,
from departures that did not see fold f either. The departures of the task itself leave out its fold, or in a small
family the task alone. A task that is alone in its family is scored like one of a new family, and one that is unlike the
others is pulled towards that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations

import numpy as np

from skilldelta import resemblance
from skilldelta.arrays import Flags, Floats, Ints, SmallInts, Strings
from skilldelta.estimators.base import Score, Scored, Scores, Target, target_of
from skilldelta.estimators.blend.blend_panel import FOLDS, BlendPanel, Key, fold_of, folds_of
from skilldelta.estimators.blend.components import COMPONENTS, DEFAULT, cross_fit, departures_without_task
from skilldelta.estimators.blend.fitted import FittedPanel, Model, Transfer, credits_of, reported_gains
from skilldelta.estimators.blend.shrinkage import new_families
from skilldelta.estimators.blend.views import FeatureExtractor, Views
from skilldelta.estimators.blend.weights import Trust, Weights, learn_weights
from skilldelta.support import Support

# Weights and the feature extractor are learned anew when the support has grown by this share; until then new rows only join.
GROWTH = 0.1

# Tasks of a support above which a recorded task is scored without its whole fold.
_LARGE = 400


@dataclass(frozen=True, slots=True)
class Blend:
    """Local and pooled evidence in one gain, weighted by what held-out tasks have shown."""

    name = "blend"

    def leave_one_out(self, support: Support) -> Scores:
        """Every row from the other tasks alone, weights included: nested cross-fitting."""
        if not len(support):
            return Scores(np.zeros(0))
        _, views = FeatureExtractor.learn(support)
        return _leave_one_out(BlendPanel.of(support, views))

    def score_each(self, support: Support) -> Iterator[tuple[int, Score]]:
        """Every row with the score that a fitted blend gives its task, which it never saw: one fit per task or fold.

        Unlike `leave_one_out` this costs as many fits as there are tasks, in a large support as many as there are folds.
        """
        for rows, fitted in self.fit_each(support):
            yield from ((row, fitted.score(target_of(support, row))) for row in rows)

    def fit_each(self, support: Support) -> Iterator[tuple[list[int], FittedBlend]]:
        """For every row a blend that never saw its task; rows that share one come together."""
        for name, rows in rows_left_out_together(support).items():
            yield rows, self.fit(support.rows(rows_without(support.task_ids, name)))

    def fit(self, support: Support) -> FittedBlend:
        """Learn extractor and weights. Weights are learned on departures that did not see their own fold."""
        if not len(support):
            return FittedBlend(support, None, Scored(support.gains, support.gains, support.families))
        extractor, views = FeatureExtractor.learn(support)
        panel = BlendPanel.of(support, views)
        weights, out_of_fold = _learn(panel)
        by_family = FittedPanel.of(panel, weights)
        model = Model(extractor, by_family, partial(_by_skill, support, views, by_family))
        return FittedBlend(support, model, Scored(out_of_fold, support.gains, support.families))


@dataclass(frozen=True, eq=False)
class FittedBlend:
    """A blend and the support it scores from; growing returns a new one, so that readers are never disturbed."""

    support: Support
    model: Model | None
    """None without evidence: then every gain is 0."""
    scored: Scored
    """What chances of help and harm can be calibrated on."""
    without: dict[str, FittedBlend] = field(default_factory=dict)
    """Blends that never saw a task, or its fold, made when a recorded task is asked about."""

    def score(self, target: Target) -> Score:
        """The predicted gain; a task of the support is scored by a blend that never saw it."""
        blend = self.never_saw(target)
        return Score(0.0) if blend.model is None else blend.model.score(target)

    def never_saw(self, target: Target) -> FittedBlend:
        """This blend, or for a task of the support one that was fitted without it."""
        if not target.task_id or target.task_id not in self.support.row_of_task:
            return self
        # In a large support its whole fold is left out, so that ten blends serve all tasks.
        name = left_out_with(target.task_id, len(self.support.row_of_task))
        if name not in self.without:
            self.without[name] = Blend().fit(self.support.rows(rows_without(self.support.task_ids, name)))
        return self.without[name]

    def grown(self, support: Support) -> FittedBlend:
        """The blend over a support with more rows: levels, neighbors and lines at once, weights and extractor by `GROWTH`."""
        learned_on = len(self.scored.scores)
        if self.model is None or abs(len(support) - learned_on) > GROWTH * learned_on:
            return Blend().fit(support)
        extractor, before = self.model.extractor, self.model.by_family
        assert isinstance(before, FittedPanel)
        views = extractor.grown(before.panel.views, self.support, support)
        by_family = replace(before, panel=BlendPanel.of(support, views), prepared={})
        # Nothing of the old model may be held here but weights: else every change of a bank would keep a whole panel.
        if "by_skill" in vars(self.model):
            assert isinstance(self.model.by_skill, FittedPanel)
            weights = self.model.by_skill.trust, self.model.by_skill.suite_trust
            make_by_skill = partial(_by_skill_grown, weights, support, views)
        else:
            make_by_skill = partial(_by_skill, support, views, by_family)
        return FittedBlend(support, Model(extractor, by_family, make_by_skill), self.scored)


def left_out_with(task_id: str, tasks: int) -> str:
    """What a blend must not have seen to score a task of a support with so many: its fold, or in a small one the task."""
    return f"fold {fold_of(task_id)}" if tasks > _LARGE else f"task {task_id}"


def rows_left_out_together(support: Support) -> dict[str, list[int]]:
    """All rows of a support by what a blend must not have seen to score them."""
    tasks, rows_by_name = support.row_of_task, dict[str, list[int]]()
    for task_id, rows in tasks.items():
        rows_by_name.setdefault(left_out_with(task_id, len(tasks)), []).extend(rows.tolist())
    return rows_by_name


def rows_without(task_ids: Strings, left_out: str) -> Flags:
    """(n,) the rows that such a blend may see."""
    kind, _, name = left_out.partition(" ")
    others: Flags = folds_of(task_ids) != int(name) if kind == "fold" else task_ids != name
    return others


def _by_skill(support: Support, views: Views, by_family: FittedPanel) -> FittedPanel:
    panel = BlendPanel.of(support, views, by_skill=True)
    if by_family.panel.nesting.is_flat:  # one family per skill: the same rows, and so the same weights
        same = {("", skill): trust for (_, skill), trust in by_family.trust.items()}
        return FittedPanel(panel, same, by_family.suite_trust)
    return FittedPanel.of(panel, _learn(panel)[0])


def _by_skill_grown(weights: tuple[Mapping[Key, Trust], Trust], support: Support, views: Views) -> FittedPanel:
    return FittedPanel(BlendPanel.of(support, views, by_skill=True), *weights)


def _learn(panel: BlendPanel) -> tuple[Weights, Floats]:
    """Weights from every row's departures without its own fold, and the scores (n,) that they make of them."""
    departures = cross_fit(panel, nested=False).plain
    levels = np.zeros(len(panel))
    for fold in range(FOLDS):
        rows = np.flatnonzero(panel.folds == fold)
        if len(rows):
            levels[rows] = panel.levels_without([fold]).level[panel.groups[rows]]
    everything = np.ones(len(panel), bool)
    weights = learn_weights(
        departures, panel.gains - levels, panel.weights, blocks=panel.blocks, keep=everything, default=DEFAULT
    )
    return weights, levels + np.vecdot(departures, weights.groups[panel.groups])


# Width of a level's step times the root of its rows: about the 95% interval of a mean gain.
_STEP = 2.5

_FEWEST_FOR_STEPS = 100


def _leave_one_out(panel: BlendPanel) -> Scores:
    """Nested cross-fitting over the folds of a panel."""
    found = cross_fit(panel, nested=True)
    assert found.held is not None
    residuals = _held_out_residuals(panel)
    departures = departures_without_task(panel, found.plain)
    left = panel.without_task
    familiarity = _familiarity(panel, found.nearest)
    own_share = credits_of(familiarity)
    values = np.zeros(len(panel))
    shares = np.zeros(len(COMPONENTS))
    for f in range(FOLDS):
        keep = panel.folds != f
        weights = learn_weights(
            found.held[f], residuals[f], panel.weights, blocks=panel.blocks, keep=keep, default=DEFAULT
        )
        rows = np.flatnonzero(~keep)
        group = panel.groups[rows]
        level = stepped(left.level[rows], left.rows[rows], weights.spread[group])
        alone = left.rows[rows] == 0
        if alone.any() and panel.nesting.is_flat:
            transfer = Transfer.of(panel, [f])
            level[alone] = [transfer.level(vector) for vector in panel.views.vectors[rows[alone]]]
        own = level + np.vecdot(departures[rows], weights.groups[group])
        new = new_families(panel.sums.without([f]), panel.nesting).level[panel.nesting.skill_of[group]]
        values[rows] = new + own_share[rows] * (own - new)
        shares += weights.groups[group].sum(axis=0) / len(panel)
    return Scores(reported_gains(values), familiarity=familiarity, notes=(shares_in_words(COMPONENTS, shares),))


def _familiarity(panel: BlendPanel, nearest: SmallInts) -> Floats:
    """(n,) how much every row resembles the others of its group."""
    familiarity = np.full(len(panel), np.nan)
    for block in panel.blocks:
        familiarity[block] = resemblance.leave_one_out(
            panel.views.vectors[block], np.searchsorted(block, nearest[block])
        )
    return familiarity


def _held_out_residuals(panel: BlendPanel) -> Floats:
    """(folds, n) gains minus their group's level, at [f, i] without the fold of i and without f."""
    residuals = np.zeros((FOLDS, len(panel)))
    members = [np.flatnonzero(panel.folds == f) for f in range(FOLDS)]
    for f, g in combinations(range(FOLDS), 2):
        levels = panel.levels_without([f, g]).level
        for fold, rows in ((f, members[g]), (g, members[f])):
            residuals[fold, rows] = panel.gains[rows] - levels[panel.groups[rows]]
    return residuals


def stepped(levels: Floats, rows: Ints, spread: Floats) -> Floats:
    """(m,) levels on steps, where the family is large and its departures are weak; the sign never changes.

    A level without the task differs between two tasks of a family only by their own outcomes, with a minus sign. Where
    departures are strong this does not matter. Where they are weak it would order the tasks of a family against their own
    outcomes, so there the level is taken to the middle of a step of the width of its own uncertainty, and the tasks tie.
    """
    step = _STEP / np.sqrt(np.maximum(rows, 1))
    coarse = (rows >= _FEWEST_FOR_STEPS) & (spread < step / 2)
    return np.where(coarse, (np.floor(levels / step) + 0.5) * step, levels)


_WORDS: Mapping[str, str] = {
    "nearest_6": "6 nearest tasks",
    "nearest_25": "25 nearest tasks",
    "words_25": "25 nearest by words",
    "shape_25": "25 nearest by shape",
    "vector_ridge": "trend over meaning",
    "word_ridge": "trend over words",
    "shape_ridge": "trend over shape",
    "family": "family mean",
    "skill": "skill mean",
    "suite": "suite mean",
    "zero": "no gain",
    "nearest_families": "similar families",
    "new_family": "what new families show",
}
# A share that would print as 0% is not named.
SMALLEST_SHARE = 0.005


def component_words(name: str) -> str:
    """A component by its words; names of other estimators' components stay as they are."""
    return _WORDS.get(name, name)


def shares_in_words(names: Iterable[str], shares: Floats) -> str:
    """What scores are made of on average: the level of the family, and what counted besides."""
    ranked = sorted(zip(names, shares.tolist(), strict=True), key=lambda part: -part[1])
    parts = [f"{component_words(name)} {share:.0%}" for name, share in ranked if share >= SMALLEST_SHARE]
    level = f"level of the family {max(0.0, 1 - float(shares.sum())):.0%}"
    return "weights, on average: " + ", ".join([level, *parts])
