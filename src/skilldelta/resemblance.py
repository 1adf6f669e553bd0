"""How recorded tasks resemble each other, and a target them: the nearest of each, and familiarity.

No outcome is an argument here. A task's nearness is the mean of its three largest cosines to other recorded tasks.
Familiarity is the share of the recorded tasks that are no nearer to their own nearest tasks than the target is to its
own. Between two recorded tasks the share is interpolated. Below the lowest it falls off exponentially, at the rate that
leads from the median to the lowest, so that small scopes can tell "a little less like them" from "unlike anything
recorded" too. For a task like the recorded ones it is about uniform on [0, 1]: a limit of 0.05 flags about one in
twenty of those.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skilldelta.arrays import Flags, Floats, Ints, Vectors
from skilldelta.neighbors import Neighbors, check_k, cosines_of, nearest, rounding_margin

_BLOCK_BYTES = 16 * 2**20
_SPARE_CANDIDATES = 4

NEAREST = 3
# Recorded tasks of a scope below which nobody can say what is usual in it: familiarity is unknown.
FEWEST = 8

# In a larger scope this many recorded tasks, drawn with a fixed seed, stand for all; they are compared with all.
_SAMPLE = 1_000

# Recorded tasks up to which `leave_one_out` takes a task out of the others' nearest as well.
_EXACT = 500


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


def _nearest_of_block(
    vectors: Vectors,
    queries: Vectors,
    similarity: Vectors,
    own: Flags | None,
    rows: Ints,
    similarities: Floats,
) -> None:
    """Fill `rows` and `similarities` for one block of queries."""
    if own is not None:
        similarity[own] = -np.inf
    n, width = similarity.shape[1], rows.shape[1]
    taken = min(n, width + _SPARE_CANDIDATES)
    candidates = np.broadcast_to(np.arange(n), similarity.shape)
    if taken < n:  # in row order, so that a stable sort keeps it among equals
        candidates = np.sort(np.argpartition(similarity, n - taken, axis=1)[:, n - taken :], axis=1)
    rough = np.take_along_axis(similarity, candidates, axis=1)
    lowest = np.partition(rough, taken - width, axis=1)[:, taken - width] - rounding_margin(vectors.shape[1])
    cosine = _block_cosines(vectors, queries, candidates)
    cosine[np.isneginf(rough)] = -np.inf
    order = np.argsort(-cosine, axis=1, kind="stable")[:, :width]
    best = np.take_along_axis(cosine, order, axis=1)
    is_valid = np.isfinite(best)
    rows[...] = np.where(is_valid, np.take_along_axis(candidates, order, axis=1), -1)
    similarities[...] = np.where(is_valid, best, 0.0)
    if taken < n:
        # More rows within the margin than candidates taken (mass ties): settle these queries one by one.
        for i in np.flatnonzero((rough.min(axis=1) >= lowest) & np.isfinite(lowest)):
            exact = nearest(vectors, queries[i], width, excluded=np.flatnonzero(np.isneginf(similarity[i])))
            rows[i, : len(exact.rows)] = exact.rows
            similarities[i, : len(exact.rows)] = exact.similarities


def _block_cosines(vectors: Vectors, queries: Vectors, candidates: Ints) -> Floats:
    """Float64 cosines of each query with its own candidates, a few queries at a time to stay in cache."""
    cosine = np.empty(candidates.shape)
    step = max(1, _BLOCK_BYTES // (8 * max(1, candidates.shape[1] * vectors.shape[1])))
    for start in range(0, len(queries), step):
        part = slice(start, start + step)
        cosine[part] = cosines_of(vectors[candidates[part]], queries[part, None, :])
    return cosine


@dataclass(frozen=True, eq=False)
class Familiarity:
    """The nearness of a scope's recorded tasks among themselves, which a target's is compared with."""

    usual: Floats  # (m,) ascending, at least two

    @classmethod
    def of(cls, vectors: Vectors) -> Familiarity | None:
        """From one row (of length 1) per distinct task; None where there are too few to say."""
        n = len(vectors)
        if n < FEWEST:
            return None
        rows = np.arange(n)
        if n > _SAMPLE:
            rows = np.sort(np.random.default_rng(0).choice(n, _SAMPLE, replace=False))
        return cls(np.sort(_near(vectors, rows, NEAREST).similarities.mean(axis=1)))

    def at(self, nearness: float) -> float:
        """The familiarity of a target of some nearness."""
        usual = self.usual
        if nearness >= usual[0]:
            return float(np.interp(nearness, usual, self._shares))
        return float(self._shares[0] * math.exp((nearness - usual[0]) / self._scale))

    @cached_property
    def _shares(self) -> Floats:
        m = len(self.usual)
        return np.arange(1, m + 1) / (m + 1)

    @cached_property
    def _scale(self) -> float:
        """How much less near is e times less familiar."""
        m = len(self.usual)
        return max((float(np.median(self.usual)) - float(self.usual[0])) / math.log((m + 1) / 2), 1e-6)


def nearness(vectors: Vectors, query: Vectors, *, excluded: Ints | None = None) -> float:
    """The mean of the largest cosines of a query to recorded tasks, one row per task; `excluded` rows are its own."""
    cosines = vectors @ query
    if excluded is not None and len(excluded):
        cosines = np.delete(cosines, excluded)
    if len(cosines) > NEAREST:
        cosines = np.partition(cosines, len(cosines) - NEAREST)[-NEAREST:]
    return float(cosines.mean()) if len(cosines) else -1.0


def leave_one_out(vectors: Vectors, closest: Ints | None = None) -> Floats:
    """(n,) the familiarity of every recorded task to the others; NaN where they are too few to say.

    `closest` (n, 4) are the rows nearest to each, where somebody has looked for them already.
    """
    n = len(vectors)
    if n <= FEWEST:
        return np.full(n, np.nan)
    if closest is None:
        closest = _near(vectors, np.arange(n), NEAREST + 1).rows
    cosines = np.vecdot(vectors[closest], vectors[:, None]).astype(np.float64)
    near = cosines[:, :NEAREST].mean(axis=1)
    if n > _EXACT:
        usual = Familiarity(np.sort(near))
        return np.array([usual.at(value) for value in near])
    return np.array([_without(i, near, cosines, closest).at(near[i]) for i in range(n)])


def _without(task: int, near: Floats, cosines: Floats, closest: Ints) -> Familiarity:
    """What is usual among the others: where the task is one of a row's nearest, the row's next one takes its place."""
    rows, place = np.nonzero(closest[:, :NEAREST] == task)
    usual = near.copy()
    usual[rows] += (cosines[rows, NEAREST] - cosines[rows, place]) / NEAREST
    return Familiarity(np.sort(np.delete(usual, task)))


def _near(vectors: Vectors, rows: Ints, k: int) -> Neighbors:
    codes = np.arange(len(vectors))
    return nearest_to_each(vectors, vectors[rows], k, codes=codes, query_codes=rows)
