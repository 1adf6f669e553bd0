"""What using a skill costs in tokens and dollars, and the rule that weighs the gain against it.

The predicted cost is what the skill added on the neighbors, pulled toward the mean of the family and that toward the mean
of the panel, because a few executions say little about tokens. The rule uses the skill iff gain − lambda · tokens exceeds
the threshold; lambda, the success one token must buy, follows from what a success is worth.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats, Ints, Strings, exceeds
from skilldelta.errors import InputError
from skilldelta.nouns import plural
from skilldelta.support import Support, scope_label

# How many pairs the wider mean counts for: four neighbors and the family mean weigh the same.
PSEUDO_PAIRS = 4.0


@dataclass(frozen=True, slots=True)
class Cost:
    """What using the skill is predicted to add to one task; negative where it saves."""

    tokens: float
    dollars: float | None = None
    """Known where a price was given."""
    pairs: int = 0
    """Neighbors whose tokens are known under both conditions."""


@dataclass(frozen=True, slots=True)
class CostRule:
    """Use iff gain − per_token · tokens > threshold. A skill that adds tokens and no gain is skipped at any threshold."""

    per_token: float
    """lambda: how much success one more token must buy."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.per_token) and self.per_token >= 0):
            raise InputError(f"the cost of a token must be a finite number of at least 0, got {self.per_token}")

    @classmethod
    def from_worth(cls, success_worth: float, price: float) -> CostRule:
        """From what one success is worth and what a million tokens cost, both in dollars.

        >>> CostRule.from_worth(2.0, price=10.0).per_token
        5e-06
        """
        if not (math.isfinite(success_worth) and success_worth > 0):
            raise InputError(f"a success must be worth more than 0 dollars, got {success_worth}")
        check_price(price)
        return cls(price / 1e6 / success_worth)

    def net_gain(self, gain: float, cost: Cost | None) -> float:
        """The gain after its cost; an unknown cost takes nothing away."""
        return gain if cost is None else gain - self.per_token * cost.tokens

    def net_gains(self, gains: Floats, tokens: Floats) -> Floats:
        """(n,) every gain after its cost; an unknown cost takes nothing away."""
        net: Floats = gains - self.per_token * np.where(np.isfinite(tokens), tokens, 0.0)
        return net

    def for_plain_gain(self, threshold: float, cost: Cost | None) -> float:
        """What the gain itself must exceed: the threshold and the weight of the tokens, and zero where it adds tokens."""
        if cost is None:
            return threshold
        weighed = threshold + self.per_token * cost.tokens
        return max(0.0, weighed) if cost.tokens > 0 else weighed

    def uses(self, gain: float, cost: Cost | None, *, threshold: float = 0.0) -> bool:
        """The action; equality skips."""
        return not _is_waste(gain, cost) and exceeds(self.net_gain(gain, cost), threshold)

    def sentence(self, gain: float, cost: Cost | None, *, threshold: float = 0.0) -> str:
        """The decision in words, with the arithmetic behind it."""
        action = "use" if self.uses(gain, cost, threshold=threshold) else "skip"
        if cost is None:
            return (
                f"No tokens are recorded, so the cost is unknown and only the gain {gain:+.3f} counts "
                f"against the threshold {threshold:g}: {action}."
            )
        head = _in_words(cost)
        if _is_waste(gain, cost):
            return f"{head} and is predicted to gain nothing ({gain:+.3f}): skip."
        net = self.net_gain(gain, cost)
        relation = "above" if exceeds(net, threshold) else "below" if exceeds(threshold, net) else "equal to"
        return (
            f"{head}, which weighs {self.per_token * cost.tokens:+.3f} success; "
            f"the predicted gain {gain:+.3f} less that is {net:+.3f}, {relation} the threshold {threshold:g}: {action}."
        )


@dataclass(frozen=True, slots=True)
class _Sum:
    """Known values, added up."""

    total: float = 0.0
    count: int = 0

    @classmethod
    def of(cls, values: Floats) -> _Sum:
        finite = values[np.isfinite(values)]
        return cls(float(finite.sum()), len(finite))

    def without(self, other: _Sum) -> _Sum:
        return _Sum(self.total - other.total, self.count - other.count)

    def pulled_toward(self, mean: float) -> float:
        """The mean, with the wider mean counted as `PSEUDO_PAIRS` more values."""
        return (self.total + PSEUDO_PAIRS * mean) / (self.count + PSEUDO_PAIRS)


@dataclass(frozen=True, slots=True, eq=False)
class TokenCosts:
    """The tokens that skills added on the pairs of a support, read once for many predictions."""

    added: Floats  # (n,) tokens1 - tokens0, NaN where an arm is unknown
    task_ids: Strings  # (n,)
    labels: Strings  # (n,) family, or skill where there is none
    rows_of_task: Mapping[str, Ints]
    panel: _Sum
    families: Mapping[str, _Sum]

    @classmethod
    def of(cls, support: Support) -> TokenCosts:
        """Read a support; a pair counts where the tokens of both arms are known."""
        added, labels = support.tokens1 - support.tokens0, support.scope_labels("family")
        families = {str(labels[block[0]]): _Sum.of(added[block]) for block in support.blocks("family")}
        return cls(added, support.task_ids, labels, support.row_of_task, _Sum.of(added), families)

    def predict(
        self, neighbors: Ints, *, family: str = "", skill: str = "", task_id: str = "", price: float | None = None
    ) -> Cost | None:
        """The cost of one target from its neighbors' rows, its own task left out; None where no tokens are known.

        `price` is dollars per million tokens.
        """
        label = scope_label("family", family=family, skill=skill)
        prediction = self._predicted(neighbors, label, task_id)
        if prediction is None or price is None:
            return prediction
        check_price(price)
        return Cost(prediction.tokens, prediction.tokens * price / 1e6, prediction.pairs)

    def predict_each(self, neighbors: Ints) -> Floats:
        """(n,) tokens that the skill is predicted to add to every row, from neighbors (n, k), -1 for none; NaN unknown."""
        costs = (
            self._predicted(neighbors[row], str(self.labels[row]), str(self.task_ids[row]))
            for row in range(len(self.added))
        )
        return np.array([np.nan if cost is None else cost.tokens for cost in costs], np.float64)

    def _predicted(self, neighbors: Ints, label: str, task_id: str) -> Cost | None:
        own = self.rows_of_task.get(task_id, np.empty(0, np.int64))
        panel = self.panel.without(_Sum.of(self.added[own]))
        if not panel.count:
            return None
        family = self.families.get(label, _Sum()).without(_Sum.of(self.added[own[self.labels[own] == label]]))
        near = _Sum.of(self.added[neighbors[(neighbors >= 0) & ~np.isin(neighbors, own)]])
        return Cost(near.pulled_toward(family.pulled_toward(panel.total / panel.count)), pairs=near.count)


def check_price(price: float) -> None:
    """Refuse a price that cannot be one."""
    if not (math.isfinite(price) and price >= 0):
        raise InputError(f"the price of a million tokens must be at least 0 dollars, got {price}")


def _is_waste(gain: float, cost: Cost | None) -> bool:
    """More tokens for nothing: a tie at double the tokens is no reason to use the skill."""
    return cost is not None and cost.tokens > 0 and gain <= 0


def _in_words(cost: Cost) -> str:
    verb = "adds" if cost.tokens >= 0 else "saves"
    dollars = "" if cost.dollars is None else f" (${abs(cost.dollars):.2g})"
    return f"The skill {verb} about {plural(abs(cost.tokens), 'token')}{dollars}"
