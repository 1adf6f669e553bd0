"""Does a skill's gain hold? Three answers: it does, it does not, or there is too little evidence to say.

Two rules. The gain must be above a bound: the check passes when the one-sided lower confidence limit is above the bound and
fails when the upper one is below it; a limit exactly at the bound decides nothing. And it must not be worse than a stored
baseline: task by task, the gain now minus the gain then fails when its upper limit is below zero, unless its lower limit is
within a tolerance.

The limits are those of the exact sign-flip test: where a skill changes nothing, the two arms of a task can be exchanged, so
each gain is as likely to have the other sign. A value is inside the limits as long as that test, on the gains minus the
value, does not reject it. They are order statistics of the means of all subsets of the gains (Hartigan 1969, "Using subsample
values as typical values"): of n gains there are 2^n - 1 such means, and a limit is as many of them from the end as the level
allows. With five tasks at 95% that is the smallest gain, so five tasks can pass; four cannot, whatever they show.

That argument is about no difference. Against any other value (a least gain that is not 0, the tolerance) the gains need not be
symmetric, and the limit is the further one of this and the bootstrap's, which knows that what no task showed may still occur;
it takes ten tasks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.errors import InputError
from skilldelta.evaluation.comparison import ENOUGH, POWER
from skilldelta.evaluation.results import UNKNOWN, Range
from skilldelta.evaluation.task_mean import DRAWS, TIE, TaskMean, task_mean

# So many gains have 32,767 subsets, which are all taken; of more gains, random ones.
_MOST_EXACT = 15
_RANDOM_SUBSETS = 40_000

CheckOutcome = Literal["pass", "fail", "not enough evidence"]
Rule = Literal["gain", "baseline"]


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """What is asked of every skill."""

    min_gain: float = 0.0
    confidence: float = 0.95
    """Of each limit, one-sided, for each skill alone."""
    tolerance: float = 0.05
    """How much worse than the baseline a gain may be."""
    resamples: int = DRAWS
    """Of the bootstrap, where a bound other than 0 needs it."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not -1 <= self.min_gain <= 1:
            raise InputError(f"the least gain must be from -1 to 1 (0.05 is 5 points), got {self.min_gain}")
        if not 0.5 < self.confidence < 1:
            raise InputError(f"confidence must be above 0.5 and below 1, got {self.confidence}")
        if not 0 <= self.tolerance <= 1:
            raise InputError(f"tolerance must be from 0 to 1 (0.05 is 5 points), got {self.tolerance}")
        if self.resamples < 100:
            raise InputError(f"a check needs at least 100 resamples, got {self.resamples}")


@dataclass(frozen=True, slots=True)
class GainCheck:
    """One rule applied to one skill."""

    rule: Rule
    outcome: CheckOutcome
    mean: TaskMean
    """Of the gain, or of the change of the gain; the ends of its interval are the two one-sided limits."""
    bound: float
    """What the limits were held against."""
    confidence: float
    more_tasks: int | None = None
    """Roughly how many more tasks would settle it in 80 of 100 cases; None where it is settled, or never will be."""

    @property
    def least_tasks(self) -> int:
        """How many tasks it takes to pass or fail at all."""
        return least_tasks(self.confidence)

    @property
    def cannot_decide(self) -> bool:
        """Whether so few tasks could neither pass nor fail, whatever they had shown."""
        return self.mean.tasks < self.least_tasks


def least_tasks(confidence: float) -> int:
    """The smallest number of tasks whose gains, all of one sign, are less likely by chance than 1 - confidence.

    >>> least_tasks(0.95), least_tasks(0.99)
    (5, 7)
    """
    return math.ceil(-math.log2(1 - confidence) - 1e-9)


def check_gain(gains: Floats, settings: CheckSettings, rng: np.random.Generator) -> GainCheck:
    """One gain per task against the least gain that is asked for."""
    bound = settings.min_gain
    is_exact = abs(bound) <= TIE
    mean = _limits(gains, settings, rng, largest=1.0, exact_low=is_exact, exact_high=is_exact)
    outcome = _outcome(mean, above=bound, below=bound)
    return GainCheck("gain", outcome, mean, bound, settings.confidence, _more(mean, mean.mean - bound, 0.0, outcome))


