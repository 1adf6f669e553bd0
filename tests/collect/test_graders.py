from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from collect.suites import write_suite
from skilldelta.collect.arms import Message
from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.graders import GraderTools, make_graders
from skilldelta.collect.graders.base import Graded
from skilldelta.collect.graders.command import Command
from skilldelta.collect.graders.text import chosen_letter
from skilldelta.collect.reply_text import unique_label
from skilldelta.collect.sandbox import find_sandbox
from skilldelta.collect.suite import load_suite
from skilldelta.errors import InputError

needs_bwrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


def grade(
    folder: Path, grader: dict[str, Any], answer: Any, given: str, tools: GraderTools | None = None, **more: Any
) -> float:
    row = {"task_id": "t", "text": "x", "skill": "arith", "answer": answer, "grader": grader, **more}
    suite = load_suite(write_suite(folder, rows=[{k: v for k, v in row.items() if v is not None}]))
    made = make_graders(suite, tools or GraderTools())["t"]
    graded = asyncio.run(made.grade(given, suite.tasks[0], None))
    return graded.success if isinstance(graded, Graded) else graded


@pytest.mark.parametrize(
    ("grader", "answer", "given", "success"),
    [
        ({"type": "exact"}, "Paris", " Paris\n", 1),
        ({"type": "exact"}, "Paris", "paris", 0),
        ({"type": "exact", "ignore_case": True}, "Paris", "PARIS", 1),
        ({"type": "exact", "strip": False}, "Paris", "Paris ", 0),
        ({"type": "exact"}, ["a", "b"], "b", 1),
        ({"type": "exact"}, 42, "42", 1),
        ({"type": "contains"}, "42", "it is 42.", 1),
        ({"type": "contains"}, "42", "it is 24.", 0),
        ({"type": "regex", "pattern": "^a+$"}, "unused", "x\naaa\ny", 1),
        ({"type": "regex"}, r"\d{3}", "no 12", 0),
        ({"type": "numeric"}, 3.5, "3.5", 1),
        ({"type": "numeric"}, 1234, "about 7, in all 1,234", 1),
        ({"type": "numeric"}, 3.5, "nothing", 0),
        ({"type": "numeric"}, 3.5, "nan", 0),
        ({"type": "numeric", "tolerance": 0.1}, 3.5, "3.59", 1),
        ({"type": "numeric", "relative": 0.01}, 1000, "1009", 1),
        ({"type": "numeric", "relative": 0.01}, 1000, "1011", 0),
        ({"type": "choice"}, "B", "The answer is (B).", 1),
        ({"type": "choice"}, "B", "b", 1),
        ({"type": "choice"}, "B", "Either A or B", 0),
        ({"type": "json"}, {"a": 1, "b": "x"}, 'Sure: {"b": "x", "a": 1, "c": 0}', 1),
        ({"type": "json"}, {"a": 1}, '{"a": 2}', 0),
        ({"type": "json"}, {"a": 1}, "{broken", 0),
        ({"type": "json", "fields": ["a"]}, {"a": 1, "b": 2}, '{"a": 1}', 1),
        ({"type": "json", "partial": True}, {"a": 1, "b": 2}, '{"a": 1}', 0.5),
    ],
)
def test_an_answer_is_graded_as_its_grader_says(
    tmp_path: Path, grader: dict[str, Any], answer: Any, given: str, success: float
) -> None:
    assert grade(tmp_path, grader, answer, given) == success


@pytest.mark.parametrize(
    ("grader", "answer", "said"),
    [
        ({"type": "exect"}, "x", "did you mean exact"),
        ({"type": "exact", "tolerance": 1}, "x", "has no option 'tolerance'"),
        ({"type": "numeric"}, "many", "needs a number"),
        ({"type": "numeric", "tolerance": "wide"}, 1, "cannot be 'wide'"),
        ({"type": "json"}, "text", "needs an object"),
        ({"type": "choice"}, "AB", "needs one letter"),
        ({"type": "regex"}, "(", "not a regular expression"),
        ({"type": "python", "function": "absent.py:f"}, None, "'file.py:name'"),
        ({"type": "command"}, None, "needs run"),
        ({"type": "judge"}, None, "--judge-model"),
        ({"type": "inspect", "scorer": "no_such"}, "x", "has no scorer 'no_such'"),
    ],
)
def test_a_grader_that_cannot_work_is_refused_before_anything_is_paid(
    tmp_path: Path, grader: dict[str, Any], answer: Any, said: str
) -> None:
    with pytest.raises(InputError) as caught:
        grade(tmp_path, grader, answer, "x")
    assert said in str(caught.value)


def test_a_python_function_of_the_suite_grades(tmp_path: Path) -> None:
    write_suite(tmp_path)
    (tmp_path / "grade.py").write_text(
        "def even(answer, task):\n    return int(answer) % 2 == task['metadata']['rest']\n"
    )
    grader = {"type": "python", "function": "grade.py:even"}
    assert grade(tmp_path, grader, None, "4", metadata={"rest": 0}) == 1
    assert grade(tmp_path, grader, None, "5", metadata={"rest": 0}) == 0


def test_a_python_function_that_returns_nonsense_is_a_grader_error(tmp_path: Path) -> None:
    write_suite(tmp_path)
    (tmp_path / "grade.py").write_text("def f(answer, task):\n    return 'good'\n")
    with pytest.raises(GraderError, match="returned 'good'"):
        grade(tmp_path, {"type": "python", "function": "grade.py:f"}, None, "x")


