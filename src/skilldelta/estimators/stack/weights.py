"""How much each component counts: non-negative weights, learned for the suite and bent towards each family.

Squared error of held-out departures decides, with a pull towards a default for the suite's weights and towards the
suite's for a family's. Families with less noise count more. All of it is scaled by the belief that departures tell
anything at all, against the level alone: a third in a tiny bank, one where they help, and, where a large bank shows that
they do not, zero, save for families that speak clearly for themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from skilldelta.estimators.stack.precision import UNIT_VARIANCE
from skilldelta.support import Floats, Ints

_SUITE_SPREAD = 0.15
"""Standard deviation of the suite's weights around the default, before any outcome is seen."""

_FAMILY_SPREAD = 0.2
"""Standard deviation of a family's weights around the suite's."""

_ODDS = 0.5
"""That departures tell anything, before any outcome is seen."""

_SMALLEST_BELIEF = 0.05
_LUCK = 10.0
"""Useless components lower a family's squared error by more than this, in units of noise, about once in fifty times."""

_PRIOR_ROWS = 10.0


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Weights of the components in every group, and what they make of held-out rows."""

    suite: Floats  # (c,)
    groups: Floats  # (groups, c), each row non-negative with a sum of at most 1
    spread: Floats  # (groups,) root mean square of the weighted departures
    belief: float


def learn_weights(
    departures: Floats,
    residuals: Floats,
    precisions: Floats,
    *,
    blocks: Sequence[Ints],
    keep: NDArray[np.bool_],
    default: Floats,
) -> Weights:
    """Weights that best turn departures (n, c) into residuals (n,), from the rows to keep (n,) alone."""
    parts = [_normal_equations(departures, residuals, precisions, block[keep[block]]) for block in blocks]
    left, right = np.sum([p.left for p in parts], axis=0), np.sum([p.right for p in parts], axis=0)
    belief = _belief(left, right, default)
    suite = belief * _non_negative(left, right, default, _SUITE_SPREAD)
    groups = np.stack([_non_negative(p.left, p.right, suite, belief * _FAMILY_SPREAD + 1e-3) for p in parts])
    if belief < _SMALLEST_BELIEF:
        suite = np.zeros_like(suite)
        alone = [_non_negative(p.left, p.right, suite, _FAMILY_SPREAD) for p in parts]
        groups = np.stack([w * (_fall(w, p) > _LUCK) for w, p in zip(alone, parts, strict=True)])
    moments = np.stack([p.moments for p in parts])
    spread = np.sqrt(np.maximum(np.einsum("gc,gcd,gd->g", groups, moments, groups), 0.0))
    return Weights(suite, groups, spread, belief)


@dataclass(frozen=True, slots=True, eq=False)
class _Equations:
    """A group's least-squares problem, divided by its noise."""

    left: Floats  # (c, c)
    right: Floats  # (c,)
    moments: Floats  # (c, c) mean products of departures


def _normal_equations(departures: Floats, residuals: Floats, precisions: Floats, rows: Ints) -> _Equations:
    x, r, w = departures[rows], residuals[rows], precisions[rows]
    variance = (_PRIOR_ROWS * UNIT_VARIANCE + w @ r**2) / (_PRIOR_ROWS + len(rows))
    weighted = x * w[:, None]
    return _Equations(weighted.T @ x / variance, weighted.T @ r / variance, x.T @ x / max(len(rows), 1))


def _belief(left: Floats, right: Floats, default: Floats) -> float:
    """The probability that departures tell anything: normal weights around the default against none at all."""
    precision = 1 / _SUITE_SPREAD**2
    size = len(left)
    pulled = right + precision * default
    fit = pulled @ np.linalg.solve(left + precision * np.eye(size), pulled) - precision * default @ default
    occam = np.linalg.slogdet(np.eye(size) + left / precision)[1]
    return float(1 / (1 + np.exp(np.clip((occam - fit) / 2, -700, 700)) / _ODDS))


def _fall(weights: Floats, part: _Equations) -> float:
    """How much weights lower a family's squared error, in units of its noise."""
    return float(2 * part.right @ weights - weights @ part.left @ weights)


def _non_negative(left: Floats, right: Floats, centre: Floats, spread: float) -> Floats:
    """Minimise w'Aw - 2b'w + |w - centre|^2 / spread^2 over w >= 0; weights that sum to more than 1 are scaled to it."""
    precision = 1 / spread**2
    factor = np.linalg.cholesky(left + precision * np.eye(len(left)))
    found, _ = nnls(factor.T, np.linalg.solve(factor, right + precision * centre))
    total = float(found.sum())
    return found / total if total > 1 else found
