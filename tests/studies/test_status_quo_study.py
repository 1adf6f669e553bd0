"""The gate against the model choosing for itself, read off the listed arm."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skilldelta.bank import Bank
from skilldelta.bank.batch import Batch
from skilldelta.cli.main import run
from skilldelta.gate import Gate
from skilldelta.records import Agent, Execution, Skill, Task
from skilldelta.studies import LoadedPanel, load_panels
from skilldelta.studies.status_quo_study import in_harness, in_harness_words, status_quo, status_quo_words

AGENT = Agent("a", "f")
# Task, success without and with the skill; whether the model loaded it and its success, for each listed run.
ROWS: list[tuple[str, float, float, list[tuple[bool | None, float]]]] = [
    ("t1", 0.0, 1.0, [(True, 1.0), (False, 0.0)]),
    ("t2", 0.0, 1.0, [(False, 0.0)]),
    ("t3", 1.0, 0.0, [(True, 0.0)]),
    ("t4", 1.0, 1.0, [(None, 1.0)]),
    ("t5", 0.0, 1.0, []),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    executions, listed = [], []
    for task, off, on, runs in ROWS:
        executions.append(Execution(AGENT, "s", task, "skip", 0, off))
        executions.append(Execution(AGENT, "s", task, "use", 0, on, "units", "d"))
        for repetition, (loaded, success) in enumerate(runs):
            listed.append(Execution(AGENT, "s", task, "listed", repetition, success, "units", "d", loaded=loaded))
    old = replace(listed[0], skill_digest="older", repetition=9)
    broken = replace(listed[0], repetition=8, success=None, status="incomplete", loaded=None)
    tasks = [Task(task, f"Count the cans of pallet {task}.", "f", "s") for task, *_ in ROWS]
    with Bank.open(tmp_path / "b.bank", create=True) as bank:
        bank.add(Batch(skills=[Skill("units", "", "older")]))
        bank.add(Batch(tasks, [Skill("units", "", "d")], executions, listed=[*listed, old, broken]))
    return tmp_path / "b.bank"


@pytest.fixture
def panel(path: Path) -> LoadedPanel:
    with Bank.open(path, readonly=True) as bank:
        (panel,) = load_panels(bank)
    return panel


def test_loads_are_counted_by_what_the_skill_does_on_the_task(panel: LoadedPanel) -> None:
    measured = status_quo(panel)
    assert measured is not None
    helpful, harmful, otherwise = (
        measured.loaded_when_helpful,
        measured.loaded_when_harmful,
        measured.loaded_otherwise,
    )
    assert [(share.count, share.of) for share in (helpful, harmful, otherwise)] == [(1, 3), (1, 1), (0, 0)]
    assert (measured.tasks, measured.runs, measured.unknown_loads, measured.other_version) == (4, 5, 1, 1)


def test_listing_and_loading_are_each_compared_with_no_skill(panel: LoadedPanel) -> None:
    measured = status_quo(panel)
    assert measured is not None
    assert (measured.off, measured.on, measured.listed) == (0.5, 0.75, 0.375)
    assert measured.offered.mean == pytest.approx((0.5 + 0 - 1 + 0) / 4)
    assert measured.loaded.mean == pytest.approx((1 - 1) / 2)
    assert measured.loaded.tasks == 2
    words = " ".join(status_quo_words(measured))
    assert "1 of 3 runs where it helps, 1 of 1 runs where it harms; of 1 run nobody knows" in words
    assert "1 run of another version" in words


def test_hands_off_is_worth_what_the_listed_arm_shows_and_else_lies_between_two_bounds(panel: LoadedPanel) -> None:
    uses = np.array([True, False, False, False, False])
    measured = in_harness(panel, Gate(), uses)
    # t1 is used (1), t2 to t4 are as listed (0, 0, 1), t5 has no listed run: between 0 and 1.
    assert [measured.as_off, measured.as_on] == pytest.approx([2 / 5, 3 / 5])
    assert measured.gate == pytest.approx(2 / 4)
    assert measured.gate_vs_listed is not None
    assert measured.gate_vs_listed.mean == pytest.approx(0.5 - 0.375)
    assert (measured.used.count, measured.denied.count, measured.hands_off.count) == (1, 0, 4)


def test_without_a_listed_arm_there_are_bounds_only(panel: LoadedPanel) -> None:
    bare = replace(panel, listed=())
    assert status_quo(bare) is None
    measured = in_harness(bare, Gate(), np.array([True, False, False, False, False]))
    assert (measured.status_quo, measured.gate, measured.gate_vs_listed) == (None, None, None)
    assert [measured.as_off, measured.as_on] == pytest.approx([3 / 5, 4 / 5])
    assert "collect --listed measures which" in in_harness_words(measured)[0]


def test_evaluate_skills_and_report_show_it_where_it_was_collected(
    path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bank = ["--bank", str(path), "--resamples", "200"]
    assert run(["evaluate", *bank, "--shuffles", "0"]) == 0
    assert "the harness lists the skill and the model chooses (4 tasks, 5 runs)" in " ".join(
        capsys.readouterr().out.split()
    )
    assert run(["evaluate", *bank, "--shuffles", "0", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)["panels"][0]["in_harness"]
    assert document["status_quo"]["loaded_when_helpful"]["rate"] == pytest.approx(1 / 3)
    assert run(["skills", *bank, "--json"]) == 0
    (skill,) = json.loads(capsys.readouterr().out)["panels"][0]["skills"]
    assert skill["listed"]["listed"] == 0.375
    assert run(["report", *bank, "--output", str(tmp_path / "r.html")]) == 0
    assert "The harness lists the skill and the model chooses (4 tasks, 5 runs)" in (tmp_path / "r.html").read_text()
