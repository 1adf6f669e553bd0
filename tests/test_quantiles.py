"""Quantiles that are ours for their import time are SciPy's to nine digits."""

from __future__ import annotations

import itertools

import pytest
from scipy.special import betainc, betaincinv, stdtrit

from skilldelta.quantiles import beta_cdf, beta_quantile, student_quantile

SHAPES = (0.5, 1, 2, 3.5, 7, 12, 40, 300, 5000)
LEVELS = (1e-6, 0.005, 0.025, 0.3, 0.5, 0.8, 0.975, 0.9999)


@pytest.mark.parametrize(("a", "b"), list(itertools.product(SHAPES, SHAPES)))
def test_beta_quantiles_are_scipys(a: float, b: float) -> None:
    for p in LEVELS:
        x = beta_quantile(a, b, p)
        assert x == pytest.approx(betaincinv(a, b, p), rel=1e-9, abs=1e-14)
        assert beta_cdf(a, b, x) == pytest.approx(float(betainc(a, b, x)), rel=1e-9, abs=1e-13)


@pytest.mark.parametrize("freedom", [1, 2.5, 4, 8.75, 30, 411, 10_000])
def test_student_quantiles_are_scipys(freedom: float) -> None:
    for p in (0.005, 0.025, 0.3, 0.5, 0.8, 0.975, 0.9999):
        assert student_quantile(freedom, p) == pytest.approx(float(stdtrit(freedom, p)), rel=1e-9, abs=1e-12)
