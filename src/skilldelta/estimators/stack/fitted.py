"""A stack that has seen its support and scores new targets.

gain = level of the family + weights . departures. The level is the family's shrunken mean; each departure says how far
the nearest tasks, or a line through the family, depart from that mean. A target without a known family is compared with
its whole skill; one whose skill is new as well gets what the families nearest to it lead to expect. A target that is
unlike the tasks of its family is pulled towards what a new family leads to expect.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from skilldelta.estimators.base import Score, Spread, Target
from skilldelta.estimators.stack.components import COMPONENTS
from skilldelta.estimators.stack.group import LEAST_BELIEF, Group, Seen, prepare
from skilldelta.estimators.stack.shrinkage import Levels, new_families
from skilldelta.estimators.stack.slopes import UNSEEN
from skilldelta.estimators.stack.stack_panel import Key, StackPanel
from skilldelta.estimators.stack.unfamiliar_tasks import Expectation, Transfer, blend, credit, reported_gain
from skilldelta.estimators.stack.views import Lens
from skilldelta.estimators.stack.weights import Trust, Weights

_LEAST_FREEDOM, _ROWS_PER_FREEDOM = 4.0, 16.0
"""Variances learned from few rows are themselves uncertain, so that intervals of small banks are longer."""


@dataclass(frozen=True, eq=False)
class FittedPanel:
    """A panel with its learned weights; groups are prepared when a target first needs them."""

    panel: StackPanel
    trust: Mapping[Key, Trust]
    suite_trust: Trust
    prepared: dict[Key, Group]

    @classmethod
    def of(cls, panel: StackPanel, weights: Weights) -> FittedPanel:
        """Weights by the name of their group, so that they outlive a new numbering."""
        return cls(panel, {key: weights.of_group(i) for i, key in enumerate(panel.keys)}, weights.of_suite, {})

    def with_rows_of(self, panel: StackPanel) -> FittedPanel:
        """The same weights over a panel that has grown."""
        return FittedPanel(panel, self.trust, self.suite_trust, {})

    def group(self, key: Key) -> Group | None:
        """A group, or None where the panel has no row of it."""
        if key not in self.prepared:
            if key not in self.panel.group_of:
                return None
            # A family that came after the weights were learned has the suite's.
            self.prepared[key] = prepare(self.panel, key, self.trust.get(key, self.suite_trust))
        return self.prepared[key]

    @cached_property
    def freedom(self) -> float:
        """How sure variances are that were learned from so many rows."""
        return _LEAST_FREEDOM + len(self.panel) / _ROWS_PER_FREEDOM

    def new_family(self, skill: str) -> Expectation:
        """What a family without any task leads to expect, under a skill of the panel or a new one."""
        levels, at = self._new_families, self._skills.get(skill, -1)
        departures = max(self.suite_trust.belief, LEAST_BELIEF) * UNSEEN
        return Expectation(float(levels.level[at]), float(levels.variance[at]) + departures)

    @cached_property
    def _new_families(self) -> Levels:
        return new_families(self.panel.sums.without([]), self.panel.nesting)

    @cached_property
    def _skills(self) -> Mapping[str, int]:
        of_groups = self.panel.nesting.skill_of.tolist()
        return {skill: of_groups[i] for i, (_, skill) in enumerate(self.panel.keys)}


class Groups(Protocol):
    """Where a model finds the group of a target."""

    @property
    def panel(self) -> StackPanel:
        """All rows."""
        ...

    @property
    def freedom(self) -> float:
        """How sure variances are that were learned from all rows."""
        ...

    def group(self, key: Key) -> Group | None:
        """A group, or None where the panel has no row of it."""
        ...

    def new_family(self, skill: str) -> Expectation:
        """What a family without any task leads to expect."""
        ...


@dataclass(frozen=True, eq=False)
class Model:
    """Everything a target is scored with: a lens, the panel by family and, made when it is needed, the panel by skill."""

    lens: Lens
    by_family: Groups
    make_by_skill: Callable[[], Groups]

    @cached_property
    def by_skill(self) -> Groups:
        """Rows grouped by skill alone, for targets whose family is not known."""
        return self.make_by_skill()

    @cached_property
    def transfer(self) -> Transfer:
        """What new skills are judged by."""
        return Transfer.of(self.by_family.panel, [])

    def score(self, target: Target) -> Score:
        """The predicted gain with the part that every component has in it."""
        group = self.by_family.group((target.family, target.skill)) if target.family else None
        group = group or self.by_skill.group(("", target.skill))
        if group is None:
            return self._of_a_new_family(target)
        seen = Seen(target, self.lens)
        departures = group.departures(seen)
        departure = sum(group.shares[c] * found for c, found in departures.items())
        own = Expectation(group.level + departure, group.variance(seen, departure))
        familiarity = group.familiarity_of(seen)
        share = 1.0 if familiarity is None else credit(familiarity)
        new = self.by_family.new_family(target.skill)
        found = blend(own, new, share)
        components, shares = _parts(group, departures)
        return Score(
            reported_gain(found.gain),
            components | {"new_family": new.gain},
            {name: share * part for name, part in shares.items()} | {"new_family": 1 - share},
            Spread(math.sqrt(found.variance), self.by_family.freedom),
            familiarity,
            share,
        )

    def _of_a_new_family(self, target: Target) -> Score:
        if not len(self.by_family.panel):
            return Score(0.0)
        share = self.transfer.share
        variance = self.by_family.new_family(target.skill).variance
        return Score(
            reported_gain(self.transfer.level(target.vector)),
            {"suite": self.transfer.suite, "nearest_families": self.transfer.nearby(target.vector)},
            {"suite": 1 - share, "nearest_families": share},
            Spread(math.sqrt(variance), self.by_family.freedom),
            credit=0.0,
        )


def _parts(group: Group, departures: Mapping[int, float]) -> tuple[dict[str, float], dict[str, float]]:
    """The components of a gain and their shares, before the target's familiarity has a say."""
    left = max(0.0, 1.0 - sum(group.shares.values()))
    components = dict(group.means)
    shares = {name: left * share for name, share in group.mean_shares.items()}
    for c, found in departures.items():
        components[COMPONENTS[c]] = group.level + found
        shares[COMPONENTS[c]] = group.shares[c]
    return components, shares
