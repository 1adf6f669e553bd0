"""Which executions to buy next: those that most improve the decision about each family of tasks.

A gate without any relation between text and gain decides by the level of a task's family: use the skill where the level is
above the threshold. An execution is worth buying as far as it may turn that decision around. The knowledge gradient says how
far that is: for a family with level m, variance v and share w of the tasks, b more pairs are worth
w * sd * (phi(z) - z * Phi(-z)), where sd² = v - 1 / (1 / v + b / noise) is how much of the variance they take away and
z = |m - threshold| / sd. Families are served by worth per execution, in steps of 1, 3, 10 or 30 pairs; a step may be needed
because one pair alone can seldom turn a decision.

Two cases come before that. A family with fewer than two pairs gets them first. And where families hardly differ, a pair of
one family tells as much about the others, which the gradient of single families does not know: then executions are spread
evenly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from skilldelta.arrays import Floats, Ints
from skilldelta.errors import InputError
from skilldelta.estimators.blend.shrinkage import (
    BETWEEN_TASKS,
    UNIT_VARIANCE,
    WITHIN_ARM,
    Nesting,
    Sums,
    family_levels,
    precisions,
    row_variances,
)
from skilldelta.records import Condition

# Family and skill.
GroupKey = tuple[str, str]
Kind = Literal["new pair", "missing arm", "repetition"]

# Pairs that every family gets before any of them gets more.
FIRST_PAIRS = 2
# Pairs that are bought in one step.
_STEPS = (1, 3, 10, 30)
# Where families' own means make up less than this share of their levels, they hardly differ.
_FEWEST_DIFFERENCES = 0.15
_NORMAL = NormalDist()
# Two standard deviations: the level lies on one side of the threshold with 95%.
_SURE = 1.96


@dataclass(frozen=True, slots=True)
class PairRow:
    """A recorded pair: what a plan needs of it."""

    key: GroupKey
    gain: float
    r0: int
    r1: int


@dataclass(frozen=True, slots=True)
class Offer:
    """Executions of one task that can be bought together."""

    kind: Kind
    conditions: tuple[Condition, ...]
    """The arms to run once; an arm that is recorded already is not bought again."""
    task_id: str = ""
    """Empty for a task that is yet to be written."""
    weight: float = 1.0
    """What it tells, where a pair of one execution per arm tells 1."""


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """One family under one skill: what is known of it, and what to buy."""

    family: str
    skill: str
    share: float
    """Of the tasks that are decided."""
    pairs: int
    gain: float
    """The level that its decision rests on today."""
    deviation: float
    """How far the true level may lie from it: its standard deviation."""
    offers: tuple[Offer, ...]
    """What to buy, in order."""
    sure_now: bool
    """Whether the level's 95% interval lies on one side of the threshold."""
    chance_of_sure: float
    """How likely it will, once everything is bought."""
    worth: float
    """How much success per task of the whole the purchase is expected to add."""

    @property
    def executions(self) -> int:
        """How many executions the purchase consists of."""
        return sum(len(offer.conditions) for offer in self.offers)


@dataclass(frozen=True, slots=True)
class PurchasePlan:
    """What a budget of executions buys."""

    groups: tuple[GroupPlan, ...]
    """The most valuable purchase first; groups that get nothing last."""
    is_even: bool
    """Whether families hardly differ, so that executions are spread evenly."""

    @property
    def executions(self) -> int:
        """Executions that are bought; fewer than the budget where nothing is left to run."""
        return sum(group.executions for group in self.groups)

    @property
    def worth(self) -> float:
        """How much success per task all purchases are expected to add."""
        return sum(group.worth for group in self.groups)


def repetition_offer(task_id: str, r0: int, r1: int) -> Offer:
    """One more execution of each arm of a recorded pair; it tells less than a new pair, because tasks differ.

    Examples:
        >>> round(repetition_offer("t1", 1, 1).weight, 2)
        0.67
    """
    before, after = precisions(np.array([r0, r0 + 1]), np.array([r1, r1 + 1]))
    return Offer("repetition", ("skip", "use"), task_id, float(after - before))


