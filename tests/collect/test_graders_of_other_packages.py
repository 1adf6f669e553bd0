"""A package that is installed beside SkillDelta brings a grader: suites name it like any other."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from skilldelta.collect.graders import GraderTools, make_graders
from skilldelta.collect.suite import load_suite
from skilldelta.errors import InputError

_CODE = """
class Shouting:
    def __init__(self, marks=1):
        self.marks = marks

    async def grade(self, answer, task, workdir):
        return float(answer == str(task.answer).upper() + "!" * self.marks)


class NoGrader:
    pass
"""


@pytest.fixture(autouse=True)
def package(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path_factory.mktemp("site")
    info = folder / "shouts-1.0.dist-info"
    info.mkdir()
    (folder / "shouts.py").write_text(_CODE, encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shouts\nVersion: 1.0\n", encoding="utf-8")
    lines = "[skilldelta.graders]\nshouting = shouts:Shouting\nnothing = shouts:NoGrader\n"
    (info / "entry_points.txt").write_text(lines, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)


def _suite(folder: Path, grader: str) -> Path:
    folder.mkdir()
    (folder / "suite.yaml").write_text(f"name: loud\ngrader: {grader}\n", encoding="utf-8")
    task = '{"task_id": "t1", "text": "Say it.", "family": "f", "skill": "s", "answer": "yes"}\n'
    (folder / "tasks.jsonl").write_text(task, encoding="utf-8")
    (folder / "skills" / "s").mkdir(parents=True)
    (folder / "skills" / "s" / "SKILL.md").write_text("---\nname: s\ndescription: d\n---\nShout.\n", encoding="utf-8")
    return folder


def test_a_grader_of_another_package_grades_with_the_options_of_the_suite(tmp_path: Path) -> None:
    suite = load_suite(_suite(tmp_path / "suite", "{type: shouting, marks: 2}"))
    (grader,) = make_graders(suite, GraderTools()).values()
    grades = [asyncio.run(grader.grade(answer, suite.tasks[0], None)) for answer in ("YES!!", "yes")]
    assert grades == [1.0, 0.0]


@pytest.mark.parametrize(
    ("grader", "message"),
    [
        ("{type: shouting, volume: 3}", "the grader 'shouting' of shouts 1.0 cannot be made"),
        ("{type: nothing}", "the grader 'nothing' of shouts 1.0 has no grade"),
        ("{type: shoutin}", "unknown grader 'shoutin'; did you mean shouting"),
    ],
)
def test_what_cannot_grade_is_refused_with_its_package(tmp_path: Path, grader: str, message: str) -> None:
    suite = load_suite(_suite(tmp_path / "suite", grader))
    with pytest.raises(InputError, match=message):
        make_graders(suite, GraderTools())
