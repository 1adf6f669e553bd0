"""Executions of the third arm: the harness listed the skill, and the model chose. They are never part of a pair."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from skilldelta.bank import Bank
from skilldelta.bank.batch import Batch
from skilldelta.bank.export import export_runs
from skilldelta.cli.main import run
from skilldelta.errors import InputError
from skilldelta.records import Agent, Execution, Skill, Task

AGENT = Agent("a", "f")
TASK = Task("t1", "How many cans are in 6 crates?", "units", "s")
SKIP = Execution(AGENT, "s", "t1", "skip", 0, 0.0)
USE = Execution(AGENT, "s", "t1", "use", 0, 1.0, "units", "d1")
LISTED = Execution(AGENT, "s", "t1", "listed", 0, 1.0, "units", "d1", tokens=10, loaded=True)
BATCH = Batch(tasks=[TASK], skills=[Skill("units", "", "d1")], executions=[SKIP, USE], listed=[LISTED])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with Bank.open(tmp_path / "b.bank", create=True) as bank:
        assert bank.add(BATCH).executions == 3
    return tmp_path / "b.bank"


def test_they_are_kept_beside_the_pairs_and_no_reader_of_pairs_meets_them(path: Path) -> None:
    with Bank.open(path) as bank:
        assert bank.listed() == [LISTED]
        assert bank.listed(agent=AGENT, suite="s", skill_id="units") == [LISTED]
        assert bank.listed(agent=Agent("b")) == bank.listed(suite="x") == bank.listed(skill_id="x") == []
        assert list(bank.executions()) == [SKIP, USE]
        (pair,) = bank.pairing(agent=AGENT).pairs
        assert (pair.gain, pair.r1) == (1.0, 1)
        assert bank.status().listed == 1
        assert bank.verify() == []


def test_an_execution_of_another_arm_is_refused_in_either_place(path: Path) -> None:
    with Bank.open(path) as bank:
        with pytest.raises(InputError, match="condition must be use or skip, got 'listed'"):
            bank.add(Batch(executions=[LISTED]))
        with pytest.raises(InputError, match="condition must be listed, got 'use'"):
            bank.add(Batch(listed=[USE]))


def test_the_same_one_counts_once_and_a_contradiction_is_refused(path: Path) -> None:
    with Bank.open(path) as bank:
        revision = bank.panel_revision(AGENT, "s")
        assert bank.add(BATCH).unchanged == 5
        assert bank.panel_revision(AGENT, "s") == revision
        with pytest.raises(InputError, match="known with another outcome"):
            bank.add(Batch(listed=[replace(LISTED, loaded=False)]))
        failed = replace(LISTED, repetition=1, success=None, status="transport_error", loaded=None)
        bank.add(Batch(listed=[failed]))
        bank.add(Batch(listed=[replace(LISTED, repetition=1)]))
        assert [run.status for run in bank.listed()] == ["completed", "transport_error", "completed"]
        assert bank.panel_revision(AGENT, "s") != revision


def test_they_go_with_their_skill_and_keep_what_they_refer_to(path: Path) -> None:
    with Bank.open(path) as bank:
        bank.add(Batch(tasks=[Task("t2", "Another one.", "", "s")], listed=[replace(LISTED, task_id="t2")]))
        assert bank.forget(suite="s", task_id="t1").executions == 3
        assert [task.task_id for task in bank.tasks()] == ["t2"]
        assert bank.forget(skill_id="units").executions == 1
        assert (bank.listed(), bank.tasks(), bank.skills(), bank.agents()) == ([], [], [], [])


def test_a_file_of_runs_holds_them_and_gives_the_same_bank(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, copy = tmp_path / "runs.jsonl", tmp_path / "copy.bank"
    with Bank.open(path) as bank:
        assert export_runs(bank, file) == 3
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line.get("loaded") for line in lines] == [None, None, True]
    assert run(["import", str(file), "--bank", str(copy)]) == 0
    assert "1 execution in which the harness listed the skill: kept beside the pairs" in " ".join(
        "".join(capsys.readouterr()).split()
    )
    with Bank.open(copy) as bank:
        assert bank.listed() == [LISTED]
        assert list(bank.executions()) == [SKIP, USE]


def test_what_is_no_truth_value_is_refused_by_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"task_id": "t1", "text": "x y", "skill": "units", "agent": "a", "condition": "listed", "success": 1}
    (tmp_path / "r.jsonl").write_text(json.dumps({**row, "loaded": "often"}) + "\n")
    assert run(["import", str(tmp_path / "r.jsonl"), "--bank", str(tmp_path / "b.bank")]) == 2
    assert "loaded must be true or false" in capsys.readouterr().err
