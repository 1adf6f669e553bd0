"""The Ridge controls on vectors of another encoder; everything else stays as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from skilldelta.arrays import unit_rows
from skilldelta.evaluation.leave_one_out import evaluate_panels
from skilldelta.paper.paper_tables import paper_tables
from skilldelta.paper.ridge_encoder import RIDGE, with_ridge_of
from skilldelta.records import Agent
from skilldelta.studies import EvaluationSettings, evaluate
from skilldelta.studies.loaded_panel import LoadedPanel
from skilldelta.support import Support


def panel(support: Support) -> LoadedPanel:
    rest: Any = {"pairing": None, "executions": (), "versioned": (), "encoder": None, "judgements": ()}
    return LoadedPanel(Agent(support.agent), support.suite, support, support, skill_texts={}, **rest)


def support(agent: str = "ada") -> Support:
    rng = np.random.default_rng(3)
    n = 60
    vectors = unit_rows(rng.normal(size=(n, 4)))
    return Support.from_arrays(
        task_ids=[f"t{i}" for i in range(n)],
        families=["f"] * n,
        skills=["s"] * n,
        vectors=vectors,
        y0=rng.integers(0, 2, n).astype(float),
        y1=(vectors[:, 0] > 0).astype(float),
        tokens0=np.full(n, 100.0),
        tokens1=rng.uniform(100, 300, n),
        agent=agent,
        suite="toolqa",
        encoder="first",
    )


def other_vectors(one: Support) -> Support:
    """Vectors that say nothing of the gains, where the first ones tell them."""
    vectors = unit_rows(np.random.default_rng(7).normal(size=(len(one), 6)))
    return replace(one, vectors=vectors, encoder="second")


SETTINGS = EvaluationSettings(resamples=20, shuffles=0)


def test_ridge_is_what_it_is_on_the_other_vectors_and_the_rest_is_untouched() -> None:
    here = support()
    evaluated = evaluate([panel(here)], SETTINGS)
    mixed = with_ridge_of(evaluated, [panel(other_vectors(here))])
    alone = evaluate_panels(
        [other_vectors(here)], rng=np.random.default_rng(0), policies=RIDGE, resamples=20, shuffles=0
    ).panels[0]

    before, after = evaluated.results[0].policies, mixed.results[0].policies
    assert list(before) == list(after)
    for name in RIDGE:
        assert after[name].success == alone.policies[name].success
        np.testing.assert_array_equal(after[name].rows, alone.policies[name].rows)
        np.testing.assert_array_equal(before[name].rows, after[name].rows)  # the same test tasks
    assert {name for name in before if before[name] is not after[name]} == set(RIDGE)
    assert before["ridge"].auroc != after["ridge"].auroc
    assert mixed.means.policies["dual_ridge"].metrics["success"].value == pytest.approx(
        alone.policies["dual_ridge"].success
    )


def test_one_agents_ridge_may_differ_and_its_means_are_left_out() -> None:
    first, second = support("ada"), support("bob")
    evaluated = evaluate([panel(first), panel(second)], SETTINGS)
    mixed = with_ridge_of(evaluated, [panel(other_vectors(second))])

    assert mixed.results[0] is not mixed.results[1]
    assert mixed.results[0].policies["ridge"] is evaluated.results[0].policies["ridge"]
    assert mixed.results[1].policies["ridge"] is not evaluated.results[1].policies["ridge"]
    assert not set(RIDGE) & set(mixed.means.policies)
    ridge = next(table for table in paper_tables(mixed, ridge_note="Ridge has other vectors") if table.key == "ridge")
    assert len(ridge.rows) == 2
    assert ridge.note == "Ridge has other vectors"


def test_no_such_panel_changes_nothing() -> None:
    evaluated = evaluate([panel(support())], SETTINGS)
    assert with_ridge_of(evaluated, []) is evaluated