def plan_purchases(
    pairs: Sequence[PairRow],
    offers: Mapping[GroupKey, Sequence[Offer]],
    *,
    budget: int,
    threshold: float = 0.0,
    shares: Mapping[GroupKey, float] | None = None,
) -> PurchasePlan:
    """What to run next with a budget of executions.

    Parameters:
        pairs: The recorded pairs of one agent on one suite.
        offers: What can be bought for each family and skill, in the order in which it should be.
        budget: The most executions to buy.
        threshold: The gate's; a decision is made by the side of it on which a level lies.
        shares: The share of the tasks that each family has where the gate is used; as recorded and offered unless given.

    Raises:
        InputError: The budget buys nothing, or there is neither a pair nor an offer.

    Examples:
        >>> offers = {("dates", "calendar"): [Offer("new pair", ("skip", "use"), "d1")]}
        >>> plan_purchases([], offers, budget=10).executions
        2
    """
    if budget < 1:
        raise InputError(f"the budget must be at least one execution, got {budget}", setting="budget")
    keys = sorted({pair.key for pair in pairs} | set(offers))
    if not keys:
        raise InputError("there is nothing to plan: no recorded pair and no task that could be run")
    market = _Market(keys, pairs, offers, threshold, shares)
    market.buy_first_pairs(budget)
    if market.is_even:
        market.spread(budget)
    else:
        market.buy_by_worth(budget)
    groups = sorted(market.groups(), key=lambda group: (-group.worth, -group.executions, group.family, group.skill))
    return PurchasePlan(tuple(groups), market.is_even)


class _Market:
    """Levels of the families, what is offered for each, and what has been bought so far."""

    def __init__(
        self,
        keys: list[GroupKey],
        pairs: Sequence[PairRow],
        offers: Mapping[GroupKey, Sequence[Offer]],
        threshold: float,
        shares: Mapping[GroupKey, float] | None,
    ) -> None:
        place = {key: i for i, key in enumerate(keys)}
        codes = np.array([place[pair.key] for pair in pairs], np.int64)
        gains = np.array([pair.gain for pair in pairs], np.float64)
        weights = precisions(
            np.array([pair.r0 for pair in pairs], np.int64), np.array([pair.r1 for pair in pairs], np.int64)
        )
        sums = Sums.by(codes, len(keys), gains, weights)
        skills, skill_of = np.unique([skill for _, skill in keys], return_inverse=True)
        levels = family_levels(sums, Nesting(skill_of.astype(np.int64), len(skills)))
        self._keys = keys
        self._offers = [tuple(offers.get(key, ())) for key in keys]
        # What the first n offers of a group cost and tell.
        self._costs = [np.cumsum([0, *(len(offer.conditions) for offer in group)]) for group in self._offers]
        self._weights = [np.cumsum([0.0, *(offer.weight for offer in group)]) for group in self._offers]
        self._bought = np.zeros(len(keys), np.int64)
        self._pairs: Ints = sums.rows
        self._levels, self._before = levels.level, levels.variance
        self._variances = levels.variance.copy()
        self._noise = row_variances(sums)
        self._distance = np.abs(levels.level - threshold)
        counts = (
            np.array(
                [
                    float(rows + sum(offer.kind == "new pair" for offer in group))
                    for rows, group in zip(sums.rows, self._offers, strict=True)
                ]
            )
            if shares is None
            else np.array([shares.get(key, 0.0) for key in keys], np.float64)
        )
        self._shares: Floats = counts / max(counts.sum(), 1e-12)
        self.is_even = (
            bool((self._shares * levels.family).sum() < _FEWEST_DIFFERENCES) and len(keys) > 1 and len(pairs) > 0
        )

    @property
    def spent(self) -> int:
        """Executions bought so far."""
        return int(sum(costs[n] for costs, n in zip(self._costs, self._bought, strict=True)))

    def buy_first_pairs(self, budget: int) -> None:
        """Two pairs for every family that has fewer, one after the other, the largest family first."""
        remaining = budget
        for pairs in range(1, FIRST_PAIRS + 1):
            for group in np.argsort(-self._shares, kind="stable"):
                if self._pairs[group] + self._bought[group] < pairs:
                    remaining -= self._buy(int(group), 1, remaining)

    def spread(self, budget: int) -> None:
        """One offer after the other, always for the family that has fewest pairs for its size."""
        remaining = budget - self.spent
        is_open = np.array([len(group) > 0 for group in self._offers])
        while remaining > 0 and is_open.any():
            coverage = (self._pairs + self._bought) / np.maximum(self._shares, 1e-12)
            group = int(np.argmin(np.where(is_open, coverage, np.inf)))
            cost = self._buy(group, 1, remaining)
            remaining -= cost
            is_open[group] = cost > 0

    def buy_by_worth(self, budget: int) -> None:
        """Always the step that is worth most per execution."""
        remaining = budget - self.spent
        rates, steps = np.full(len(self._keys), -1.0), np.ones(len(self._keys), np.int64)
        for group in range(len(self._keys)):
            rates[group], steps[group] = self._best_step(group, remaining)
        while remaining > 0 and rates.max() >= 0:
            group = int(np.argmax(rates))
            remaining -= self._buy(group, int(steps[group]), remaining)
            rates[group], steps[group] = self._best_step(group, remaining)

    def _best_step(self, group: int, remaining: int) -> tuple[float, int]:
        """Worth per execution of a group's best step, and its size; -1 where nothing more can be bought."""
        best, size = -1.0, 1
        start, costs = int(self._bought[group]), self._costs[group]
        for step in _STEPS:
            end = start + step
            if end >= len(costs) or costs[end] - costs[start] > remaining:
                break
            weight = self._weights[group][end] - self._weights[group][start]
            rate = self._worth(group, self._variances[group], self._after(group, weight)) / (costs[end] - costs[start])
            if rate > best:
                best, size = rate, step
        return best, size

    def _after(self, group: int, weight: float) -> float:
        """The variance that is left of a group's level after so much more evidence."""
        return float(1 / (1 / self._variances[group] + weight / self._noise[group]))

    def _worth(self, group: int, before: float, after: float) -> float:
        """The knowledge gradient: expected success per task of deciding later instead of now."""
        deviation = float(np.sqrt(max(before - after, 1e-18)))
        z = float(self._distance[group]) / deviation
        return float(self._shares[group]) * deviation * (_NORMAL.pdf(z) - z * _NORMAL.cdf(-z))

    def _buy(self, group: int, count: int, remaining: int) -> int:
        """Buy a group's next offers as far as the budget goes; returns what they cost."""
        start, costs = int(self._bought[group]), self._costs[group]
        end = min(start + count, len(costs) - 1)
        while end > start and costs[end] - costs[start] > remaining:
            end -= 1
        if end == start:
            return 0
        self._variances[group] = self._after(group, self._weights[group][end] - self._weights[group][start])
        self._bought[group] = end
        return int(costs[end] - costs[start])

    def groups(self) -> list[GroupPlan]:
        """Every family with what it gets."""
        return [self._group(i) for i in range(len(self._keys))]

    def _group(self, i: int) -> GroupPlan:
        before, after = float(self._before[i]), float(self._variances[i])
        deviation, distance = np.sqrt(before), float(self._distance[i])
        sure_now = bool(distance > _SURE * deviation)
        chance = float(sure_now)
        if after < before:
            # The level that will be seen varies around today's by what the purchase takes away from its variance.
            moves, needed = np.sqrt(before - after), _SURE * np.sqrt(after)
            chance = _NORMAL.cdf((distance - needed) / moves) + _NORMAL.cdf((-needed - distance) / moves)
        family, skill = self._keys[i]
        return GroupPlan(
            family=family,
            skill=skill,
            share=float(self._shares[i]),
            pairs=int(self._pairs[i]),
            gain=float(self._levels[i]),
            deviation=float(deviation),
            offers=self._offers[i][: self._bought[i]],
            sure_now=sure_now,
            chance_of_sure=chance,
            worth=self._worth(i, before, after) if after < before else 0.0,
        )


