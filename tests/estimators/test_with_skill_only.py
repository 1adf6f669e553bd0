from __future__ import annotations

import numpy as np
import pytest

from skilldelta.estimators.with_skill_only import WithSkillOnly
from skilldelta.predictor import Settings, predict_each

from .panels import random_panel


def test_it_averages_success_with_the_skill_over_exactly_the_papers_neighbours_and_weights(
    rng: np.random.Generator,
) -> None:
    support = random_panel(rng)
    paper = predict_each(support, "family")
    expected = [
        sum(weight * support.y1[row] for row, weight in zip(rows, weights, strict=True) if row >= 0)
        for rows, weights in zip(paper.rows, paper.weights, strict=True)
    ]
    scores = WithSkillOnly().leave_one_out(support)
    assert scores.values == pytest.approx(expected, abs=1e-12)
    assert not scores.is_gain


def test_it_never_averages_signs_even_when_the_paper_rule_does(rng: np.random.Generator) -> None:
    support = random_panel(rng)
    signs = WithSkillOnly(Settings(label="positive")).leave_one_out(support).values
    assert signs == pytest.approx(WithSkillOnly().leave_one_out(support).values)
