"""Lines and curves within one family: how gains lean with features, as a departure from the family's mean.

The intercept is free, so that predictions are departures from the mean of the rows they were learned from. For every
held-out set of folds the normal equations are those of the other folds, added up from per-fold sums: an outcome that is
held out enters no number that a prediction is made of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from skilldelta.arrays import Floats, Ints, Vectors
from skilldelta.estimators.blend.shrinkage import UNIT_VARIANCE

# Variance that slopes are expected to explain, against the noise of one pair; sets the penalty.
SIGNAL = 0.3

_FEWEST = 4
_SYSTEMS = 32 * 2**20  # float64 cells of stacked systems at a time


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """A fitted line: departure = (features - centre) . direction."""

    centre: Floats  # (p,)
    direction: Floats  # (p,)

    def departure(self, features: Floats | Vectors) -> float:
        """The predicted departure of one task from its family's mean."""
        return float((features - self.centre) @ self.direction)


def fit_slopes(features: Floats, gains: Floats, weights: Floats) -> Slopes:
    """Slopes from all rows of a family; flat where there are too few."""
    basis = _Basis.of(features)
    if len(features) < _FEWEST or basis.is_point:
        return Slopes(np.zeros(features.shape[1]), np.zeros(features.shape[1]))
    folds = np.zeros(len(features), np.int64)
    directions, centres = _solve(basis.rows, gains, weights, folds, [()])
    return Slopes(basis.back(centres[0]) + basis.offset, basis.back(directions[0]))


