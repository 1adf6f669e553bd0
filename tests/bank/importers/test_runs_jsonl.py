"""runs.jsonl: one execution a line."""

from __future__ import annotations

from typing import Any

import pytest

from skilldelta.bank.importers import read_source
from skilldelta.errors import InputError
from skilldelta.records import Agent, Execution, Skill, Task

from .conftest import Write

Row = dict[str, Any]


def test_a_row_becomes_an_execution(write: Write, run: Row) -> None:
    batch = read_source(write([{**run, "agent_fingerprint": "f1"}]))

    assert batch.tasks == (Task("t1", "What is 2 + 3?", "sums", "school"),)
    assert batch.skills == (Skill("adding", "", "d1"),)
    assert batch.executions == (
        Execution(
            Agent("ada", "f1"),
            "school",
            "t1",
            "use",
            0,
            1.0,
            skill_id="adding",
            skill_digest="d1",
            tokens=100.0,
            seconds=1.5,
            cost_usd=0.01,
        ),
    )


def test_a_skip_run_without_a_skill_is_a_baseline_for_all(write: Write, run: Row) -> None:
    skip = {**run, "condition": "skip", "skill": ""}
    batch = read_source(write([run, skip]), skill="another")

    assert [(e.condition, e.skill_id, e.skill_digest) for e in batch.executions] == [
        ("use", "adding", "d1"),
        ("skip", "", ""),
    ]


def test_a_skip_run_with_a_skill_belongs_to_it(write: Write, run: Row) -> None:
    (execution,) = read_source(write([{**run, "condition": "skip"}])).executions

    assert (execution.skill_id, execution.skill_digest) == ("adding", "d1")


@pytest.mark.parametrize("status", ["transport_error", "incomplete", "grader_error"])
def test_a_run_that_was_not_completed_is_kept_without_a_success(write: Write, run: Row, status: str) -> None:
    for success in (0, None):
        (execution,) = read_source(write([{**run, "status": status, "success": success}])).executions
        assert (execution.status, execution.success) == (status, None)


def test_a_completed_run_may_be_ungraded_but_must_say_so(write: Write, run: Row) -> None:
    (execution,) = read_source(write([{**run, "success": None}])).executions
    assert execution.success is None

    del run["success"]
    with pytest.raises(InputError, match=":1: there is no success"):
        read_source(write([run]))


def test_runs_without_a_repetition_are_numbered_in_file_order(write: Write, run: Row) -> None:
    del run["repetition"]
    rows = [run, {**run, "condition": "skip"}, {**run, "success": 0}, {**run, "task_id": "t2"}]
    batch = read_source(write(rows))

    assert [(e.task_id, e.condition, e.repetition) for e in batch.executions] == [
        ("t1", "use", 0),
        ("t1", "skip", 0),
        ("t1", "use", 1),
        ("t2", "use", 0),
    ]


def test_two_outcomes_of_one_repetition_are_refused(write: Write, run: Row) -> None:
    with pytest.raises(InputError, match=r":2: the outcome of task 't1', 'use', repetition 0, stands at line 1"):
        read_source(write([run, {**run, "tokens": 5}]))


def test_a_repetition_may_have_failed_attempts_beside_its_outcome(write: Write, run: Row) -> None:
    failed = {**run, "status": "transport_error", "success": None}
    batch = read_source(write([failed, {**failed, "tokens": 3}, run]))

    assert [e.status for e in batch.executions] == ["transport_error", "transport_error", "completed"]


def test_a_text_may_stand_in_one_of_a_tasks_rows(write: Write, run: Row) -> None:
    bare = {name: value for name, value in run.items() if name not in ("text", "family")}
    batch = read_source(write([{**bare, "repetition": 1}, run, {**bare, "repetition": 2}]))

    assert batch.tasks == (Task("t1", "What is 2 + 3?", "sums", "school"),)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("condition", "maybe", 'condition must be "use" or "skip" .*, got \'maybe\''),
        ("condition", None, 'condition must be "use" or "skip" .*, got None'),
        ("condition", ["use"], 'condition must be "use" or "skip"'),
        ("condition", 2, 'condition must be "use" or "skip"'),
        ("status", "done", "status must be one of completed, .*, got 'done'"),
        ("status", {}, "status must be one of completed"),
        ("repetition", -1, "repetition must be a whole number from 0, got -1"),
        ("repetition", 1.5, "repetition must be a whole number from 0, got 1.5"),
        ("repetition", True, "repetition must be a whole number from 0, got True"),
        ("repetition", "one", "repetition must be a whole number from 0, got 'one'"),
        ("success", 2, r"success must lie in \[0, 1\], got 2"),
        ("success", "perhaps", "success must be a number .*, got 'perhaps'"),
        ("tokens", -5, "tokens must be a finite number of at least 0, got -5"),
        ("seconds", "fast", "seconds must be a finite number"),
        ("cost_usd", float("nan"), "cost_usd must be a finite number"),
        ("agent", 7.5, "agent must be a string, got 7.5"),
    ],
)
def test_a_bad_value_is_refused_with_its_line(write: Write, run: Row, name: str, value: object, said: str) -> None:
    with pytest.raises(InputError, match=f"source:2: {said}"):
        read_source(write([{**run, "task_id": "t0"}, {**run, name: value}]))
