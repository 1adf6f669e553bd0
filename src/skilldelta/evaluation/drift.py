"""Whether a skill's gain fell: from an older model, harness or skill version to a newer one.

The test may be looked at after every execution. Its measure is an e-value: how much likelier the observed fall is if the gain
fell by an unknown amount than if it stayed. Where it stayed, an e-value above 20 is ever seen with a chance of at most
5%, however often one looks. Several skills are judged together by their e-values (the e-BH rule), so that of the skills
called fallen at most 5% are expected not to be.

Gains are compared within families, because two agents seldom ran the same mixture of tasks. Means of gains are taken for
normal, which small samples are not; below `FEWEST_PAIRS` nothing is called. Coverage and false alarms are tested on
simulated executions.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np

from skilldelta.errors import InputError
from skilldelta.estimators.blend.shrinkage import UNIT_VARIANCE

Verdict = Literal[
    "stopped helping", "helps less", "not enough evidence", "helps now", "still helps", "did not help before"
]
# What needs attention comes first.
_ORDER: tuple[Verdict, ...] = get_args(Verdict)

# Pairs of the newer side below which nothing is called: means of fewer are far from normal.
FEWEST_PAIRS = 8
# The chance of ever calling a fall that is none.
_ALPHA = 0.05
# A smaller gain is taken for this one when falls are weighed.
_SMALLEST_GAIN = 0.1
# Points over which falls are averaged.
_GRID = 200
# The scale of gains, for intervals that hold at any time.
_GAIN = 0.3
# A side's own variance counts against the typical one as if that had been seen on this many pairs.
_PRIOR_PAIRS = 4.0
_NORMAL = NormalDist()
_MOST_PAIRS = 2_000


@dataclass(frozen=True, slots=True)
class GainRow:
    """One pair: its family, and what the skill gained."""

    family: str
    gain: float


@dataclass(frozen=True, slots=True)
class SkillDrift:
    """One skill before and after."""

    skill: str
    pairs_before: int
    pairs_after: int
    before: float | None
    """Its gain before, over the families and in the mixture of the newer pairs."""
    after: float | None
    low: float | None
    """An interval of the gain after, which holds with 95% at every look."""
    high: float | None
    e_value: float
    """How much likelier the data are if the gain fell than if it stayed."""
    verdict: Verdict
    more_pairs: int | None
    """New pairs that settle it with a chance of 80%, whether the gain stayed or is gone; None where it is settled, or where
    the older side has too few pairs for any number to do."""

    @property
    def change(self) -> float | None:
        """The gain after less the gain before."""
        return None if self.before is None or self.after is None else self.after - self.before


def drift_of_skills(
    before: Mapping[str, Sequence[GainRow]], after: Mapping[str, Sequence[GainRow]], *, alpha: float = _ALPHA
) -> tuple[SkillDrift, ...]:
    """Every skill that the older side has, judged together: those that fell first, then by how far they did.

    Parameters:
        before: The pairs of the older side by skill.
        after: Those of the newer side.
        alpha: The share of skills called fallen that may be called so wrongly.

    Raises:
        InputError: The older side has no pair.

    Examples:
        >>> before = {"s": [GainRow("f", 1.0)] * 30}
        >>> drift_of_skills(before, {"s": [GainRow("f", 0.0)] * 30})[0].verdict
        'stopped helping'
    """
    if not any(before.values()):
        raise InputError("the older side has no pair to compare with; collect or import some first")
    contrasts = {skill: _Contrast.of(rows, after.get(skill, ())) for skill, rows in before.items() if rows}
    bound = _selection_bound([contrast.e_value for contrast in contrasts.values()], alpha)
    drifts = [_judged(skill, contrast, bound, len(contrasts), alpha) for skill, contrast in contrasts.items()]
    return tuple(sorted(drifts, key=lambda drift: (_ORDER.index(drift.verdict), drift.change or 0.0, drift.skill)))


@dataclass(frozen=True, slots=True)
class _Contrast:
    """Both sides' means over common families, in the mixture of the newer side."""

    pairs_before: int
    pairs_after: int
    common: int
    """Newer pairs of families that the older side has, too."""
    before: float
    after: float
    variance_before: float
    """Of the older mean."""
    variance_after: float

    @classmethod
    def of(cls, older: Sequence[GainRow], newer: Sequence[GainRow]) -> _Contrast:
        """Means and their variances; all of the older side where the newer one has nothing in common with it."""
        by_family = {side: _by_family(rows) for side, rows in (("older", older), ("newer", newer))}
        families = sorted(by_family["older"].keys() & by_family["newer"].keys())
        variance = _pooled_variance([*by_family["older"].values(), *by_family["newer"].values()])
        if not families:
            gains = np.array([row.gain for row in older])
            return cls(len(older), len(newer), 0, float(gains.mean()), 0.0, variance / len(older), math.inf)
        olds, news = ([by_family[side][family] for family in families] for side in ("older", "newer"))
        counts = np.array([len(gains) for gains in news], np.float64)
        shares = counts / counts.sum()
        return cls(
            pairs_before=len(older),
            pairs_after=len(newer),
            common=int(counts.sum()),
            before=float(shares @ [np.mean(gains) for gains in olds]),
            after=float(shares @ [np.mean(gains) for gains in news]),
            variance_before=float(variance * (shares**2 / [len(gains) for gains in olds]).sum()),
            variance_after=float(variance / counts.sum()),
        )

    @property
    def e_value(self) -> float:
        """1 where too few pairs are there to say anything."""
        if self.common < FEWEST_PAIRS:
            return 1.0
        return fall_e_value(self.before - self.after, self.variance_before + self.variance_after, self.before)


