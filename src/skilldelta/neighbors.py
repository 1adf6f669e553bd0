"""Exact nearest neighbors by cosine, with reproducible ties.

Candidates are selected in float32 with a margin that covers its rounding error, then rescored in float64; equal cosines
stand in row order. Many queries at once, in `resemblance`, give the same neighbors and the same cosines. No outcome is
an argument here, so none can leak into the choice of neighbors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats, Ints, Vectors
from skilldelta.errors import InputError


@dataclass(frozen=True, slots=True)
class Neighbors:
    """Rows from the nearest to the farthest. For many queries the arrays have a row per query, padded with row -1."""

    rows: Ints  # (k,) or (m, k)
    similarities: Floats  # same shape; 0 where padded


def nearest(vectors: Vectors, query: Vectors, k: int, *, excluded: Ints | None = None) -> Neighbors:
    """The min(k, eligible) rows with the largest cosine to `query`, `excluded` rows left out."""
    check_k(k)
    similarity = np.vecdot(vectors, query)
    eligible = len(similarity)
    if excluded is not None and len(excluded):
        similarity[excluded] = -np.inf
        eligible -= len(excluded)
    k = min(k, eligible)
    if k == 0:
        return Neighbors(np.empty(0, np.int64), np.empty(0))
    cut = len(similarity) - k
    lowest = np.partition(similarity, cut)[cut] - rounding_margin(vectors.shape[1])
    candidates = (similarity >= lowest).nonzero()[0]
    cosine = cosines_of(vectors[candidates], query)
    best = (-cosine).argsort(kind="stable")[:k]
    return Neighbors(candidates[best], cosine[best])


def check_k(k: int) -> None:
    """Refuse a neighborhood without neighbors."""
    if k < 1:
        raise InputError(f"k must be at least 1, got {k}", setting="k")


def cosines_of(vectors: Vectors, query: Vectors) -> Floats:
    """Cosines in float64. Rows are unit only to float32 rounding, so the lengths are divided out."""
    a, b = vectors.astype(np.float64), query.astype(np.float64)
    cosines: Floats = np.vecdot(a, b) / np.sqrt(np.vecdot(a, a) * np.vecdot(b, b))
    return cosines


def rounding_margin(dimension: int) -> float:
    """Twice the worst rounding error of a float32 dot product of unit vectors, plus that of their lengths."""
    return 2 * (dimension * 2.0**-24 + 2.0**-22)
