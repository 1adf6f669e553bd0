from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge as SklearnRidge
from sklearn.model_selection import GroupKFold

from skilldelta.estimators.linear_head import choose_head
from skilldelta.estimators.ridge import PENALTIES


def _data(rng: np.random.Generator, n: int = 120, dim: int = 9) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x = rng.normal(size=(n, dim))
    y = x @ rng.normal(size=dim) * 0.2 + 3.0 + rng.normal(size=n)
    return x, y, np.array([f"g{i // 3}" for i in range(n)])


def test_the_chosen_head_is_scikit_learns_ridge_with_the_penalty_of_least_grouped_error(
    rng: np.random.Generator,
) -> None:
    x, y, groups = _data(rng)
    errors = []
    for penalty in PENALTIES:
        error = 0.0
        for fitted, held_out in GroupKFold(5).split(x, y, groups):
            model = SklearnRidge(alpha=penalty).fit(x[fitted], y[fitted])
            error += float(((model.predict(x[held_out]) - y[held_out]) ** 2).sum())
        errors.append(error)
    head = choose_head(x, y, groups, PENALTIES, folds=5)
    expected = SklearnRidge(alpha=PENALTIES[int(np.argmin(errors))]).fit(x, y)
    assert head.penalty == pytest.approx(PENALTIES[int(np.argmin(errors))])
    assert head.coefficients == pytest.approx(expected.coef_, abs=1e-9)
    assert head.intercept == pytest.approx(float(expected.intercept_), abs=1e-9)


def test_the_intercept_is_not_penalised(rng: np.random.Generator) -> None:
    x, y, groups = _data(rng)
    head = choose_head(x, y + 1000.0, groups, (1e9,), folds=5)
    assert head.predict(x).mean() == pytest.approx(float(y.mean()) + 1000.0)


def test_more_dimensions_than_tasks_are_no_trouble(rng: np.random.Generator) -> None:
    x, y, groups = _data(rng, n=20, dim=60)
    head = choose_head(x, y, groups, PENALTIES, folds=5)
    assert np.isfinite(head.predict(x)).all()
