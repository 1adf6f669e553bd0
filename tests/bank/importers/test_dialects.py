"""Every dialect of a skill workspace gives the runs that were written: the tasks, arms, texts, tokens and outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from skilldelta.bank.importers import Defaults, Reading, read_any

from .dialects import DIALECTS, Dialect, TrueRun
from .layouts import write_tree

ME = Defaults(agent="me", skill="adding")
RUNS = [
    TrueRun(3, "carry-the-one", "Add 17 and 25.", True, (True, True, False), 0, 5120, 31.5),
    TrueRun(3, "carry-the-one", "Add 17 and 25.", False, (True, False, False), 0, 4100, 22.25),
    TrueRun(8, "control-plane-sum", "Sum the control plane.", True, (True,), 0, 6120, 41.5),
    TrueRun(8, "control-plane-sum", "Sum the control plane.", False, (True,), 0, 3900, 20.0),
    TrueRun(9, "with-borrowing", "Subtract 8 from 21.", True, (False, True), 0, 5721, 30.25),
    TrueRun(9, "with-borrowing", "Subtract 8 from 21.", False, (True, True), 0, 4444, 21.0),
]
REPEATED = [
    *RUNS,
    TrueRun(3, "carry-the-one", "Add 17 and 25.", True, (True, True, True), 1, 5300, 35.0),
    TrueRun(9, "with-borrowing", "Subtract 8 from 21.", False, (False, True), 1, 4321, 19.5),
]


def found(reading: Reading) -> Counter[tuple[str, str, float, float | None]]:
    """Every run: the words of its task, its arm, its outcome, its tokens."""
    texts = {(task.suite, task.task_id): task.text for task in reading.tasks}
    return Counter(
        (texts[run.suite, run.task_id], run.condition, round(run.success or 0.0, 6), run.tokens)
        for run in reading.executions
    )


def written(runs: Sequence[TrueRun], dialect: Dialect) -> Counter[tuple[str, str, float, float | None]]:
    """The same, of the runs that were written."""
    return Counter(
        (
            run.prompt if dialect.has_prompts else run.name,
            "use" if run.uses_skill else "skip",
            round(run.outcome, 6),
            float(run.tokens) if dialect.has_tokens else None,
        )
        for run in runs
    )


@pytest.mark.parametrize("name", DIALECTS)
def test_a_dialect_gives_the_runs_that_were_written(name: str, tmp_path: Path) -> None:
    dialect = DIALECTS[name]
    write_tree(tmp_path, dialect.write("adding-workspace/iteration-2", RUNS))
    reading = read_any(tmp_path, ME)

    assert found(reading) == written(RUNS, dialect)
    assert {run.skill_id for run in reading.executions if run.condition == "use"} == {"adding"}
    assert len(reading.pairing().pairs) == 3


@pytest.mark.parametrize("name", [name for name, dialect in DIALECTS.items() if dialect.has_repeats])
def test_a_dialect_with_repetitions_gives_each_of_them(name: str, tmp_path: Path) -> None:
    dialect = DIALECTS[name]
    write_tree(tmp_path, dialect.write("adding-workspace/iteration-2", REPEATED))
    assert found(read_any(tmp_path, ME)) == written(REPEATED, dialect)


def graded(*marks: bool) -> dict[str, object]:
    return {"expectations": [{"text": f"check {at}", "passed": mark} for at, mark in enumerate(marks)]}


def test_evaluations_of_a_benchmark_without_names_are_told_apart_by_their_ids_and_skills(tmp_path: Path) -> None:
    runs = [
        {"skill": skill, "eval_id": eval_id, "configuration": arm, "result": {"passed": passed, "total": 2}}
        for skill in ("adding", "naming")
        for eval_id in (1, 2)
        for arm, passed in (("with_skill", 2), ("without_skill", 1))
    ]
    reading = read_any(write_tree(tmp_path, {"benchmark.json": {"runs": runs}}), Defaults(agent="me"))
    assert sorted((task.suite, task.task_id) for task in reading.tasks) == [
        (skill, f"eval-{number}") for skill in ("adding", "naming") for number in (1, 2)
    ]
    assert len(reading.pairing().pairs) == 4


def test_folders_of_models_are_agents_and_never_repetitions(tmp_path: Path) -> None:
    files = {
        f"adding-workspace/{model}/eval-1/{arm}/grading.json": graded(arm == "with_skill", model == "opus")
        for model in ("opus", "sonnet")
        for arm in ("with_skill", "without_skill")
    }
    reading = read_any(write_tree(tmp_path, files), Defaults(skill="adding"))
    assert [(pair.agent.name, pair.y0, pair.y1, pair.r1) for pair in reading.pairing().pairs] == [
        ("opus", 0.5, 1.0, 1),
        ("sonnet", 0.0, 0.5, 1),
    ]


def test_a_file_that_contradicts_its_folder_is_left_out_with_both_readings(tmp_path: Path) -> None:
    files = {
        "adding-workspace/sum/with_skill/grading.json": {**graded(True), "configuration": "without_skill"},
        "adding-workspace/sum/without_skill/grading.json": graded(False),
    }
    reading = read_any(write_tree(tmp_path, files), ME)
    assert [run.condition for run in reading.executions] == ["skip"]
    assert [omission.reason for omission in reading.left_out] == [
        "it is not clear which arm it is (configuration: 'without_skill' in the file, but the folder 'with_skill')"
    ]


def test_a_run_whose_skill_failed_to_load_is_no_run_with_it(tmp_path: Path) -> None:
    files = {
        "adding-workspace/sum/with_skill/grading.json": {**graded(True), "notes": "The skill failed to load."},
        "adding-workspace/sum/without_skill/grading.json": graded(False),
    }
    reading = read_any(write_tree(tmp_path, files), ME)
    assert [run.condition for run in reading.executions] == ["skip"]
    assert "its skill was not there" in reading.left_out[0].reason


def test_a_benchmark_beside_gradings_never_adds_their_runs_again(tmp_path: Path) -> None:
    files: dict[str, object] = {
        f"adding-workspace/iteration-1/eval-{name}/{arm}/grading.json": graded(arm == "with_skill", True)
        for name in ("sum", "carry")
        for arm in ("with_skill", "without_skill")
    }
    rows = [
        {"eval_name": name, "configuration": arm, "result": {"passed": 0, "total": 2}}
        for name in ("sum", "Carry", "of another day")
        for arm in ("with_skill", "without_skill")
    ]
    files["adding-workspace/iteration-1/benchmark.json"] = {"metadata": {"skill_name": "adding"}, "runs": rows}
    reading = read_any(write_tree(tmp_path, files), ME)
    assert len(reading.executions) == 4
    assert sum(len(omission) for omission in reading.left_out) == 6
