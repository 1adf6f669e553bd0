"""What an answer rests on, in words."""

from __future__ import annotations

import pytest

from skilldelta.estimators.base import Score
from skilldelta.estimators.blend.fitted import pulled_to
from skilldelta.gate.basis import basis_of, chance_sentence
from skilldelta.probability import Chance


def test_an_answer_without_any_relation_to_the_text_says_that_it_is_the_same_for_every_task() -> None:
    score = Score(0.1, {"family": 0.2, "zero": 0.0}, {"family": 0.5, "zero": 0.5})
    basis = basis_of(score)
    assert basis is not None
    assert basis.is_same_for_every_task
    assert basis.sentence.startswith("The same for every task of this kind")
    assert "50% the mean of the family" in basis.sentence


def test_near_tasks_have_the_share_that_their_components_have() -> None:
    shares = {"nearest_6": 0.2, "words_25": 0.1, "vector_ridge": 0.3, "family": 0.4}
    basis = basis_of(Score(0.1, dict.fromkeys(shares, 0.1), shares))
    assert basis is not None
    assert (basis.neighbors, basis.trends) == pytest.approx((0.3, 0.3))
    assert not basis.is_same_for_every_task
    assert basis.sentence == (
        "The answer is made of 40% the mean of the family, 30% trends over the tasks' texts, 30% the nearest tasks."
    )


def test_a_skill_with_one_pair_names_the_level_of_the_others() -> None:
    basis = basis_of(Score(0.186, {"family": 0.0, "suite": 0.2}, {"family": 0.07, "suite": 0.93}))
    assert basis is not None
    assert "93% the level of all recorded skills and families (+0.200)" in basis.sentence


def test_an_unlike_task_is_not_said_to_get_the_same_answer_as_all_others() -> None:
    basis = basis_of(Score(0.01, {"family": 0.2, "new_family": 0.0}, {"family": 0.05, "new_family": 0.95}))
    assert basis is not None
    assert not basis.is_same_for_every_task
    assert "95% what tasks of a new kind lead to expect" in basis.sentence


def test_the_papers_rule_is_its_nearest_tasks_and_unknown_components_are_not_explained() -> None:
    paper = basis_of(Score.of_one("paper", 0.3))
    assert paper is not None
    assert paper.neighbors == 1.0
    assert basis_of(Score.of_one("someone_elses", 0.3)) is None
    assert basis_of(Score(0.0)) is None


def test_a_chance_that_is_only_the_base_rate_says_so() -> None:
    usual = Chance(0.3, 0.08)
    assert chance_sentence(Chance(0.301, 0.079), usual).endswith("to change nothing, as everywhere in this bank")
    assert "everywhere" not in chance_sentence(Chance(0.5, 0.08), usual)


def test_a_prior_gain_takes_the_place_of_zero_and_no_more_than_its_share() -> None:
    score = Score(0.1, {"family": 0.2, "zero": 0.0}, {"family": 0.5, "zero": 0.5})
    pulled = pulled_to(score, 0.1)
    assert pulled.gain == pytest.approx(0.15)
    basis = basis_of(pulled)
    assert basis is not None
    assert "50% +0.1, to which a skill with little evidence is pulled" in basis.sentence
    assert pulled_to(score, 0.0) is score
    assert pulled_to(Score.of_one("paper", 0.3), 0.1) == Score.of_one("paper", 0.3)
