"""What one decision costs here: a question encoded and its neighbours found, timed on the panel's own tasks."""

from __future__ import annotations

import time

import numpy as np

from skilldelta.encoders.base import Encoder
from skilldelta.evaluation.accounting import RoutingCost
from skilldelta.predictor import PAPER, Settings, predict
from skilldelta.support import Scope, Support

TIMED = 20
"""Questions that are timed; the median is what is reported."""


def measured_routing(
    support: Support, encoder: Encoder, *, settings: Settings = PAPER, scope: Scope = "family"
) -> RoutingCost | None:
    """Median seconds of a decision, one question at a time; None where the texts were not kept. No token is spent."""
    if not support.texts:
        return None
    blocks = {str(support.scope_labels(scope)[block[0]]): block for block in support.blocks(scope)}
    rows = np.unique(np.linspace(0, len(support) - 1, TIMED).astype(int))
    encoder.encode([support.texts[rows[0]]])  # the first call may load a model
    return RoutingCost(
        seconds=float(np.median([_seconds(support, encoder, int(row), blocks, settings, scope) for row in rows]))
    )


def _seconds(
    support: Support, encoder: Encoder, row: int, blocks: dict[str, np.ndarray], settings: Settings, scope: Scope
) -> float:
    block = blocks[str(support.scope_labels(scope)[row])]
    vectors, gains = support.vectors[block], support.gains[block]
    started = time.perf_counter()
    predict(encoder.encode([support.texts[row]])[0], vectors, gains, settings=settings)
    return time.perf_counter() - started
