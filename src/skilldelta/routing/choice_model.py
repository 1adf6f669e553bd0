"""A conditional logit: which of several alternatives a case chooses, from a few features on one common scale.

The weights start from a prior and move as far as the cases ask for. With few cases they stay where the prior has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from skilldelta.arrays import Flags, Floats

# Steps of Newton's method, which usually ends far sooner.
_MOST_STEPS = 50
_TOLERANCE = 1e-7


class Cases(NamedTuple):
    """Cases with their alternatives. A right alternative is on offer, and every case has at least one."""

    features: Floats  # (cases, alternatives, features)
    offered: Flags  # (cases, alternatives)
    right: Flags  # (cases, alternatives) any of these would do
    weights: Floats  # (cases,)


def probabilities(features: Floats, weights: Floats, offered: Flags | None = None) -> Floats:
    """(cases, alternatives) the probability of each alternative; 0 for one that is not on offer."""
    utility = features @ weights
    if offered is not None:
        utility = np.where(offered, utility, -np.inf)
    exponential = np.exp(utility - utility.max(axis=-1, keepdims=True))
    result: Floats = exponential / exponential.sum(axis=-1, keepdims=True)
    return result


def fit_weights(groups: Sequence[Cases], prior: Floats, precision: Floats, *, free: Flags) -> Floats:
    """The weights with the largest posterior.

    Parameters
    ----------
    groups : sequence of Cases
    prior : (features,) where the weights start, and are drawn to.
    precision : (features,) how strongly they are drawn: one over the prior's variance.
    free : (features,) whether a weight may be negative. A nearness that counts against its own skill is noise.
    """
    weights = prior.copy()
    loss = _loss(groups, weights, prior, precision)
    for _ in range(_MOST_STEPS):
        gradient, curvature = _slopes(groups, weights, prior, precision)
        moving = free | (weights > 0) | (gradient < 0)
        if not moving.any() or np.abs(gradient[moving]).max() < _TOLERANCE:
            break
        step = np.zeros_like(weights)
        step[moving] = np.linalg.solve(curvature[np.ix_(moving, moving)], gradient[moving])
        # The curvature is an upper bound, so that a shorter step always improves until rounding error is reached.
        length = 1.0
        while True:
            candidate = weights - length * step
            candidate = np.where(free, candidate, np.maximum(candidate, 0.0))
            improved = _loss(groups, candidate, prior, precision)
            if improved <= loss or length < 1e-6:
                break
            length /= 2
        if loss - improved < _TOLERANCE * 1e-3:
            break
        weights, loss = candidate, improved
    return weights


def _loss(groups: Sequence[Cases], weights: Floats, prior: Floats, precision: Floats) -> float:
    total = 0.5 * float(precision @ (weights - prior) ** 2)
    for cases in groups:
        chosen = probabilities(cases.features, weights, cases.offered)
        right = np.maximum((chosen * cases.right).sum(axis=1), 1e-300)
        total -= float(cases.weights @ np.log(right))
    return total


def _slopes(groups: Sequence[Cases], weights: Floats, prior: Floats, precision: Floats) -> tuple[Floats, Floats]:
    """The gradient of the loss, and the part of its second derivative that is never negative."""
    gradient = precision * (weights - prior)
    curvature = np.diag(precision)
    for features, offered, right, case_weights in groups:
        chosen = probabilities(features, weights, offered)
        among_right = probabilities(features, weights, right)
        expected = np.einsum("ca,caf->cf", chosen, features)
        gradient += case_weights @ (expected - np.einsum("ca,caf->cf", among_right, features))
        rows = features.reshape(-1, features.shape[-1])
        curvature += (rows * (case_weights[:, None] * chosen).reshape(-1, 1)).T @ rows
        curvature -= (expected * case_weights[:, None]).T @ expected
    return gradient, curvature
