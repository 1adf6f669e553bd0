"""The three evidence curves that a report shows, at amounts a picture needs and at a cost a report can bear."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from skilldelta.errors import InputError
from skilldelta.evaluation.evidence_scaling import EvidenceCurve, neighbor_sweep, repetition_sweep, support_sweep
from skilldelta.support import Scope, Support

LARGEST_BLOCK = 2_500
"""Tasks of a family beyond which ranking all against all would take too much memory for a report."""
KEPT_SHARE = 0.8
"""Share of the pairs that a curve must follow; smaller families are left out so that the others can be followed further."""


def scaling_curves(support: Support, rng: np.random.Generator, *, scope: Scope = "family") -> list[EvidenceCurve]:
    """Support, neighbours and repetitions; a curve that the panel cannot give is left out."""
    sizes = np.array([_eligible(support, block) for block in support.blocks(scope)])
    blocks = np.array([len(block) for block in support.blocks(scope)])
    if blocks.max() > LARGEST_BLOCK or not (sizes > 0).any():
        return []
    at_least = _followed_to(sizes, blocks)
    limit = int(sizes[sizes >= at_least].min())
    amounts = spaced(limit)
    curves = [
        support_sweep(support, rng, sizes=amounts, scope=scope, at_least=at_least),
        neighbor_sweep(support, ks=amounts, scope=scope, at_least=at_least),
    ]
    # Outcomes between 0 and 1: the single executions behind a mean are not in a Support.
    with suppress(InputError):
        curves.append(repetition_sweep(support, rng, scope=scope))
    return curves


def spaced(limit: int) -> list[int]:
    """1, 2, 3, 5, 8, 12, 20, 30, 50, ... and the limit itself."""
    steps = (step * 10**power for power in range(8) for step in (1, 2, 3, 5, 8, 12))
    return [*sorted({step for step in steps if step < limit and step not in (10, 100)}), limit]


def _eligible(support: Support, block: np.ndarray) -> int:
    """Rows that the worst-off target of a block may borrow from."""
    return len(block) - int(np.unique(support.task_codes[block], return_counts=True)[1].max())


def _followed_to(sizes: np.ndarray, blocks: np.ndarray) -> int:
    """The largest pool that still keeps most of the pairs, at least 1."""
    for amount in sorted(set(sizes.tolist()), reverse=True):
        if amount >= 1 and blocks[sizes >= amount].sum() >= KEPT_SHARE * blocks.sum():
            return int(amount)
    return 1
