from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from collect.suites import SKILL, write_suite
from skilldelta.collect.graders import GraderTools, make_graders
from skilldelta.collect.starter import write_starter
from skilldelta.collect.suite import load_suite
from skilldelta.errors import InputError
from skilldelta.records import text_digest


def row(**changes: Any) -> dict[str, Any]:
    return {"task_id": "t", "text": "Compute 1", "family": "f", "skill": "arith", "answer": "3", **changes}


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in row().items() if name != key}


def test_a_suite_is_its_tasks_with_the_body_of_their_skill(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path, tasks=2))
    assert [task.task_id for task in suite.tasks] == ["t0", "t1"]
    assert suite.skills["arith"].text == SKILL
    assert suite.skills["arith"].digest == text_digest(SKILL)
    tasks, skills = suite.records()
    assert [(task.task_id, task.suite, task.family) for task in tasks] == [("t0", "small", "f"), ("t1", "small", "f")]
    assert [skill.skill_id for skill in skills] == ["arith"]


def test_a_bundle_is_its_skills_in_sorted_order_whatever_order_the_task_names_them(tmp_path: Path) -> None:
    rows = [row(task_id="a", skill=["other", "arith"]), row(task_id="b", skill=["arith", "other"])]
    suite = load_suite(write_suite(tmp_path, rows=rows))
    assert {task.skill_id for task in suite.tasks} == {"arith+other"}
    assert suite.skills["arith+other"].text == f"{SKILL}\n\nBe brief."


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (without("answer"), "tasks.jsonl:1: task 't' has no answer"),
        (without("text"), "text must be a text"),
        (without("skill"), "skill must be a name"),
        (row(skill="absent"), "skill 'absent' does not exist"),
        (row(grader="exact"), "expected an object with a type"),
        (row(color="red"), "unknown key 'color'"),
        (row(files="nowhere"), "does not exist"),
        (row(metadata=[1]), "metadata must be an object"),
    ],
)
def test_a_mistake_in_a_task_is_named_with_its_line(tmp_path: Path, bad: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=r"tasks\.jsonl:1") as caught:
        load_suite(write_suite(tmp_path, rows=[bad]))
    assert said in str(caught.value)


def test_two_tasks_with_one_id_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'t' is already used in line 1"):
        load_suite(write_suite(tmp_path, rows=[row(), row()]))


def test_a_broken_line_is_named_with_its_column(tmp_path: Path) -> None:
    folder = write_suite(tmp_path)
    (folder / "tasks.jsonl").write_text(json.dumps(row()) + "\n{broken\n")
    with pytest.raises(InputError, match=r"tasks.jsonl:2: not valid JSON .*column 2"):
        load_suite(folder)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Just a text.", "no front matter"),
        ("---\nname: arith\nno end", "no front matter"),
        ("---\nname: arith\n---\nbody", "needs both name and description"),
        ("---\nname: other\ndescription: d\n---\nbody", "its folder is 'arith'"),
        ("---\nname: arith\ndescription: d\n---\n\n", "nothing to inject"),
        ("---\nname: [\n---\nbody", "not valid YAML"),
    ],
)
def test_a_skill_file_without_proper_front_matter_or_body_is_refused(tmp_path: Path, text: str, said: str) -> None:
    folder = write_suite(tmp_path)
    (folder / "skills" / "arith" / "SKILL.md").write_text(text)
    with pytest.raises(InputError, match=r"SKILL\.md") as caught:
        load_suite(folder)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("agent: {temperature: -1}\n", "temperature must be"),
        ("agent: {max_tokens: 0}\n", "max_tokens must be at least 1"),
        ("agent: {modle: x}\n", "unknown key 'modle'"),
        ("grader: nonsense\n", "expected an object with a type"),
        ("color: red\n", "unknown key 'color'"),
        ("tasks: [\n", "not valid YAML"),
        ("tasks: elsewhere.jsonl\n", "the tasks file is missing"),
    ],
)
def test_a_mistake_in_the_settings_is_one_clear_line(tmp_path: Path, settings: str, said: str) -> None:
    folder = write_suite(tmp_path)
    (folder / "suite.yaml").write_text(
        f"name: small\n{settings}" + "grader: {type: exact}\n" * ("grader" not in settings)
    )
    with pytest.raises(InputError) as caught:
        load_suite(folder)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_without_suite_file_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="skilldelta suite init"):
        load_suite(tmp_path)


def test_the_starter_is_a_suite_that_passes_its_own_check(tmp_path: Path) -> None:
    write_starter(tmp_path / "mine")
    suite = load_suite(tmp_path / "mine")
    assert suite.name == "mine"
    assert len(make_graders(suite, GraderTools())) == len(suite.tasks) == 6


def test_the_starter_never_overwrites_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(InputError, match="not empty"):
        write_starter(tmp_path)