def check_change(changes: Floats, settings: CheckSettings, rng: np.random.Generator) -> GainCheck:
    """One change of the gain per task, now minus then, against the tolerance."""
    bound = -settings.tolerance
    mean = _limits(changes, settings, rng, largest=2.0, exact_low=abs(bound) <= TIE, exact_high=True)
    outcome = _outcome(mean, above=bound, below=0.0)
    more = _more(mean, mean.mean, settings.tolerance, outcome)
    return GainCheck("baseline", outcome, mean, bound, settings.confidence, more)


def _outcome(mean: TaskMean, *, above: float, below: float) -> CheckOutcome:
    """A pass where the lower limit is above the one value, a failure where the upper limit is below the other."""
    low, high = mean.interval.low, mean.interval.high
    if low is None or high is None:
        return "not enough evidence"
    return "pass" if low > above + TIE else "fail" if high < below - TIE else "not enough evidence"


def _limits(
    values: Floats,
    settings: CheckSettings,
    rng: np.random.Generator,
    *,
    largest: float,
    exact_low: bool,
    exact_high: bool,
) -> TaskMean:
    """The mean with its two one-sided limits; an exact one is the sign-flip test's alone."""
    level = 2 * settings.confidence - 1
    draws = 0 if exact_low and exact_high else settings.resamples
    mean = task_mean(values, rng, draws=draws, level=level, bound=largest, unseen_level=settings.confidence)
    flips, drawn = sign_flip_limits(values, settings.confidence, rng), mean.interval
    if flips.low is None or flips.high is None:
        return replace(mean, interval=UNKNOWN)
    few = mean.tasks < ENOUGH
    low = flips.low if exact_low else -largest if few or drawn.low is None else min(flips.low, drawn.low)
    high = flips.high if exact_high else largest if few or drawn.high is None else max(flips.high, drawn.high)
    return replace(mean, interval=Range(low, high))


def sign_flip_limits(values: Floats, confidence: float, rng: np.random.Generator) -> Range:
    """The lower and the upper one-sided limit of the center of the values; unknown where there are too few.

    >>> sign_flip_limits(np.array([0.1, 0.2, 0.3, 0.4, 0.5]), 0.95, np.random.default_rng(0))
    Range(low=0.1, high=0.5)
    """
    count = len(values)
    if count < least_tasks(confidence):
        return UNKNOWN
    if count <= _MOST_EXACT:
        sums, sizes = np.zeros(1), np.zeros(1)
        for value in values:  # every subset, with and without the next value
            sums, sizes = np.concatenate([sums, sums + value]), np.concatenate([sizes, sizes + 1])
        means = np.sort(sums[1:] / sizes[1:])
        outside = math.floor((1 - confidence) * 2**count + 1e-9)
    else:
        chosen = rng.random((_RANDOM_SUBSETS, count), np.float32) < 0.5
        sizes = chosen.sum(axis=1)
        means = np.sort((chosen @ values)[sizes > 0] / sizes[sizes > 0])
        outside = math.floor((1 - confidence) * (len(means) + 1))
    return Range(float(means[outside - 1]), float(means[len(means) - outside]))


def _more(mean: TaskMean, distance: float, margin: float, outcome: CheckOutcome) -> int | None:
    """How many more tasks would settle it in 80 of 100 cases, if the gains stay as they are."""
    if outcome != "not enough evidence":
        return None
    least = least_tasks((1 + mean.level) / 2)
    if mean.standard_error is None:
        return max(1, least - mean.tasks)
    reach = NormalDist().inv_cdf((1 + mean.level) / 2) + NormalDist().inv_cdf(POWER)
    room = max(abs(distance), margin - abs(distance))
    if room <= TIE:
        return None
    spread = mean.standard_error * math.sqrt(mean.tasks)
    needed = max(least, math.ceil((reach * spread / room) ** 2))
    return max(1, needed - mean.tasks)
