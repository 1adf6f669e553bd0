"""Exact nearest neighbours by cosine, with reproducible ties.

Candidates are selected in float32 with a margin that covers its rounding error, then rescored in float64; equal cosines
stand in row order. One query and many queries give the same neighbours and the same cosines. No outcome is an argument
here, so none can leak into the choice of neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skilldelta.arrays import Floats, Ints, Vectors
from skilldelta.errors import InputError

_BLOCK_BYTES = 16 * 2**20
_SPARE_CANDIDATES = 4


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
    lowest = np.partition(similarity, cut)[cut] - _margin(vectors.shape[1])
    candidates = (similarity >= lowest).nonzero()[0]
    cosine = _cosines(vectors[candidates], query)
    best = (-cosine).argsort(kind="stable")[:k]
    return Neighbors(candidates[best], cosine[best])


def nearest_to_each(
    vectors: Vectors, queries: Vectors, k: int, *, codes: Ints | None = None, query_codes: Ints | None = None
) -> Neighbors:
    """`nearest` for many queries, blockwise; rows whose code equals the query's code are left out.

    The similarity matrix is never held whole: memory is one block, whatever the number of queries.
    """
    check_k(k)
    n, m = len(vectors), len(queries)
    width = min(k, n)
    rows = np.full((m, width), -1, np.int64)
    similarities = np.zeros((m, width))
    # A copy, because BLAS crashes on x @ x.T with two threads (numpy issue 19685).
    transposed = np.ascontiguousarray(vectors.T)
    step = max(1, _BLOCK_BYTES // (4 * max(n, 1)))
    for start in range(0, m, step):
        block = slice(start, min(start + step, m))
        own = None if codes is None or query_codes is None else codes[None, :] == query_codes[block, None]
        _nearest_of_block(vectors, queries[block], queries[block] @ transposed, own, rows[block], similarities[block])
    return Neighbors(rows, similarities)


def check_k(k: int) -> None:
    """Refuse a neighbourhood without neighbours."""
    if k < 1:
        raise InputError(f"k must be at least 1, got {k}", setting="k")


def _nearest_of_block(
    vectors: Vectors,
    queries: Vectors,
    similarity: NDArray[np.float32],
    own: NDArray[np.bool_] | None,
    rows: Ints,
    similarities: Floats,
) -> None:
    """Fill `rows` and `similarities` for one block of queries."""
    if own is not None:
        similarity[own] = -np.inf
    n, width = similarity.shape[1], rows.shape[1]
    taken = min(n, width + _SPARE_CANDIDATES)
    candidates = np.argpartition(similarity, n - taken, axis=1)[:, n - taken :] if taken < n else _all(similarity)
    candidates = np.sort(candidates, axis=1)  # row order, so that a stable sort keeps it among equals
    rough = np.take_along_axis(similarity, candidates, axis=1)
    lowest = np.partition(rough, taken - width, axis=1)[:, taken - width] - _margin(vectors.shape[1])
    cosine = _block_cosines(vectors, queries, candidates)
    cosine[np.isneginf(rough)] = -np.inf
    order = np.argsort(-cosine, axis=1, kind="stable")[:, :width]
    best = np.take_along_axis(cosine, order, axis=1)
    found = np.isfinite(best)
    rows[...] = np.where(found, np.take_along_axis(candidates, order, axis=1), -1)
    similarities[...] = np.where(found, best, 0.0)
    if taken < n:
        # More rows within the margin than candidates taken (mass ties): settle these queries one by one.
        for i in np.flatnonzero((rough.min(axis=1) >= lowest) & np.isfinite(lowest)):
            exact = nearest(vectors, queries[i], width, excluded=np.flatnonzero(np.isneginf(similarity[i])))
            rows[i, : len(exact.rows)] = exact.rows
            similarities[i, : len(exact.rows)] = exact.similarities


def _all(similarity: NDArray[np.float32]) -> Ints:
    return np.broadcast_to(np.arange(similarity.shape[1]), similarity.shape)


def _block_cosines(vectors: Vectors, queries: Vectors, candidates: Ints) -> Floats:
    """Float64 cosines of each query with its own candidates, a few queries at a time to stay in cache."""
    cosine = np.empty(candidates.shape)
    step = max(1, _BLOCK_BYTES // (8 * max(1, candidates.shape[1] * vectors.shape[1])))
    for start in range(0, len(queries), step):
        part = slice(start, start + step)
        cosine[part] = _cosines(vectors[candidates[part]], queries[part, None, :])
    return cosine


def _cosines(vectors: Vectors, query: Vectors) -> Floats:
    """Cosines in float64. Rows are unit only to float32 rounding, so the lengths are divided out."""
    a, b = vectors.astype(np.float64), query.astype(np.float64)
    cosines: Floats = np.vecdot(a, b) / np.sqrt(np.vecdot(a, a) * np.vecdot(b, b))
    return cosines


def _margin(dimension: int) -> float:
    """Twice the worst rounding error of a float32 dot product of unit vectors, plus that of their lengths."""
    return 2 * (dimension * 2.0**-24 + 2.0**-22)
