"""Tasks on a plane: the two directions in which their vectors differ most, for pictures only.

No decision rests on it. Two directions show a part of what a vector says, and `shares` says how large a part. The same
vectors give the same plane on every machine: principal axes are unique but for their sign, which is fixed here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats, Ints, Vectors

PLANE_ROWS = 2_000
"""Rows that a plane is learned from; of more, this many drawn with a fixed seed stand for all."""


@dataclass(frozen=True, slots=True, eq=False)
class TaskPlane:
    """The plane that a map is drawn on."""

    centre: Floats  # (dim,)
    axes: Floats  # (2, dim), rows of length 1, or zero where the vectors differ in fewer directions
    shares: tuple[float, float]
    """Of the variance of the vectors, what each axis shows."""

    @classmethod
    def of(cls, vectors: Vectors) -> TaskPlane:
        """The plane of some vectors, at least one."""
        some = vectors[fixed_sample(len(vectors), PLANE_ROWS)].astype(np.float64)
        centre = some.mean(axis=0)
        _, sizes, rows = np.linalg.svd(some - centre, full_matrices=False)
        variances = np.append(sizes**2, [0.0, 0.0])[:2]
        total = float((sizes**2).sum())
        axes = np.zeros((2, vectors.shape[1]))
        for axis in range(2):
            if total > 0 and variances[axis] > 1e-12 * total:
                axes[axis] = rows[axis] * np.sign(rows[axis][np.argmax(np.abs(rows[axis]))])
        first, second = (float(variance / total) if total > 0 else 0.0 for variance in variances)
        return cls(centre, axes, (first, second))

    def places(self, vectors: Vectors) -> Floats:
        """(n, 2) where vectors stand, those that the plane was learned from or others."""
        placed: Floats = (vectors.astype(np.float64) - self.centre) @ self.axes.T
        return placed


def fixed_sample(n: int, size: int) -> Ints:
    """At most `size` of n rows in their order, the same at every call."""
    if n <= size:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, size, replace=False))
