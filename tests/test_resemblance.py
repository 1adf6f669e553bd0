"""Familiarity: the share of recorded tasks that are no nearer to their nearest than the target is to its own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skilldelta import load_encoder, open_bank
from skilldelta.arrays import Vectors, unit_rows
from skilldelta.bank.importers import read_source
from skilldelta.demo.bundled import bundled_batch
from skilldelta.resemblance import FEWEST, Familiarity, leave_one_out, nearness
from skilldelta.support import Support


def cloud(rng: np.random.Generator, n: int, *, axis: int = 0) -> Vectors:
    """Tasks around one direction of eight."""
    return unit_rows(np.eye(8)[axis] + 0.3 * rng.normal(size=(n, 8)))


def known(vectors: Vectors) -> Familiarity:
    found = Familiarity.of(vectors)
    assert found is not None
    return found


def test_nearness_is_the_mean_of_the_three_largest_cosines() -> None:
    vectors = unit_rows([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.6, 0.8]])
    assert nearness(vectors, vectors[0]) == pytest.approx((1 + 0.6 + 0) / 3)
    assert nearness(vectors, vectors[0], excluded=np.array([0])) == pytest.approx((0.6 + 0 - 1) / 3)


def test_familiarity_is_a_share_of_the_recorded_tasks_and_falls_on_below_the_lowest() -> None:
    usual = Familiarity(np.array([0.5, 0.6, 0.7]))
    assert [usual.at(value) for value in (0.5, 0.6, 0.65, 0.7, 0.9)] == pytest.approx([0.25, 0.5, 0.625, 0.75, 0.75])
    assert usual.at(0.4) == pytest.approx(0.125)  # the median is twice as familiar as the lowest, 0.1 above it
    assert usual.at(-1.0) < 1e-4


def test_tasks_alike_have_any_familiarity_equally_often_and_others_have_none(rng: np.random.Generator) -> None:
    own, foreign = [], []
    for _ in range(10):
        vectors = cloud(rng, 150)
        usual = known(vectors)
        own += [usual.at(nearness(vectors, task)) for task in cloud(rng, 100)]
        foreign += [usual.at(nearness(vectors, task)) for task in cloud(rng, 20, axis=1)]
    assert np.mean(np.array(own) < 0.05) == pytest.approx(0.05, abs=0.025)
    assert np.median(own) == pytest.approx(0.5, abs=0.05)
    assert np.mean(np.array(foreign) < 0.05) > 0.95  # the clouds of noise overlap a little


def test_too_few_recorded_tasks_say_nothing(rng: np.random.Generator) -> None:
    assert Familiarity.of(cloud(rng, FEWEST - 1)) is None
    assert Familiarity.of(cloud(rng, FEWEST)) is not None
    assert np.isnan(leave_one_out(cloud(rng, FEWEST))).all()
    assert np.isfinite(leave_one_out(cloud(rng, FEWEST + 1))).all()


def test_recorded_tasks_that_are_all_equal_are_familiar_and_anything_else_is_not() -> None:
    same = known(np.repeat(unit_rows([[1.0, 0.0]]), 20, axis=0))
    assert same.at(1.0) > 0.5
    assert same.at(0.9) == pytest.approx(0, abs=1e-9)


def test_leaving_a_task_out_is_asking_about_it_without_it(rng: np.random.Generator) -> None:
    vectors = cloud(rng, 30)
    found = leave_one_out(vectors)
    for task in (0, 7, 29):
        others = np.delete(vectors, task, axis=0)
        assert found[task] == pytest.approx(known(others).at(nearness(others, vectors[task])), abs=1e-5)


def test_a_large_scope_is_sampled_with_a_fixed_seed(rng: np.random.Generator) -> None:
    vectors = cloud(rng, 3000)
    assert len(known(vectors).usual) == 1000
    assert np.array_equal(known(vectors).usual, known(vectors).usual)
    assert known(vectors).at(0.9) == pytest.approx(np.mean(leave_one_out(vectors) <= known(vectors).at(0.9)), abs=0.05)


def flagged(support: Support, false_flags: float) -> tuple[float, float]:
    """The share of tasks flagged under a skill of another family, where this share of own tasks is flagged; and the limit."""
    own, foreign = [], []
    for skill in np.unique(support.skills):
        mine = support.skills == skill
        vectors = support.vectors[mine]
        own.append(leave_one_out(vectors))
        foreign += [known(vectors).at(nearness(vectors, other)) for other in support.vectors[~mine][::7]]
    limit = float(np.quantile(np.concatenate(own), false_flags, method="lower"))
    return float(np.mean(np.array(foreign) <= limit)), limit


def test_demo_tasks_under_a_skill_of_another_family_are_all_flagged(tmp_path: Path) -> None:
    with open_bank(tmp_path / "demo.bank", create=True) as bank:
        bank.add(bundled_batch())
        support = bank.support(load_encoder(), agent=bank.resolve_agent(None))
    found, limit = flagged(support, 0.05)
    assert found == 1.0
    assert limit == pytest.approx(0.05, abs=0.03)  # and so a limit is the share of false flags


@pytest.mark.slow
def test_real_tasks_under_a_skill_of_another_family_are_flagged(shared_data: Path, tmp_path: Path) -> None:
    with open_bank(tmp_path / "bbh.bank", create=True) as bank:
        bank.add(read_source(shared_data / "bbh_cot" / "pairs.jsonl"))
        support = bank.support(load_encoder(), agent=bank.resolve_agent(None))
    found, limit = flagged(support, 0.05)
    assert found >= 0.989  # 98.96%: 99% to the nearest point
    assert limit == pytest.approx(0.05, abs=0.01)
