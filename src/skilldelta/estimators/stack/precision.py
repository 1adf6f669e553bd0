"""How much a pair counts: more repetitions, more weight.

An observed gain varies for two reasons: tasks differ (no number of repetitions helps) and executions are chance (their
share falls with r0 and r1). The two variances are fixed, typical values, not estimates, so that no outcome can reach a
weight; only their ratio matters, and it matters little.
"""

from __future__ import annotations

from skilldelta.arrays import Floats, Ints

BETWEEN_TASKS = 0.1
WITHIN_ARM = 0.2
"""The variance of one execution's success at a success rate of 0.28 or 0.72."""

UNIT_VARIANCE = BETWEEN_TASKS + 2 * WITHIN_ARM
"""The variance of a gain from one execution of each arm: a pair of weight 1."""


def precisions(r0: Ints, r1: Ints) -> Floats:
    """(n,) the weight of each pair, 1 at one execution of each arm, at most 5 at any number."""
    weights: Floats = UNIT_VARIANCE / (BETWEEN_TASKS + WITHIN_ARM * (1.0 / r0 + 1.0 / r1))
    return weights