def fall_e_value(fall: float, variance: float, gain: float) -> float:
    """How much likelier an observed fall is if anything up to the whole gain was lost, than if nothing was.

    Examples:
        >>> fall_e_value(0.0, 0.01, gain=0.4) < 1 < fall_e_value(0.3, 0.01, gain=0.4)
        True
    """
    largest = max(gain, _SMALLEST_GAIN)
    # The likelihood ratio averaged over falls that are equally likely from none to all of the gain.
    falls = (np.arange(_GRID) + 0.5) / _GRID * largest
    exponents = (fall * falls - falls**2 / 2) / variance
    return float(np.exp(np.minimum(exponents, 700.0)).mean())


def always_valid_half_width(variance: float, alpha: float = _ALPHA) -> float:
    """Half the width of an interval around a mean with this variance that holds at every look together.

    Examples:
        >>> round(always_valid_half_width(0.01), 3)
        0.305
    """
    if not math.isfinite(variance):
        return math.inf
    ratio = (variance + _GAIN**2) / variance
    return math.sqrt(variance * ratio / (ratio - 1) * math.log(ratio / alpha**2))


def _selection_bound(e_values: Sequence[float], alpha: float) -> float:
    """The e-value from which on skills are called fallen (e-BH): the k largest, where the k-th is at least m / (alpha k)."""
    ordered = sorted(e_values, reverse=True)
    chosen = [e for k, e in enumerate(ordered, start=1) if e >= len(ordered) / (alpha * k)]
    return min(chosen, default=math.inf)


def _judged(skill: str, contrast: _Contrast, bound: float, skills: int, alpha: float) -> SkillDrift:
    has_runs = contrast.common > 0
    half = always_valid_half_width(contrast.variance_after)
    helps = has_runs and contrast.common >= FEWEST_PAIRS and contrast.after - half > 0
    fell = contrast.e_value >= bound
    verdict: Verdict = "not enough evidence" if contrast.before > 0 else "did not help before"
    if helps:
        verdict = "helps less" if fell else "still helps" if contrast.before > 0 else "helps now"
    elif fell and contrast.before > 0:
        verdict = "stopped helping"
    return SkillDrift(
        skill=skill,
        pairs_before=contrast.pairs_before,
        pairs_after=contrast.pairs_after,
        before=contrast.before,
        after=contrast.after if has_runs else None,
        low=max(-1.0, contrast.after - half) if has_runs else None,
        high=min(1.0, contrast.after + half) if has_runs else None,
        e_value=contrast.e_value,
        verdict=verdict,
        more_pairs=_more_pairs(contrast, skills / alpha) if verdict == "not enough evidence" else None,
    )


def _more_pairs(contrast: _Contrast, bound: float) -> int | None:
    """New pairs until either answer is given with a chance of 80%: gone if it is gone, still helping if it stayed."""
    variance = contrast.variance_after * contrast.common if contrast.common else UNIT_VARIANCE
    before = contrast.variance_before
    likely = _NORMAL.inv_cdf(0.8)
    pairs = float(FEWEST_PAIRS)
    while pairs <= _MOST_PAIRS:
        after = variance / pairs
        deviation = math.sqrt(after)
        # One in five times a mean lies this far on the wrong side of the truth: of what is gone, and of what stayed.
        seen = contrast.before - likely * deviation
        if fall_e_value(seen, before + after, contrast.before) >= bound and seen > always_valid_half_width(after):
            return max(1, math.ceil(pairs) - contrast.common)
        pairs = max(pairs + 1, pairs * 1.03)
    return None


def _by_family(rows: Sequence[GainRow]) -> dict[str, list[float]]:
    families: defaultdict[str, list[float]] = defaultdict(list)
    for row in rows:
        families[row.family].append(row.gain)
    return dict(families)


def _pooled_variance(groups: Sequence[Sequence[float]]) -> float:
    """The variance of gains within families, pulled to the typical one."""
    within = sum(float(np.var(gains)) * len(gains) for gains in groups)
    freedom = sum(len(gains) - 1 for gains in groups)
    return (within + _PRIOR_PAIRS * UNIT_VARIANCE) / (freedom + _PRIOR_PAIRS)