@needs_bwrap
def test_a_commands_exit_code_in_the_working_copy_grades(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "expected.txt").write_text("right")
    grader = {"type": "command", "run": 'test "$(cat answer.txt)" = right'}
    assert grade(tmp_path, grader, None, "right") == 1
    assert grade(tmp_path, grader, None, "wrong") == 0


@needs_bwrap
@pytest.mark.parametrize("code", [126, 127])
def test_an_answers_own_exit_code_is_its_failure_whatever_it_is(tmp_path: Path, code: int) -> None:
    assert grade(tmp_path, {"type": "command", "run": "sh answer.txt"}, None, f"exit {code}") == 0.0
    assert grade(tmp_path, {"type": "command", "run": "sh answer.txt"}, None, "no-such-program") == 0.0
    assert grade(tmp_path, {"type": "command", "run": "./answer.txt"}, None, "x") == 0.0


@needs_bwrap
@pytest.mark.parametrize(
    "run", ["cd /tmp && no-such-program x", "X=1 no-such-program | cat; exit 127", "/opt/no-such-program"]
)
def test_a_missing_program_anywhere_in_the_command_is_a_grader_error(tmp_path: Path, run: str) -> None:
    with pytest.raises(GraderError, match="no-such-program' is not in the sandbox"):
        grade(tmp_path, {"type": "command", "run": run}, None, "exit 0")


@needs_bwrap
def test_the_answer_is_never_written_through_a_link_of_the_working_copy(tmp_path: Path) -> None:
    suite = load_suite(write_suite(tmp_path / "suite", tasks=1))
    victim, work = tmp_path / "victim", tmp_path / "work"
    victim.write_text("untouched")
    work.mkdir()
    (work / "answer.txt").symlink_to(victim)
    grader = Command('test "$(cat answer.txt)" = right', find_sandbox())
    assert asyncio.run(grader.grade("right", suite.tasks[0], work)).success == 1.0
    assert victim.read_text() == "untouched"


@needs_bwrap
def test_a_working_copy_replaced_by_a_link_is_a_failure_and_nobodys_folder_is_shown_to_the_sandbox(
    tmp_path: Path,
) -> None:
    suite = load_suite(write_suite(tmp_path / "suite", tasks=1))
    (tmp_path / "home").mkdir()
    (tmp_path / "work").symlink_to(tmp_path / "home")
    assert asyncio.run(Command("true", find_sandbox()).grade("x", suite.tasks[0], tmp_path / "work")).success == 0.0
    assert list((tmp_path / "home").iterdir()) == []


@pytest.mark.parametrize("name", ["/etc/passwd", "../answer.txt"])
@needs_bwrap
def test_an_answer_file_outside_the_working_copy_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="answer_file of the command grader must be a path inside the working copy"):
        grade(tmp_path, {"type": "command", "run": "true", "answer_file": name}, None, "x")


@needs_bwrap
def test_a_grading_command_that_does_not_exist_is_a_grader_error(tmp_path: Path) -> None:
    with pytest.raises(GraderError, match="cannot be run"):
        grade(tmp_path, {"type": "command", "run": "no-such-program"}, None, "x")


@pytest.mark.parametrize(("reply", "success"), [("CORRECT", 1), ("I say: incorrect.", 0)])
def test_a_judge_grades_by_its_label(tmp_path: Path, reply: str, success: float) -> None:
    seen: list[str] = []

    async def ask(name: str, messages: list[Message]) -> str:
        seen.append(messages[0].content)
        return reply

    assert grade(tmp_path, {"type": "judge"}, "the truth", "my {answer}", GraderTools(judge=ask)) == success
    assert "the truth" in seen[0]
    assert "my {answer}" in seen[0]


@pytest.mark.parametrize("reply", ["", "CORRECT or INCORRECT, who knows"])
def test_a_judge_without_a_clear_label_is_a_grader_error(tmp_path: Path, reply: str) -> None:
    async def ask(name: str, messages: list[Message]) -> str:
        return reply

    with pytest.raises(GraderError, match="no clear label"):
        grade(tmp_path, {"type": "judge"}, "x", "y", GraderTools(judge=ask))


def test_a_scorer_of_inspect_grades(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    grader = {"type": "inspect", "scorer": "match", "args": {"location": "end"}}
    assert grade(tmp_path, grader, "42", "so it is 42") == 1
    assert grade(tmp_path, grader, "42", "42 it is not, it is 43") == 0


def test_a_label_counts_when_it_is_the_only_one_and_a_word_of_its_own() -> None:
    labels = ("USE_SKILL", "NO_SKILL")
    assert unique_label("use_skill", labels) == "USE_SKILL"
    assert unique_label("NO_SKILL. Yes, NO_SKILL", labels) == "NO_SKILL"
    assert unique_label("USE_SKILL or NO_SKILL", labels) is None
    assert unique_label("REUSE_SKILLS", labels) is None
    assert unique_label("", labels) is None


@pytest.mark.parametrize(
    ("answer", "letter"),
    [("C", "C"), ("(c)", "C"), ("Answer: D, not A", "D"), ("A cat", "A"), ("", None), ("It's I'm", None)],
)
def test_a_choice_is_read_from_prose(answer: str, letter: str | None) -> None:
    assert chosen_letter(answer) == letter


def test_a_python_function_that_hangs_is_a_grader_error_and_holds_up_nothing(tmp_path: Path) -> None:
    write_suite(tmp_path)
    (tmp_path / "grade.py").write_text("import time\ndef f(answer, task):\n    time.sleep(600)\n")
    with pytest.raises(GraderError, match=r"took more than 0\.1 s"):
        grade(tmp_path, {"type": "python", "function": "grade.py:f", "seconds": 0.1}, None, "x")
