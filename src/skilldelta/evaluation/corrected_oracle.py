"""The success of the better condition of every task, without what noise adds to it.

The better of two recorded means looks better than it is: with equal true success rates, one of the two is still ahead by
chance. Repetitions show how large that chance is. The observed gains are then pulled towards their mean until their
variance is that of the true gains (Louis 1984, "Estimating a population of parameter values"), and the oracle is read off
those. Without noise nothing is pulled, and where all is noise the oracle is the better constant policy.
"""

from __future__ import annotations

import numpy as np

from skilldelta.arrays import Floats, Ints
from skilldelta.support import Support


def corrected_oracle(support: Support) -> float | None:
    """Expected success of the truly better condition of every task; None where an arm has no task that ran twice.

    >>> tasks = dict(task_ids=["a", "b"], families=["f", "f"], skills=["s", "s"], vectors=np.eye(2))
    >>> alike = Support.from_arrays(**tasks, y0=[0.5, 0.5], y1=[0.0, 1.0], r0=[2, 2], r1=[2, 2])
    >>> float(np.maximum(alike.y0, alike.y1).mean()), corrected_oracle(alike)
    (0.75, 0.5)
    """
    noise0, noise1 = _run_variance(support.y0, support.r0), _run_variance(support.y1, support.r1)
    if noise0 is None or noise1 is None:
        return None
    mean = float(support.gains.mean())
    noise = noise0 / support.r0 + noise1 / support.r1
    between_tasks = max(0.0, float(((support.gains - mean) ** 2).mean() - noise.mean()))
    share = np.sqrt(between_tasks / np.maximum(between_tasks + noise, 1e-12)) if between_tasks else 0.0
    true_gains = mean + share * (support.gains - mean)
    return float(support.y0.mean() + np.maximum(true_gains, 0.0).mean())


def _run_variance(success: Floats, runs: Ints) -> float | None:
    """The mean variance of one run around its task's success rate, from tasks that ran twice; at most, where graded."""
    repeated = runs >= 2
    if not repeated.any():
        return None
    y, r = success[repeated], runs[repeated]
    return float((y * (1 - y) * r / (r - 1)).mean())
