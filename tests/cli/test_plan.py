"""`skilldelta plan`, and `collect --next`, which runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Skilldelta

PAIR = {"skill": "s", "agent": "me", "suite": "own", "y0": [0], "y1": [1]}


@pytest.fixture
def suite(skilldelta: Skilldelta, tmp_path: Path) -> Path:
    """Six tasks in two families; none has been run."""
    folder = tmp_path / "own"
    (folder / "skills" / "s").mkdir(parents=True)
    (folder / "skills" / "s" / "SKILL.md").write_text("---\nname: s\ndescription: d\n---\nSay yes.\n")
    (folder / "suite.yaml").write_text("name: own\nskills: skills\ngrader: {type: exact}\n")
    tasks = [
        {"task_id": f"{family}{i}", "text": f"{family} number {i}", "family": family, "skill": "s", "answer": "yes"}
        for family in ("a", "b")
        for i in range(3)
    ]
    (folder / "tasks.jsonl").write_text("\n".join(map(json.dumps, tasks)) + "\n")
    assert skilldelta("suite", "check", folder).code == 0
    return folder


def test_a_suite_without_any_run_is_planned_without_a_bank(skilldelta: Skilldelta, suite: Path, tmp_path: Path) -> None:
    ran = skilldelta("plan", suite, "--budget", 8, "--json")
    assert ran.code == 0
    document = ran.document
    assert document["executions"] == 8
    assert [group["pairs"] for group in document["groups"]] == [0, 0]
    assert {len(group["offers"]) for group in document["groups"]} == {2}
    assert not (tmp_path / "skilldelta.bank").exists()


def test_a_missing_arm_is_completed_and_a_recorded_pair_repeated_last(
    skilldelta: Skilldelta, suite: Path, tmp_path: Path
) -> None:
    pairs = [
        {**PAIR, "task_id": "a0", "text": "a number 0", "family": "a"},
        {**PAIR, "task_id": "a1", "text": "a number 1", "family": "a", "y1": []},
    ]
    (tmp_path / "pairs.jsonl").write_text("\n".join(map(json.dumps, pairs)) + "\n")
    assert skilldelta("import", "pairs.jsonl").code == 0
    groups = {
        group["family"]: group for group in skilldelta("plan", suite, "--budget", 100, "--json").document["groups"]
    }
    kinds = [(offer["kind"], offer["task_id"], offer["conditions"]) for offer in groups["a"]["offers"]]
    assert kinds == [
        ("missing arm", "a1", ["use"]),
        ("new pair", "a2", ["skip", "use"]),
        ("repetition", "a0", ["skip", "use"]),
    ]
    assert groups["b"]["executions"] == 6


def test_the_words_and_the_document_say_the_same(skilldelta: Skilldelta, suite: Path) -> None:
    printed = skilldelta("plan", suite, "--budget", 8).out
    assert "the 8 executions to run next" in printed
    assert "2 new pairs" in printed
    assert "collect" in printed
    assert "not run yet" in printed


def test_next_runs_the_planned_tasks_and_the_arms_they_lack(skilldelta: Skilldelta, suite: Path) -> None:
    command = ("collect", suite, "--command", "echo yes", "--agent", "me", "--concurrency", 1)
    assert skilldelta(*command, "--next", 4, "--json").code == 0
    listed = skilldelta("bank", "status", "--json").document
    assert listed["executions"]["completed"] == 4
    # The next four go to the tasks that are left.
    assert skilldelta(*command, "--next", 8, "--json").code == 0
    assert skilldelta("bank", "status", "--json").document["executions"]["completed"] == 12
    ran = skilldelta(*command, "--next", 2)
    assert ran.code == 2
    assert "nothing is left to run next" in ran.err


def test_an_edited_skill_is_run_again_beside_the_baselines_that_are_there(skilldelta: Skilldelta, suite: Path) -> None:
    command = ("collect", suite, "--command", "echo yes", "--agent", "me", "--concurrency", 1)
    assert skilldelta(*command, "--json").code == 0
    (suite / "skills" / "s" / "SKILL.md").write_text("---\nname: s\ndescription: d\n---\nSay no, then yes.\n")
    groups = skilldelta("plan", suite, "--budget", 6, "--json").document["groups"]
    assert [group["pairs"] for group in groups] == [0, 0]
    assert {(offer["kind"], *offer["conditions"]) for group in groups for offer in group["offers"]} == {
        ("missing arm", "use")
    }
    assert sum(group["executions"] for group in groups) == 6


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--budget", "0"), "--budget"),
        ((), "--budget 60"),
        (("--gain", "0"), "got 0"),
        (("--budget", "5", "--agent", "nobody"), "there is no bank"),
    ],
)
def test_what_cannot_be_planned_is_one_line(skilldelta: Skilldelta, words: tuple[str, ...], told: str) -> None:
    ran = skilldelta("plan", *words)
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert told in ran.err


def test_an_own_choice_of_tasks_beside_next_is_refused(skilldelta: Skilldelta, suite: Path) -> None:
    ran = skilldelta("collect", suite, "--command", "echo yes", "--next", 4, "--task", "a0")
    assert ran.code == 2
    assert "leave out --task" in ran.err


def test_the_tasks_that_show_a_gain_need_no_bank(skilldelta: Skilldelta) -> None:
    needed = skilldelta("plan", "--gain", "0.1", "--json").document["power"]["needed"]
    assert [row["tasks"] for row in needed] == [395, 238, 186, 144]
