"""Smooth curves over a few features: kernel ridge on landmarks, so that its cost does not grow with the family."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats, Ints

_LANDMARKS = 64
_BANDWIDTH = 0.3
"""Squared width of a bump, as a share of the median squared distance between landmarks."""


@dataclass(frozen=True, slots=True, eq=False)
class Landmarks:
    """Places in feature space; a row becomes its nearness to them, made orthonormal under the kernel."""

    places: Floats  # (m, p)
    width: float
    whitening: Floats  # (m, m)

    @classmethod
    def choose(cls, rows: Floats, order: Ints) -> Landmarks:
        """The first rows in `order`, which knows no outcome."""
        places = rows[order[:_LANDMARKS]]
        distances = _squared_distances(places, places)
        others = distances[np.triu_indices(len(places), 1)]
        width = max(_BANDWIDTH * float(np.median(others)) if len(others) else 1.0, 1e-3)
        values, vectors = np.linalg.eigh(np.exp(-distances / width))
        kept = values > 1e-6 * values[-1]
        return cls(places, width, vectors[:, kept] / np.sqrt(values[kept]))

    def features(self, rows: Floats) -> Floats:
        """(n, <= 64) for rows (n, p)."""
        nearness: Floats = np.exp(-_squared_distances(rows, self.places) / self.width)
        return nearness @ self.whitening


def _squared_distances(a: Floats, b: Floats) -> Floats:
    distances: Floats = np.vecdot(a, a)[:, None] + np.vecdot(b, b)[None, :] - 2 * a @ b.T
    return np.maximum(distances, 0.0)