def held_out_departures(
    features: Floats, gains: Floats, weights: Floats, folds: Ints, fold_count: int, *, nested: bool
) -> tuple[Floats, Floats | None]:
    """Departures of every row without its own fold (n,), and, if nested, without another one too (fold_count, n).

    Row i of fold g at [f, i] is predicted without f and g; at [g, i] it is without g alone.
    """
    n = len(features)
    plain = np.zeros(n)
    basis = _Basis.of(features)
    if n < _FEWEST or basis.is_point:
        return plain, np.zeros((fold_count, n)) if nested else None
    rows = basis.rows
    present = np.unique(folds).tolist()
    singles = [(f,) for f in present]
    at = {f: np.flatnonzero(folds == f) for f in present}
    directions, centres = _solve(rows, gains, weights, folds, singles)
    for (f,), direction, centre in zip(singles, directions, centres, strict=True):
        plain[at[f]] = (rows[at[f]] - centre) @ direction
    if not nested:
        return plain, None
    held = np.repeat(plain[None], fold_count, axis=0)  # folds without rows here hold nothing more out
    pairs = list(combinations(present, 2))
    step = max(1, _SYSTEMS // rows.shape[1] ** 2)
    for start in range(0, len(pairs), step):
        some = pairs[start : start + step]
        directions, centres = _solve(rows, gains, weights, folds, some)
        for (f, g), direction, centre in zip(some, directions, centres, strict=True):
            held[f, at[g]] = (rows[at[g]] - centre) @ direction
            held[g, at[f]] = (rows[at[f]] - centre) @ direction
    return plain, held


@dataclass(frozen=True, slots=True, eq=False)
class _Basis:
    """Features around their mean, in no more coordinates than there are rows."""

    rows: Floats  # (n, q)
    offset: Floats  # (p,)
    axes: Floats | None  # (q, p)

    @classmethod
    def of(cls, features: Floats) -> _Basis:
        features = np.asarray(features, np.float64)
        offset = features.mean(axis=0)
        centred = features - offset
        if len(centred) >= centred.shape[1]:
            return cls(centred, offset, None)
        values, vectors = np.linalg.eigh(centred @ centred.T)
        is_kept = values > 1e-9 * max(values[-1], 1e-300)
        scale = np.sqrt(values[is_kept])
        return cls(vectors[:, is_kept] * scale, offset, (vectors[:, is_kept] / scale).T @ centred)

    @property
    def is_point(self) -> bool:
        """All rows have the same features: there is nothing to lean on."""
        return bool(self.rows.shape[1] == 0)

    def back(self, coordinates: Floats) -> Floats:
        """Coordinates of this basis as those of the features."""
        return coordinates if self.axes is None else coordinates @ self.axes


def _solve(
    rows: Floats, gains: Floats, weights: Floats, folds: Ints, excluded: Sequence[tuple[int, ...]]
) -> tuple[Floats, Floats]:
    """(e, q) directions and (e, q) centres, one for each set of excluded folds."""
    size = rows.shape[1]
    present = np.unique(folds)
    moments = [_moments(rows[folds == f], gains[folds == f], weights[folds == f]) for f in present]
    keep = np.array([[float(f not in out) for f in present] for out in excluded])
    mass, gain, first, cross, second = (np.stack(parts) for parts in zip(*moments, strict=True))
    # Outcomes are added up over the kept folds only, never subtracted: nothing of a held-out one remains.
    total, total_gain = keep @ mass, keep @ gain
    centre = (keep @ first) / np.maximum(total, 1e-12)[:, None]
    right = keep @ cross - total_gain[:, None] * centre
    left = (keep @ second.reshape(len(present), -1)).reshape(-1, size, size)
    left -= total[:, None, None] * centre[:, :, None] * centre[:, None, :]
    left[:, np.arange(size), np.arange(size)] += _penalty(rows)
    return np.linalg.solve(left, right[:, :, None])[:, :, 0], centre


def _penalty(rows: Floats) -> float:
    """What makes slopes over rows around their mean explain `SIGNAL`."""
    return max(float(np.vecdot(rows, rows).mean()), 1e-12) / SIGNAL


def _moments(rows: Floats, gains: Floats, weights: Floats) -> tuple[float, float, Floats, Floats, Floats]:
    weighted = rows * weights[:, None]
    return float(weights.sum()), float(weights @ gains), weighted.sum(axis=0), weighted.T @ gains, weighted.T @ rows


_LANDMARKS = 64
# Squared width of a bump, as a share of the median squared distance between landmarks.
_BANDWIDTH = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class Landmarks:
    """Smooth curves over a few features: kernel ridge on landmarks, so that its cost does not grow with the family.

    Landmarks are places in feature space; a row becomes its nearness to them, made orthonormal under the kernel.
    """

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
        is_kept = values > 1e-6 * values[-1]
        return cls(places, width, vectors[:, is_kept] / np.sqrt(values[is_kept]))

    def features(self, rows: Floats) -> Floats:
        """(n, <= 64) for rows (n, p)."""
        nearness: Floats = np.exp(-_squared_distances(rows, self.places) / self.width)
        return nearness @ self.whitening


def _squared_distances(a: Floats, b: Floats) -> Floats:
    distances: Floats = np.vecdot(a, a)[:, None] + np.vecdot(b, b)[None, :] - 2 * a @ b.T
    return np.maximum(distances, 0.0)


# The variance of departures in a family of which nothing is known.
UNSEEN = SIGNAL * UNIT_VARIANCE

# A family's own noise counts against the typical one as if that had been seen on this many rows.
_PRIOR_ROWS = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class Trend:
    """How far tasks may depart from their family's level in a way that the data have not shown yet.

    The ridge regression over meaning is the mean of a posterior; this is its covariance. The variance is small among the
    recorded tasks and grows with the distance from them, up to what departures may amount to before any outcome is seen.
    """

    centre: Floats  # (p,)
    covariance: Floats  # (p, p)

    @classmethod
    def of(cls, features: Floats, gains: Floats, weights: Floats) -> Trend:
        """From all rows of a family: features (n, p), gains and weights (n,)."""
        centre = np.average(features, axis=0, weights=weights)
        rows = features - centre
        errors = gains - np.average(gains, weights=weights)
        noise = (_PRIOR_ROWS * UNIT_VARIANCE + weights @ errors**2) / (_PRIOR_ROWS + len(rows))
        precision = (rows * weights[:, None]).T @ rows + _penalty(rows) * np.eye(rows.shape[1])
        return cls(centre, noise * np.linalg.inv(precision))

    def variance(self, features: Floats | Vectors) -> float:
        """Of the departure of tasks with these features (p,); never more than outcomes in [0, 1] allow."""
        away = features - self.centre
        return min(float(away @ self.covariance @ away), 1.0)
