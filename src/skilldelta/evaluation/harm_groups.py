"""Harmed tasks that are each other's nearest neighbours, and whether the tasks around them are harmed as well.

One harmed task may be chance. A group of like tasks that are harmed, among neighbours that lose too, is a kind of task on
which the skill should be skipped. Groups are the connected parts of the graph in which a harmed task points to the
harmed ones among its k nearest tasks of the same skill.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Flags, Floats, Ints
from skilldelta.evaluation.task_mean import TIE
from skilldelta.resemblance import nearest_to_each
from skilldelta.support import Support

NEIGHBORS = 6


@dataclass(frozen=True, slots=True, eq=False)
class HarmGroup:
    """Harmed rows that belong together."""

    rows: Ints  # (m,) of the support, the most harmed first
    gain: float
    """Mean gain of these rows: by construction below zero."""
    nearby_gain: float | None
    """Mean gain of their nearest tasks, each row's own left out; None where there is no other task."""

    @property
    def is_isolated(self) -> bool:
        """Whether the tasks around it show no harm, so that skipping there buys nothing that would last."""
        return self.nearby_gain is None or self.nearby_gain >= 0


def harm_groups(support: Support, neighbors: Ints) -> tuple[HarmGroup, ...]:
    """The groups of one skill's rows, the largest loss first; `neighbors` are those of `nearest_rows`."""
    harmed = support.gains < -TIE
    if not harmed.any():
        return ()
    labels = _parts(harmed, neighbors)
    found = [
        _group(support, np.flatnonzero(harmed & (labels == label)), neighbors) for label in np.unique(labels[harmed])
    ]
    return tuple(sorted(found, key=lambda group: (group.gain * len(group.rows), int(group.rows[0]))))


def nearest_rows(support: Support, k: int = NEIGHBORS) -> Ints:
    """(n, k) the nearest other tasks of each row, padded with -1."""
    return nearest_to_each(
        support.vectors, support.vectors, k, codes=support.task_codes, query_codes=support.task_codes
    ).rows


def neighborhood_gains(support: Support, neighbors: Ints) -> Floats:
    """(n,) the mean gain of each row's nearest other tasks; NaN without any."""
    present = neighbors >= 0
    gains = np.where(present, support.gains[neighbors], 0.0).sum(axis=1)
    counts = present.sum(axis=1)
    found: Floats = np.where(counts > 0, gains / np.maximum(counts, 1), np.nan)
    return found


def _parts(harmed: Flags, neighbors: Ints) -> Ints:
    """(n,) the connected part of each row; edges run between harmed rows only."""
    from scipy.sparse import csr_array  # slow to import; a server that judges no skill does without
    from scipy.sparse.csgraph import connected_components

    n, k = neighbors.shape
    start, end = np.repeat(np.arange(n), k), neighbors.ravel()
    kept = (end >= 0) & harmed[start] & harmed[end]
    graph = csr_array((np.ones(int(kept.sum())), (start[kept], end[kept])), shape=(n, n))
    labels: Ints = connected_components(graph, directed=True, connection="weak")[1].astype(np.int64)
    return labels


def _group(support: Support, rows: Ints, neighbors: Ints) -> HarmGroup:
    ordered = rows[np.argsort(support.gains[rows], kind="stable")]
    nearby = neighborhood_gains(support, neighbors)[rows]
    known = nearby[np.isfinite(nearby)]
    return HarmGroup(ordered, float(support.gains[rows].mean()), float(known.mean()) if len(known) else None)
