"""Pairing: what is missing, failed or complete is said here and nowhere else."""

from __future__ import annotations

import pytest

from skilldelta.pairing import Pairing, is_counted, pair_executions
from skilldelta.records import Agent, Execution

AGENT = Agent("m", "1")


def run(task: str, condition: str, success: float | None, **fields: object) -> Execution:
    if condition == "use":
        fields.setdefault("skill_id", "s")
    values: dict[str, object] = {"agent": AGENT, "suite": "u", "repetition": 0} | fields
    return Execution(task_id=task, condition=condition, success=success, **values)  # type: ignore[arg-type]


def pair(*executions: Execution, **options: object) -> Pairing:
    return pair_executions(executions, families={("u", "a"): "f"}, **options)  # type: ignore[arg-type]


def test_a_pair_averages_each_arm_over_its_own_repetitions() -> None:
    found = pair(run("a", "skip", 0.0), run("a", "use", 1.0), run("a", "use", 0.0), run("a", "use", 1.0))
    (one,) = found.pairs
    assert (one.y0, one.y1, one.r0, one.r1) == pytest.approx((0.0, 2 / 3, 1, 3))
    assert one.gain == pytest.approx(2 / 3)
    assert one.family == "f"
    assert not found.unpaired


def test_a_completed_failure_counts_and_an_uncompleted_run_does_not() -> None:
    found = pair(
        run("a", "skip", 0.0),
        run("a", "use", 0.0),
        run("a", "use", None, status="transport_error"),
        run("a", "use", 1.0, status="incomplete"),
        run("a", "use", None, status="grader_error"),
        run("a", "use", None),
    )
    (one,) = found.pairs
    assert (one.y1, one.r1) == (0.0, 1)
    assert found.uncounted == {"transport_error": 1, "incomplete": 1, "grader_error": 1, "ungraded": 1}


@pytest.mark.parametrize(
    ("executions", "missing"),
    [
        ([run("a", "skip", 1.0)], "use"),
        ([run("a", "use", 1.0)], "skip"),
        ([run("a", "use", None, status="incomplete"), run("a", "skip", None, status="transport_error")], "both"),
    ],
)
def test_a_task_without_both_arms_is_named_with_what_it_lacks(executions: list[Execution], missing: str) -> None:
    found = pair(*executions)
    assert found.pairs == ()
    assert [(one.task_id, one.missing) for one in found.unpaired] == [("a", missing)]


def test_agents_and_suites_are_never_pooled() -> None:
    other = Agent("m", "2")
    found = pair(
        run("a", "skip", 0.0), run("a", "use", 1.0, agent=other), run("a", "skip", 1.0, suite="v"), run("a", "use", 0.0)
    )
    assert [(one.agent, one.suite, one.gain) for one in found.pairs] == [(AGENT, "u", 0.0)]
    assert {(one.agent, one.suite, one.missing) for one in found.unpaired} == {
        (other, "u", "skip"),
        (AGENT, "v", "use"),
    }


def test_a_shared_baseline_serves_every_skill_and_an_own_one_its_skill_alone() -> None:
    found = pair(
        run("a", "skip", 0.0),
        run("a", "use", 1.0, skill_id="s"),
        run("a", "use", 1.0, skill_id="t"),
        run("a", "skip", 1.0, skill_id="t"),
    )
    assert {one.skill_id: one.gain for one in found.pairs} == {"s": 1.0, "t": 0.0}


def test_versions_of_a_skill_form_pairs_of_their_own_and_old_ones_are_stale() -> None:
    runs = [
        run("a", "skip", 0.0),
        run("a", "use", 1.0, skill_digest="old"),
        run("a", "use", 0.0, skill_digest="new"),
    ]
    found = pair(*runs, current_digests={"s": "new"})
    assert [one.skill_digest for one in found.pairs] == ["new"]
    assert [one.skill_digest for one in found.stale] == ["old"]
    asked = pair(*runs, current_digests={"s": "new"}, include_stale=True)
    assert {one.skill_digest for one in asked.pairs} == {"new", "old"}
    assert asked.stale == ()


def test_tokens_are_unknown_unless_every_counted_run_reported_them() -> None:
    found = pair(
        run("a", "skip", 0.0, tokens=10.0),
        run("a", "skip", 1.0, tokens=20.0),
        run("a", "use", 0.0, tokens=30.0),
        run("a", "use", 1.0),
    )
    (one,) = found.pairs
    assert one.tokens0 == 15.0
    assert one.tokens1 is None


def test_pairs_stand_in_the_order_in_which_tasks_first_appear() -> None:
    found = pair(run("b", "use", 1.0), run("a", "skip", 0.0), run("a", "use", 1.0), run("b", "skip", 1.0))
    assert [one.task_id for one in found.pairs] == ["b", "a"]


def test_partial_success_is_kept_as_it_is() -> None:
    (one,) = pair(run("a", "skip", 0.25), run("a", "use", 0.75)).pairs
    assert one.gain == 0.5


def test_an_execution_counts_when_completed_and_graded() -> None:
    assert is_counted(run("a", "skip", 0.0))
    assert not is_counted(run("a", "skip", None))
    assert not is_counted(run("a", "skip", 1.0, status="incomplete"))
