"""`stack`, the product's estimator, behind the estimator contract; and its components as people call them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from skilldelta.arrays import Flags, Floats, Strings
from skilldelta.estimators.base import Score, Scores, Target
from skilldelta.estimators.stack.components import COMPONENTS, DEFAULT, cross_fit
from skilldelta.estimators.stack.fitted import FittedPanel, Model
from skilldelta.estimators.stack.held_out_scores import leave_one_out
from skilldelta.estimators.stack.stack_panel import StackPanel
from skilldelta.estimators.stack.sums import FOLDS, fold_of, folds_of
from skilldelta.estimators.stack.views import Lens, Views
from skilldelta.estimators.stack.weights import Weights, learn_weights
from skilldelta.support import Support

GROWTH = 0.1
"""Weights and lens are learned anew when the support has grown by this share; until then new rows only join."""

_LARGE = 400
"""Tasks of a support above which a recorded task is scored without its whole fold."""


@dataclass(frozen=True, slots=True)
class Stack:
    """Local and pooled evidence in one gain, weighted by what held-out tasks have shown."""

    @property
    def name(self) -> str:
        """The policy name in results."""
        return "stack"

    def leave_one_out(self, support: Support) -> Scores:
        """Every row from the other tasks alone, weights included: nested cross-fitting."""
        if not len(support):
            return Scores(np.zeros(0))
        _, views = Lens.learn(support)
        found = leave_one_out(StackPanel.of(support, views))
        return Scores(found.values, notes=(shares_in_words(COMPONENTS, found.shares),))

    def fit(self, support: Support) -> FittedStack:
        """Learn lens and weights. Weights are learned on departures that did not see their own fold."""
        if not len(support):
            return FittedStack(support, None, Scored(support.gains, support.gains, support.families))
        lens, views = Lens.learn(support)
        panel = StackPanel.of(support, views)
        learned = _learn(panel)
        by_family = FittedPanel.of(panel, learned.weights)
        model = Model(lens, by_family, partial(_by_skill, support, views, by_family))
        return FittedStack(support, model, Scored(learned.out_of_fold, support.gains, support.families))


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Scores of recorded rows, each made without its own outcome, beside the gains that were observed."""

    scores: Floats  # (n,)
    gains: Floats  # (n,)
    families: Strings  # (n,)


@dataclass(frozen=True, eq=False)
class FittedStack:
    """A stack and the support it scores from; growing returns a new one, so that readers are never disturbed."""

    support: Support
    model: Model | None
    """None without evidence: then every gain is 0."""
    scored: Scored
    """What chances of help and harm can be calibrated on."""
    without: dict[str, FittedStack] = field(default_factory=dict)
    """Stacks that never saw a task, or its fold, made when a recorded task is asked about."""

    @cached_property
    def _tasks(self) -> frozenset[str]:
        return frozenset(self.support.task_ids.tolist())

    def score(self, target: Target) -> Score:
        """The predicted gain; a task of the support is scored by a stack that never saw it."""
        if self.model is None:
            return Score(0.0)
        if target.task_id and target.task_id in self._tasks:
            return self._stack_without(target.task_id).score(target)
        return self.model.score(target)

    def grown(self, support: Support) -> FittedStack:
        """The stack over a support with more rows: levels, neighbours and lines at once, weights and lens by `GROWTH`."""
        learned_on = len(self.scored.scores)
        if self.model is None or abs(len(support) - learned_on) > GROWTH * learned_on:
            return Stack().fit(support)
        old, by_family = self.model, self.model.by_family
        assert isinstance(by_family, FittedPanel)
        views = old.lens.grown(by_family.panel.views, self.support, support)
        model = Model(
            old.lens,
            by_family.with_rows_of(StackPanel.of(support, views)),
            partial(_by_skill_grown, old, support, views),
        )
        return FittedStack(support, model, self.scored)

    def _stack_without(self, task_id: str) -> FittedStack:
        """A stack fitted without a task; in a large support without its whole fold, so that ten serve all tasks."""
        name = left_out_with(task_id, len(self._tasks))
        if name not in self.without:
            self.without[name] = Stack().fit(self.support.rows(rows_without(self.support.task_ids, task_id, name)))
        return self.without[name]


def left_out_with(task_id: str, tasks: int) -> str:
    """What a stack must not have seen to score a task of a support with so many: its fold, or in a small one the task."""
    return f"fold {fold_of(task_id)}" if tasks > _LARGE else f"task {task_id}"


def rows_without(task_ids: Strings, task_id: str, left_out: str) -> Flags:
    """(n,) the rows that such a stack may see."""
    kept: Flags = folds_of(task_ids) != fold_of(task_id) if left_out.startswith("fold ") else task_ids != task_id
    return kept


@dataclass(frozen=True, slots=True, eq=False)
class _Learned:
    weights: Weights
    out_of_fold: Floats  # (n,)


def _by_skill(support: Support, views: Views, by_family: FittedPanel) -> FittedPanel:
    panel = StackPanel.of(support, views, by_skill=True)
    if by_family.panel.nesting.is_flat:  # one family per skill: the same rows, and so the same weights
        same = {("", skill): trust for (_, skill), trust in by_family.trust.items()}
        return FittedPanel(panel, same, by_family.suite_trust, {})
    return FittedPanel.of(panel, _learn(panel).weights)


def _by_skill_grown(old: Model, support: Support, views: Views) -> FittedPanel:
    assert isinstance(old.by_skill, FittedPanel)
    return old.by_skill.with_rows_of(StackPanel.of(support, views, by_skill=True))


def _learn(panel: StackPanel) -> _Learned:
    """Weights from every row's departures without its own fold, and the scores they make of them."""
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
    return _Learned(weights, levels + np.vecdot(departures, weights.groups[panel.groups]))


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
SMALLEST_SHARE = 0.005
"""A share that would print as 0% is not named."""


def component_words(name: str) -> str:
    """A component by its words; names of other estimators' components stay as they are."""
    return _WORDS.get(name, name)


def shares_in_words(names: Iterable[str], shares: Floats) -> str:
    """What scores are made of on average: the level of the family, and what counted besides."""
    found = sorted(zip(names, shares.tolist(), strict=True), key=lambda part: -part[1])
    parts = [f"{component_words(name)} {share:.0%}" for name, share in found if share >= SMALLEST_SHARE]
    level = f"level of the family {max(0.0, 1 - float(shares.sum())):.0%}"
    return "weights, on average: " + ", ".join([level, *parts])
