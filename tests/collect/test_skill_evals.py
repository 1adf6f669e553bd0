"""A skill folder with evals/evals.json is a suite as it is: collected in both arms, graded by its expectations."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from collect.endpoint import serving
from skilldelta.bank import Bank
from skilldelta.cli.main import run
from skilldelta.collect.arms import Message
from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.graders import GraderTools, make_graders
from skilldelta.collect.skill_evals import is_skill_with_evals, write_suite_of_skill
from skilldelta.collect.suite import load_suite
from skilldelta.errors import InputError

needs_bwrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
BODY = "Sign every letter with a heron."


def write_skill(folder: Path, evals: Any = None) -> Path:
    skill = folder / "letters"
    (skill / "evals" / "files").mkdir(parents=True)
    (skill / "SKILL.md").write_text(f"---\nname: letters\ndescription: How to write letters.\n---\n\n{BODY}\n")
    (skill / "evals" / "files" / "names.csv").write_text("Ada\n")
    default = [
        {
            "id": 1,
            "prompt": "Write to Ada.",
            "expected_output": "A letter",
            "expectations": ["It is signed with a heron"],
        },
        {
            "id": 2,
            "prompt": "Write to Bo.",
            "assertions": [{"text": "It names Bo"}],
            "files": ["evals/files/names.csv"],
        },
        {"id": 3, "prompt": "Say hello.", "expected_output": "hello"},
    ]
    document = {"skill_name": "letters", "evals": default if evals is None else evals}
    (skill / "evals" / "evals.json").write_text(json.dumps(document))
    return skill


def judging(*replies: str) -> tuple[GraderTools, list[str]]:
    asked: list[str] = []
    left = list(replies)

    async def ask(name: str, messages: list[Message]) -> str:
        asked.append(messages[0].content)
        return left.pop(0)

    return GraderTools(judge=ask), asked


def test_the_evals_become_an_editable_suite(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    skill, folder = write_skill(tmp_path), tmp_path / "suite"
    assert run(["suite", "init", "--from-skill", str(skill), str(folder)]) == 0
    assert "tasks.jsonl" in capsys.readouterr().out
    suite = load_suite(folder)
    assert [task.task_id for task in suite.tasks] == ["1", "2", "3"]
    assert [task.answer for task in suite.tasks] == [["It is signed with a heron"], ["It names Bo"], "hello"]
    assert suite.tasks[2].grader == {"type": "judge"}
    assert suite.skills["letters"].text == BODY
    files = suite.tasks[1].files
    assert files is not None
    assert (files / "names.csv").read_text() == "Ada\n"


def test_a_skill_is_collected_as_it_is_in_both_arms(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, [{"id": 1, "prompt": "Write to Ada.", "expectations": ["It is signed with a heron"]}])

    def answer(request: dict[str, Any]) -> str:
        text = "\n".join(message["content"] for message in request["messages"])
        if "You check one expectation" in text:
            return "MET" if "(heron)" in text else "UNMET"
        return "Dear Ada (heron)" if BODY in text else "Dear Ada"

    with serving(answer) as endpoint:
        options = ["--base-url", endpoint.url, "--model", "m", "--bank", str(tmp_path / "b.bank")]
        judge = ["--judge-model", "j", "--judge-base-url", endpoint.url]
        assert run(["collect", str(skill), *options, *judge]) == 0
        assert run(["collect", str(skill), *options, *judge]) == 0
        assert len(endpoint.bodies) == 4, "two arms and their judgements, once"
    with Bank.open(tmp_path / "b.bank", create=False) as bank:
        assert {one.condition: one.success for one in bank.executions()} == {"use": 1.0, "skip": 0.0}
        assert [task.suite for task in bank.tasks()] == ["letters-evals"]


@pytest.mark.parametrize(
    ("success", "replies", "expected"),
    [("all", ("MET", "UNMET"), 0.0), ("all", ("met", "MET."), 1.0), ("share", ("MET", "UNMET"), 0.5)],
)
def test_expectations_count_all_or_as_a_share(tmp_path: Path, success: str, replies: Any, expected: float) -> None:
    skill = write_skill(tmp_path, [{"prompt": "Write.", "expectations": ["one", "two"]}])
    write_suite_of_skill(skill, tmp_path / "suite")
    settings = tmp_path / "suite" / "suite.yaml"
    settings.write_text(settings.read_text().replace("type: expectations", f"type: expectations\n  success: {success}"))
    suite = load_suite(tmp_path / "suite")
    tools, _ = judging(*replies)
    assert asyncio.run(make_graders(suite, tools)["0"].grade("x", suite.tasks[0], None)) == expected


def test_the_judge_sees_the_files_that_the_agent_left_and_follows_no_link(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, [{"prompt": "Write.", "expectations": ["a file says so"]}])
    write_suite_of_skill(skill, tmp_path / "suite")
    suite, work, outside = load_suite(tmp_path / "suite"), tmp_path / "work", tmp_path / "outside"
    work.mkdir()
    outside.mkdir()
    (outside / "secret.txt").write_text("SECRET")
    (work / "letter.md").write_text("signed: heron")
    (work / "big.txt").write_text("x" * 100_000)
    (work / "link.txt").symlink_to(outside / "secret.txt")
    (work / "folder").symlink_to(outside)
    if hasattr(os, "mkfifo"):
        os.mkfifo(work / "pipe")
    tools, asked = judging("MET")
    assert asyncio.run(make_graders(suite, tools)["0"].grade("done", suite.tasks[0], work)) == 1.0
    assert "signed: heron" in asked[0]
    assert "SECRET" not in asked[0]
    assert len(asked[0]) < 12_000


def test_an_unclear_judgement_is_a_grader_error(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, [{"prompt": "Write.", "expectations": ["one"]}])
    write_suite_of_skill(skill, tmp_path / "suite")
    suite = load_suite(tmp_path / "suite")
    tools, _ = judging("MET and UNMET")
    with pytest.raises(GraderError, match="no clear label"):
        asyncio.run(make_graders(suite, tools)["0"].grade("x", suite.tasks[0], None))


@needs_bwrap
def test_an_expectation_may_be_a_command(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, [{"prompt": "Write.", "expectations": [{"run": "grep -q heron answer.txt"}]}])
    write_suite_of_skill(skill, tmp_path / "suite")
    suite = load_suite(tmp_path / "suite")
    grader = make_graders(suite, GraderTools())["0"]
    assert asyncio.run(grader.grade("with a heron", suite.tasks[0], None)) == 1.0
    assert asyncio.run(grader.grade("without", suite.tasks[0], None)) == 0.0


@pytest.mark.parametrize(
    ("evals", "message"),
    [
        ({}, "evals must be a list"),
        ([], "evals must be a list"),
        ([{"prompt": ""}], "prompt must be a text"),
        ([{"prompt": "x"}], "nothing to grade by"),
        ([{"prompt": "x", "expectations": "one"}], "expectations must be a list"),
        ([{"prompt": "x", "expectations": [3]}], "an expectation is a sentence or"),
        ([{"prompt": "x", "expected_output": "y", "files": "a"}], "files must be a list of paths"),
        ([{"prompt": "x", "expected_output": "y", "files": ["../../secret"]}], "is not in the skill's folder"),
        ([{"prompt": "x", "expected_output": "y", "id": 1}] * 2, "two evals are called '1'"),
    ],
)
def test_bad_evals_are_one_line_and_leave_nothing(tmp_path: Path, evals: Any, message: str) -> None:
    (tmp_path / "secret").write_text("s")
    skill = write_skill(tmp_path, evals)
    with pytest.raises(InputError, match=message):
        write_suite_of_skill(skill, tmp_path / "suite")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["letters", "secret"]


def test_a_link_to_a_file_outside_is_not_copied(tmp_path: Path) -> None:
    skill = write_skill(tmp_path, [{"prompt": "x", "expected_output": "y", "files": ["evals/files/out"]}])
    (tmp_path / "secret").write_text("s")
    (skill / "evals" / "files" / "out").symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match="is not in the skill's folder"):
        write_suite_of_skill(skill, tmp_path / "suite")


def test_sentences_without_a_judge_are_refused_before_anything_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    skill = write_skill(tmp_path)
    options = ["--base-url", "http://127.0.0.1:9", "--model", "m", "--bank", str(tmp_path / "b.bank")]
    assert run(["collect", str(skill), *options]) == 2
    assert "name one with --judge-model" in capsys.readouterr().err


def test_a_suite_is_never_taken_for_a_skill(tmp_path: Path) -> None:
    skill = write_skill(tmp_path)
    assert is_skill_with_evals(skill)
    (skill / "suite.yaml").write_text("name: mine\n")
    assert not is_skill_with_evals(skill)
