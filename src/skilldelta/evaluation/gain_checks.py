"""Does a skill's gain hold? Three answers: it does, it does not, or there is too little evidence to say.

Two rules. The gain must be above a bound: the check passes when the one-sided lower confidence limit is above the bound and
fails when the upper one is below it; a limit exactly at the bound, which outcomes of 0 and 1 often give, decides nothing.
And it must not be worse than a stored baseline: task by task, the gain now minus the gain then fails when its upper limit
is below zero, unless its lower limit is within a tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.errors import InputError
from skilldelta.evaluation.comparison import ENOUGH, more_tasks
from skilldelta.evaluation.task_mean import DRAWS, TIE, TaskMean, task_mean

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
    """Roughly how many more tasks would settle it; None where it is settled, or never will be."""


def check_gain(gains: Floats, settings: CheckSettings, rng: np.random.Generator) -> GainCheck:
    """One gain per task against the least gain that is asked for."""
    mean, bound = _limits(gains, settings, rng, largest=1.0), settings.min_gain
    outcome = _outcome(mean, above=bound, below=bound)
    return GainCheck("gain", outcome, mean, bound, settings.confidence, _more(mean, mean.mean - bound, 0.0, outcome))


def check_change(changes: Floats, settings: CheckSettings, rng: np.random.Generator) -> GainCheck:
    """One change of the gain per task, now minus then, against the tolerance."""
    mean, bound = _limits(changes, settings, rng, largest=2.0), -settings.tolerance
    outcome = _outcome(mean, above=bound, below=0.0)
    more = _more(mean, mean.mean, settings.tolerance, outcome)
    return GainCheck("baseline", outcome, mean, bound, settings.confidence, more)


def _outcome(mean: TaskMean, *, above: float, below: float) -> CheckOutcome:
    """A pass where the lower limit is above the one value, a failure where the upper limit is below the other."""
    low, high = mean.interval.low, mean.interval.high
    if low is None or high is None or mean.tasks < ENOUGH:
        return "not enough evidence"
    return "pass" if low > above + TIE else "fail" if high < below - TIE else "not enough evidence"


def _limits(values: Floats, settings: CheckSettings, rng: np.random.Generator, *, largest: float) -> TaskMean:
    """Two one-sided limits are the ends of a two-sided interval of a lower level."""
    level = 2 * settings.confidence - 1
    return task_mean(
        values, rng, draws=settings.resamples, level=level, bound=largest, unseen_level=settings.confidence
    )


def _more(mean: TaskMean, distance: float, margin: float, outcome: CheckOutcome) -> int | None:
    return None if outcome != "not enough evidence" else more_tasks(distance, mean.half_width, mean.tasks, margin)
