"""How much a result would vary with other tasks when the rule is refitted to them: parts of the panel taken away.

Holding scores fixed leaves out that a task's outcome also moves its neighbours' actions: such intervals of the paper's rule
hold their truth in 70 to 95 of 100 panels, by metric. Here the tasks are split at random into a few parts, the panel is
scored without each part in turn, and the spread of the results gives the standard error (a grouped jackknife, averaged
over many splits). Large parts suit rules whose actions jump at a threshold. `linear_rules` make this cheap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from scipy.sparse import csr_array

from skilldelta.arrays import Flags, Floats, Ints, exceeds
from skilldelta.evaluation.metrics import auroc
from skilldelta.evaluation.panel_policy import Outcomes, PanelPolicy, Totals
from skilldelta.evaluation.resampling.bootstrap import LEVEL, Inventory
from skilldelta.evaluation.resampling.linear_rules import LinearRule, averaged_outcomes
from skilldelta.evaluation.results import Range
from skilldelta.support import Support

PARTS = 4
ROUNDS = 30

_POSSIBLE: Mapping[str, tuple[float, float]] = {
    "success": (0.0, 1.0),
    "use_rate": (0.0, 1.0),
    "tokens": (0.0, np.inf),
    "token_saving": (-np.inf, 1.0),
    "auroc": (0.0, 1.0),
    "balanced_accuracy": (0.0, 1.0),
    "gain_mae": (0.0, 2.0),
    "gain_mse": (0.0, 4.0),
}
"""What a metric can be; differences of success lie between -1 and 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Splits:
    """Random splits of a suite's tasks into parts, shared by its agents."""

    parts: int
    part_of: Ints  # (rounds, units) the part of each task of the inventory
    inventory: Inventory

    @classmethod
    def draw(
        cls, inventory: Inventory, rng: np.random.Generator, *, parts: int = PARTS, rounds: int = ROUNDS
    ) -> Splits:
        """As many parts as there are tasks, where there are fewer."""
        tasks = len(inventory.task_ids)
        parts = min(parts, tasks)
        return cls(parts, np.stack([rng.permutation(np.arange(tasks) % parts) for _ in range(rounds)]), inventory)

    def left_out(self, support: Support) -> Flags:
        """(n, rounds * parts) the rows that each replicate is without."""
        codes = np.searchsorted(self.inventory.task_ids, support.task_ids)
        own = self.part_of[:, codes].T  # (n, rounds)
        is_part: Flags = own[:, :, None] == np.arange(self.parts)
        return is_part.reshape(len(support), -1)


def replicates(support: Support, policy: PanelPolicy, rule: LinearRule, splits: Splits) -> dict[str, Floats]:
    """(rounds, parts) every metric of a linear rule that was refitted without each part."""
    left_out = splits.left_out(support)
    outcomes = averaged_outcomes(rule.averaged, support.y0, support.y1)
    scores, actions = np.empty(left_out.shape), np.empty(left_out.shape)
    assert policy.threshold is not None
    for column in range(left_out.shape[1]):
        found = rule.scores_without(left_out[:, column], outcomes)
        scores[:, column] = found.values
        actions[:, column] = exceeds(found.values, policy.threshold) & found.supported
    with np.errstate(invalid="ignore"):  # a replicate without any row has no value: NaN
        values = _metrics(support, ~left_out, scores, actions, is_gain=policy.is_gain)
    return {name: found.reshape(-1, splits.parts) for name, found in values.items()}


def standard_error(found: Floats) -> float:
    """From replicates (rounds, parts): the grouped jackknife's variance, averaged over rounds."""
    parts = found.shape[1]
    squares = ((found - found.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return float(np.sqrt((parts - 1) / parts * squares.mean()))


def normal_range(metric: str, value: float, error: float, *, level: float = LEVEL) -> Range:
    """Value plus and minus a multiple of its standard error, within what the metric can be."""
    if not np.isfinite(error):
        return Range(None, None)
    half = NormalDist().inv_cdf((1 + level) / 2) * error
    least, most = _POSSIBLE.get(metric, (-1.0, 1.0))
    return Range(max(least, value - half), min(most, value + half))


def _metrics(support: Support, kept: Flags, scores: Floats, actions: Floats, *, is_gain: bool) -> dict[str, Floats]:
    """(replicates,) each metric over the rows that are kept."""
    recorded = Outcomes.of(support, np.arange(len(support)))
    weight = kept.astype(np.float64)
    used = actions * weight
    totals = _totals(recorded, weight, used, scores if is_gain else np.full(scores.shape, np.nan))
    found = totals.metrics()
    areas = (auroc(scores[kept[:, d], d], recorded.positive[kept[:, d]]) for d in range(kept.shape[1]))
    found["auroc"] = np.array([np.nan if area is None else area for area in areas])
    found["within_group"] = _within(recorded, weight, used, totals)
    found["between_group"] = found["advantage_vs_random"] - found["within_group"]
    return found


def _totals(recorded: Outcomes, weight: Floats, used: Floats, scores: Floats) -> Totals:
    """The sums behind every value, by replicate; linear rules have no router call."""
    priced = recorded.has_tokens.astype(np.float64)
    off, on = (np.where(recorded.has_tokens, arm, 0.0) for arm in (recorded.tokens0, recorded.tokens1))
    error = np.where(weight > 0, scores - recorded.gains[:, None], 0.0)
    return Totals(
        weight=weight.sum(axis=0),
        off=recorded.y0 @ weight,
        gain=recorded.gains @ weight,
        positive=recorded.positive.astype(np.float64) @ weight,
        use=used.sum(axis=0),
        used_gain=recorded.gains @ used,
        used_positive=recorded.positive.astype(np.float64) @ used,
        priced=priced @ weight,
        tokens=off @ weight + (on - off) @ used,
        tokens_on=on @ weight,
        absolute_error=np.abs(error).sum(axis=0),
        squared_error=(error**2).sum(axis=0),
    )


def _within(recorded: Outcomes, weight: Floats, used: Floats, totals: Totals) -> Floats:
    codes = np.unique(recorded.families, return_inverse=True)[1]
    n = len(codes)
    summing = csr_array((np.ones(n), (codes, np.arange(n))), shape=(int(codes.max()) + 1, n))
    sums = (weight, recorded.gains[:, None] * weight, used)
    size, gain, use = (np.asarray(summing @ values, np.float64) for values in sums)
    at_group_rate = (use * (gain / np.maximum(size, 1.0))).sum(axis=0)
    found: Floats = (totals.used_gain - at_group_rate) / totals.weight
    return found
