"""Every policy that some threshold induces: success against tokens, from always-on to always-off.

A threshold acts only through which scores exceed it, so n scores induce at most n + 1 policies; all of them are listed,
and so the default threshold and both constant policies are among them. Sorting once makes it n log n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats, Ints, tie_rounding
from skilldelta.errors import InputError
from skilldelta.evaluation.results import unless_nan
from skilldelta.gate import check_threshold
from skilldelta.support import Support


@dataclass(frozen=True, slots=True)
class SweepPoint:
    """One policy: use where the score exceeds the threshold."""

    threshold: float
    use_rate: float
    success: float
    tokens: float | None
    token_saving: float | None


@dataclass(frozen=True, eq=False)
class ThresholdSweep:
    """The policies of one panel by rising threshold: the first is always-on, the last always-off."""

    thresholds: Floats  # (p,) any value from here to the next induces the same policy
    used: Ints  # (p,) rows with the skill
    success: Floats  # (p,)
    tokens: Floats  # (p,) mean over rows whose tokens are known; NaN where none are
    token_saving: Floats  # (p,) share of always-on's tokens
    default: int
    """The point that the default threshold induces; its threshold is the default itself."""
    best: int
    """Highest success in hindsight, ties toward fewer uses: what no one could have known beforehand."""
    rows: int

    def __len__(self) -> int:
        return len(self.thresholds)

    @property
    def use_rates(self) -> Floats:
        """(p,) share of rows with the skill."""
        return self.used / self.rows

    def point(self, index: int) -> SweepPoint:
        """One point with unknown tokens as None."""
        return SweepPoint(
            float(self.thresholds[index]),
            float(self.use_rates[index]),
            float(self.success[index]),
            unless_nan(self.tokens[index]),
            unless_nan(self.token_saving[index]),
        )

    def points(self) -> tuple[SweepPoint, ...]:
        """All points, always-on first."""
        return tuple(self.point(index) for index in range(len(self)))


def threshold_sweep(
    scores: Floats, support: Support, *, default: float = 0.0, router_tokens: Floats | None = None
) -> ThresholdSweep:
    """Scores of a panel's rows, fixed beforehand; rows whose score is NaN are left out.

    A row without support scores minus infinity (`panel_policy.sweepable`): every threshold skips it, and always-on, which is
    listed all the same, is at minus infinity too.
    """
    check_threshold(default)
    cuts = distinct_cuts(scores)
    order, skipped, thresholds = cuts.order, cuts.skipped, cuts.thresholds.copy()
    success = _success(support, order)[skipped]
    tokens, saving = _tokens(support, order, router_tokens)
    at_default = cuts.at(default)
    thresholds[at_default] = max(default, thresholds[at_default]) if at_default > cuts.lowest else default
    return ThresholdSweep(
        thresholds=thresholds,
        used=len(order) - skipped,
        success=success,
        tokens=tokens[skipped],
        token_saving=saving[skipped],
        default=at_default,
        best=last_best(success),
        rows=len(order),
    )


@dataclass(frozen=True, eq=False)
class Cuts:
    """Where scores can be cut: the policies from using all scored rows to using none."""

    order: Ints  # (m,) scored rows by rising score
    skipped: Ints  # (p,) how many rows of the order each policy skips
    thresholds: Floats  # (p,)
    lowest: int
    """The policy of the lowest thresholds: 0, always-on, unless some rows have no support."""

    def at(self, threshold: float) -> int:
        """The policy that a threshold induces; a score equal to it up to rounding is skipped."""
        above = tie_rounding(self.thresholds[self.lowest + 1 :])
        return self.lowest + int(np.searchsorted(above, tie_rounding(np.array([threshold]))[0], side="right"))


def distinct_cuts(scores: Floats) -> Cuts:
    """Scores that differ by rounding only are one score: the cut stands above all of them. NaN is not scored."""
    scored = np.flatnonzero(~np.isnan(scores))
    if not len(scored):
        raise InputError("no row has a score, so that no threshold can be swept; score at least one task")
    order = scored[np.argsort(scores[scored], kind="stable")]
    values = scores[order]
    last = np.flatnonzero(np.append(tie_rounding(values)[1:] > tie_rounding(values)[:-1], True))
    thresholds = np.concatenate([[-np.inf], values[last]])
    lowest = int(np.isneginf(values[0]))
    thresholds[lowest] = _below(values[np.isfinite(values)])
    return Cuts(order, np.concatenate([[0], last + 1]), thresholds, lowest)


def _below(scores: Floats) -> float:
    """A threshold under every score: -1 where that will do, since no gain is less."""
    return -1.0 if not len(scores) or scores[0] > -1 else float(scores[0]) - 1.0


def _success(support: Support, order: Ints) -> Floats:
    """(n+1,) success when the first i rows of the order skip and the others use."""
    lost = np.concatenate([[0.0], np.cumsum(support.gains[order])])
    success: Floats = (support.y1[order].sum() - lost) / len(order)
    return success


def _tokens(support: Support, order: Ints, router_tokens: Floats | None) -> tuple[Floats, Floats]:
    """(n+1,) mean tokens and saving likewise; a row needs both arms' tokens, or it cannot price a choice."""
    off, on = support.tokens0[order], support.tokens1[order]
    router = np.zeros(len(order)) if router_tokens is None else router_tokens[order]
    priced = np.isfinite(off) & np.isfinite(on) & np.isfinite(router)
    if not priced.any():
        unknown = np.full(len(order) + 1, np.nan)
        return unknown, unknown
    saved = np.concatenate([[0.0], np.cumsum(np.where(priced, on - off, 0.0))])
    always_on = on[priced].sum()
    total = always_on + router[priced].sum() - saved
    return total / priced.sum(), 1 - total / always_on


def last_best(values: Floats) -> int:
    """The last of the largest: thresholds rise, so it uses the skill least."""
    return len(values) - 1 - int(np.argmax(tie_rounding(values)[::-1]))
