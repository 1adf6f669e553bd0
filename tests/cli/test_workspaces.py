"""A workspace at the command line: explained, judged on one screen, compared by version, without a bank or an agent's name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .conftest import Skilldelta


def grading(*marks: bool) -> dict[str, Any]:
    return {"expectations": [{"id": f"check {'abcdef'[at]}", "passed": mark} for at, mark in enumerate(marks)]}


def write(root: Path, iteration: str, task: str, arm: str, *marks: bool, started: str = "", tokens: int = 0) -> None:
    import json

    folder = root / iteration / task / arm
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "grading.json").write_text(json.dumps(grading(*marks)), encoding="utf-8")
    timing: dict[str, Any] = {"started_at": started} if started else {}
    if tokens:
        timing |= {"total_tokens": tokens, "duration_ms": 10 * tokens}
    (folder / "timing.json").write_text(json.dumps(timing), encoding="utf-8")
    metadata = {"eval_name": task, "prompt": f"Please do {task}."}
    (root / iteration / task / "eval_metadata.json").write_text(json.dumps(metadata), encoding="utf-8")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """Two versions: the first on two tasks, the second, a day later, on one of them; baselines in the first only."""
    root = tmp_path / "adding-workspace"
    first, second = "2026-05-01T10:00:00Z", "2026-05-02T10:00:00Z"
    write(root, "iteration-9", "sum", "with_skill", True, False, started=first, tokens=100)
    write(root, "iteration-9", "sum", "without_skill", False, False, started=first, tokens=80)
    write(root, "iteration-9", "carry", "with_skill", True, True, started=first, tokens=110)
    write(root, "iteration-9", "carry", "without_skill", True, True, started=first, tokens=90)
    write(root, "iteration-10", "sum", "with_skill", True, True, started=second, tokens=120)
    return root


def test_an_explanation_shows_tasks_arms_and_versions_and_imports_nothing(
    skilldelta: Skilldelta, workspace: Path
) -> None:
    (workspace / "iteration-10" / "broken_grading.json").write_text('{"expectations": [', encoding="utf-8")
    ran = skilldelta("import", workspace, "--explain", "--bank", "new.bank", "--json")

    assert ran.code == 0
    assert not Path("new.bank").exists()
    (source,) = ran.document["sources"]
    assert [
        (row["version"], row["tasks"], row["with_skill"], row["without_skill"]) for row in source["understood"]
    ] == [
        ("iteration-9", 2, 2, 2),
        ("iteration-10", 1, 1, 1),
    ]
    assert source["missing"] == ["--agent NAME"]
    assert source["next"].endswith("--agent NAME")
    assert source["left_out"] == [
        {
            "reason": "the file is damaged: not valid JSON (line 1, column 19: Expecting value); the file seems cut off",
            "places": ["iteration-10/broken_grading.json"],
        }
    ]


def test_skills_of_a_path_answer_on_one_screen_without_a_bank(skilldelta: Skilldelta, workspace: Path) -> None:
    ran = skilldelta("skills", workspace)

    assert ran.code == 0
    assert "adding: not enough evidence" in ran.out
    assert "gain +50.0 points" in ran.out
    assert "1 helped, 0 harmed; 1.35× the tokens" in ran.out
    assert "next: skilldelta" in ran.out
    assert not Path("skilldelta.bank").exists()


def test_a_task_that_the_newest_version_was_not_run_on_is_carried_over_and_marked(
    skilldelta: Skilldelta, workspace: Path
) -> None:
    ran = skilldelta("compare", workspace, "--json")

    tasks = {row["task_id"]: (row["a"], row["b"]) for row in ran.document["per_task"]}
    assert tasks == {"sum": (0.0, 1.0), "carry": (1.0, 1.0)}
    assert "1 task was not run with the newest version of adding; the runs of iteration-9 stand in for it" in ran.err
    one = skilldelta("compare", workspace, "--skill", "adding@iteration-9", "--json")
    assert {row["task_id"]: row["b"] for row in one.document["per_task"]} == {"sum": 0.5, "carry": 1.0}


def test_a_history_has_the_gain_of_every_version_in_the_order_of_recorded_times(
    skilldelta: Skilldelta, workspace: Path
) -> None:
    versions = skilldelta("history", workspace, "--json").document["versions"]
    assert [(row["version"], row["gain"], row["tasks"], row["newest"]) for row in versions] == [
        ("iteration-9", 0.25, 2, False),
        ("iteration-10", 1.0, 1, True),
    ]
    assert versions[1]["change"]["mean"] == 0.5

    skilldelta("import", workspace, "--agent", "me", "--bank", "new.bank")
    stored = skilldelta("history", "adding", "--bank", "new.bank", "--json").document["versions"]
    assert [(row["version"], row["gain"]) for row in stored] == [("iteration-9", 0.25), ("iteration-10", 1.0)]


def test_where_no_time_says_which_version_is_the_newest_it_is_asked(skilldelta: Skilldelta, workspace: Path) -> None:
    for path in workspace.rglob("timing.json"):
        path.unlink()
    asked = skilldelta("compare", workspace)
    assert asked.code == 2
    assert (
        "no recorded time says which is the newest (iteration-9, iteration-10); say --newest iteration-10" in asked.err
    )

    shown = skilldelta("skills", workspace)
    assert shown.code == 0
    assert "No recorded time says which version is the newest" in shown.out
    told = skilldelta("compare", workspace, "--newest", "iteration-9", "--json")
    assert {row["task_id"]: row["b"] for row in told.document["per_task"]} == {"sum": 0.5, "carry": 1.0}


def test_every_command_that_reads_files_takes_the_arms_that_it_asks_for(
    skilldelta: Skilldelta, workspace: Path
) -> None:
    for path in sorted(workspace.rglob("with*_skill")):
        path.rename(path.with_name({"with_skill": "guided", "without_skill": "stock"}[path.name]))
    for command in ("compare", "check", "skills", "import"):
        asked = skilldelta(command, workspace)
        assert asked.code == 2, command
        assert "--arm guided=use|skip|leave-out" in asked.err, command
        told = skilldelta(command, workspace, "--arm", "guided=use", "--arm", "stock=skip", "--agent", "me")
        assert told.code == 0, (command, told.err)


def test_a_mapping_beside_the_results_is_found_by_itself(skilldelta: Skilldelta, workspace: Path) -> None:
    for path in sorted(workspace.rglob("with*_skill")):
        path.rename(path.with_name({"with_skill": "guided", "without_skill": "stock"}[path.name]))
    mapping = workspace / "skilldelta-mapping.yaml"
    mapping.write_text("arms: {guided: use, stock: skip}\n", encoding="utf-8")
    ran = skilldelta("compare", workspace, "--json")
    assert ran.code == 0
    assert ran.document["tasks"] == 2
    assert "skilldelta-mapping.yaml, which lies beside the results" in ran.err


def test_a_check_holds_the_newest_version_against_the_one_before(skilldelta: Skilldelta, workspace: Path) -> None:
    ran = skilldelta("check", workspace, "--since-baseline", "previous", "--json")
    assert ran.code == 0
    (skill,) = ran.document["skills"]
    change = next(check for check in skill["checks"] if check["rule"] == "baseline")
    assert (change["value"], change["tasks"]) == (0.25, 2)  # sum from 0.5 to 1, carry is carried over
    assert "so few can neither pass nor fail at 95%" in change["sentence"]


def test_a_result_of_an_earlier_check_is_gone_when_a_check_ends_in_an_error(
    skilldelta: Skilldelta, tmp_path: Path
) -> None:
    stale = tmp_path / "check.json"
    stale.write_text("{}", encoding="utf-8")
    assert skilldelta("check", tmp_path / "nothing.jsonl", "--output", stale).code == 2
    assert not stale.exists()
