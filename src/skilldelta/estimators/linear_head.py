"""A ridge regression with an unpenalised intercept, its penalty chosen by grouped cross-validation on squared error.

One eigendecomposition a fold serves every penalty, so the search costs little more than one fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import GroupKFold

from skilldelta.arrays import Floats, Strings


@dataclass(frozen=True, slots=True)
class LinearHead:
    """Coefficients on the original scale."""

    coefficients: Floats  # (dim,)
    intercept: float
    penalty: float

    def predict(self, x: Floats) -> Floats:
        """(m,) predictions for the rows of `x`."""
        predicted: Floats = x @ self.coefficients + self.intercept
        return predicted


def choose_head(x: Floats, y: Floats, groups: Strings, penalties: Sequence[float], *, folds: int) -> LinearHead:
    """The head with the penalty of least out-of-fold squared error; ties go to the stronger penalty."""
    error = np.zeros(len(penalties))
    for fitted, held_out in GroupKFold(folds).split(x, y, groups):
        path = _fit_path(x[fitted], y[fitted], penalties)
        error += [((head.predict(x[held_out]) - y[held_out]) ** 2).sum() for head in path]
    best = len(penalties) - 1 - int(np.argmin(error[::-1]))
    return _fit_path(x, y, penalties[best : best + 1])[0]


def _fit_path(x: Floats, y: Floats, penalties: Sequence[float]) -> list[LinearHead]:
    """Minimises ||y - b - x w||^2 + penalty ||w||^2 for each penalty."""
    x_mean, y_mean = x.mean(axis=0), float(y.mean())
    centred = x - x_mean
    values, vectors = np.linalg.eigh(centred.T @ centred)
    projected = vectors.T @ (centred.T @ (y - y_mean))
    heads = []
    for penalty in penalties:
        w = vectors @ (projected / (np.maximum(values, 0.0) + penalty))
        heads.append(LinearHead(w, y_mean - float(x_mean @ w), penalty))
    return heads
