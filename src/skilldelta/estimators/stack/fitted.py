"""A stack that has seen its support and scores new targets.

gain = level of the family + weights . departures. The level is the family's shrunken mean; each departure says how far
the nearest tasks, or a line through the family, depart from that mean. A target without a known family is compared with
its whole skill; one whose skill is new as well gets what the families nearest to it lead to expect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from skilldelta.estimators.base import Score, Target
from skilldelta.estimators.stack.components import COMPONENTS
from skilldelta.estimators.stack.group import Group, Seen, prepare
from skilldelta.estimators.stack.panel import Key, Panel
from skilldelta.estimators.stack.settled import settled_gain
from skilldelta.estimators.stack.transfer import Transfer
from skilldelta.estimators.stack.views import Lens
from skilldelta.estimators.stack.weights import Weights
from skilldelta.support import Floats


@dataclass(frozen=True, eq=False)
class FittedPanel:
    """A panel with its learned weights; groups are prepared when a target first needs them."""

    panel: Panel
    weights: Mapping[Key, Floats]
    suite_weights: Floats
    prepared: dict[Key, Group]

    @classmethod
    def of(cls, panel: Panel, weights: Weights) -> FittedPanel:
        """Weights by the name of their group, so that they outlive a new numbering."""
        return cls(panel, {key: weights.groups[i] for i, key in enumerate(panel.keys)}, weights.suite, {})

    def with_rows_of(self, panel: Panel) -> FittedPanel:
        """The same weights over a panel that has grown."""
        return FittedPanel(panel, self.weights, self.suite_weights, {})

    def group(self, key: Key) -> Group | None:
        """A group, or None where the panel has no row of it."""
        if key not in self.prepared:
            if key not in self.panel.group_of:
                return None
            # A family that came after the weights were learned has the suite's.
            self.prepared[key] = prepare(self.panel, key, self.weights.get(key, self.suite_weights))
        return self.prepared[key]


@dataclass(frozen=True, eq=False)
class Model:
    """Everything a target is scored with: a lens, the panel by family and, made when it is needed, the panel by skill."""

    lens: Lens
    by_family: FittedPanel
    make_by_skill: Callable[[], FittedPanel]

    @cached_property
    def by_skill(self) -> FittedPanel:
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
        departures = group.departures(Seen(target, self.lens))
        gain = group.level + sum(group.shares[c] * found for c, found in departures.items())
        left = max(0.0, 1.0 - sum(group.shares.values()))
        components = dict(group.means)
        shares = {name: left * share for name, share in group.mean_shares.items()}
        for c, found in departures.items():
            components[COMPONENTS[c]] = group.level + found
            shares[COMPONENTS[c]] = group.shares[c]
        return Score(settled_gain(gain), components, shares)

    def _of_a_new_family(self, target: Target) -> Score:
        if not len(self.by_family.panel):
            return Score(0.0)
        share = self.transfer.share
        return Score(
            settled_gain(self.transfer.level(target.vector)),
            {"suite": self.transfer.suite, "nearest_families": self.transfer.nearby(target.vector)},
            {"suite": 1 - share, "nearest_families": share},
        )