@dataclass(frozen=True, slots=True)
class NeededTasks:
    """How many tasks show a gain, at one number of repetitions."""

    repetitions: int
    tasks: int

    @property
    def executions(self) -> int:
        """Both arms of every task, each repeated."""
        return 2 * self.repetitions * self.tasks


def tasks_to_see(
    gain: float, *, variance: float | None = None, power: float = 0.8, level: float = 0.95
) -> list[NeededTasks]:
    """The tasks that show a mean gain with the given power, at 1, 2, 3 and 5 repetitions per arm.

    A task with r repetitions per arm varies by what tasks differ, and by two arms' chance divided by r. More tasks are worth
    more than more repetitions; repetitions pay where tasks are scarce.

    Parameters:
        gain: The mean gain that is to be seen, as a fraction.
        variance: Of one pair's gain at one execution per arm; the typical one unless given.
        power: The chance that the interval excludes zero.
        level: The level of that interval.

    Raises:
        InputError: The gain is zero or no fraction.

    Examples:
        >>> [(needed.repetitions, needed.tasks, needed.executions) for needed in tasks_to_see(0.1)][:2]
        [(1, 395, 790), (2, 238, 952)]
    """
    if not 0 < abs(gain) <= 1:
        raise InputError(f"the gain to be seen must lie between 0 and 1 and not be 0, got {gain}", setting="gain")
    scale = 1.0 if variance is None else max(variance, 0.02) / UNIT_VARIANCE
    distance = _NORMAL.inv_cdf((1 + level) / 2) + _NORMAL.inv_cdf(power)
    needed = []
    for repetitions in (1, 2, 3, 5):
        spread = scale * (BETWEEN_TASKS + 2 * WITHIN_ARM / repetitions)
        # Two tasks more than the normal formula asks for, because the variance is estimated from as many.
        needed.append(NeededTasks(repetitions, int(np.ceil(spread * distance**2 / gain**2)) + 2))
    return needed
