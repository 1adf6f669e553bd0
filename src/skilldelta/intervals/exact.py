"""An interval from counts alone: all runs of both arms as coin flips, and how far their mean can be from what was seen.

With equal weights and equal repetitions the gain is 2 p - 1, where p is the mean success probability of the runs once
those without the skill are counted as 1 - success. The number of successes is a sum of independent flips; its tails
are lighter than the binomial's with the same mean (Hoeffding, 1956), so Clopper and Pearson's limits for p hold.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import beta

from skilldelta.intervals.neighborhood import Neighborhood


def exact(neighborhood: Neighborhood, delta: float) -> tuple[float, float]:
    """Clopper-Pearson limits over equally weighted runs, widened by how much the weights really differ.

    The interval is for the weighted expected gain. It differs from the equally weighted one by sum (c - 1/n') mu over
    runs, at most half the absolute differences, since all mu lie in [0, 1] and the differences sum to zero in each arm.
    """
    count, total = _successes(neighborhood), int(neighborhood.r0.sum() + neighborhood.r1.sum())
    low = 0.0 if count == 0 else float(beta.ppf(delta / 2, count, total - count + 1))
    high = 1.0 if count == total else float(beta.ppf(1 - delta / 2, count + 1, total - count))
    slack = _arm_slack(neighborhood, neighborhood.r0, total) + _arm_slack(neighborhood, neighborhood.r1, total)
    offset = _offset(neighborhood, total)
    return 2 * low - 1 - slack + offset, 2 * high - 1 + slack + offset


def _successes(neighborhood: Neighborhood) -> int:
    with_skill = neighborhood.y1 * neighborhood.r1
    without = (1 - neighborhood.y0) * neighborhood.r0
    return int(np.round(with_skill.sum() + without.sum()))


def _arm_slack(neighborhood: Neighborhood, counts: np.ndarray, total: int) -> float:
    """How far sum_i (w_i - 2 r_i / n) mu_i can lie from its value at mu = 1/2."""
    differences = neighborhood.weights - 2 * counts / total
    return float(np.abs(differences).sum() / 2)


def _offset(neighborhood: Neighborhood, total: int) -> float:
    """The value of those sums at mu = 1/2, both arms together; 0 when both arms have as many runs."""
    both = (neighborhood.weights - 2 * neighborhood.r1 / total) + (neighborhood.weights - 2 * neighborhood.r0 / total)
    return float(both.sum() / 2)
