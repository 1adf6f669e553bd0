"""A suite tried on answers whose grades are known, before an agent is paid: right ones must pass, wrong ones must not.

Every answer goes the way of an execution: the arm's conversation is made, and the reply is read and graded by the task's own
grader. With the skill, an answer is also given in the form that the skill's text asks for: a skill that makes agents write
answers which the grader cannot read would turn its own gain around.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from skilldelta.collect.arms import arm_messages
from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.graders import Grader
from skilldelta.collect.graders.base import Graded
from skilldelta.collect.graders.workbook_file import CellRange, parse_ranges, read_cells, sheet_names
from skilldelta.collect.suite import Suite, SuiteTask
from skilldelta.errors import InputError
from skilldelta.files import json_lines, json_objects, lines_of
from skilldelta.records import CONDITIONS, Condition

# How an answer is written, by what a skill's text says; the mark is looked for in the text.
_FORMS: Mapping[str, str] = {
    "Finish[": "Finish[{}]",
    "ANSWER:": "ANSWER: {}",
    "boxed{": "The answer is \\boxed{{{}}}",
    '"answer":': '{{"answer": "{}"}}',
    "The answer is": "The answer is: {}",
}
_USUAL_FORM = {"short_answer": "Finish[{}]", "clinical_value": "ANSWER: {}", "logic_answer": "The answer is: {}"}
_ANSWERED = (*_USUAL_FORM, "exact", "contains", "numeric", "choice")
_PATH_LINES = 'INPUT_PATH = "input.xlsx"\nOUTPUT_PATH = "output.xlsx"\n'
_NONSENSE = "zqx 987654321.5 zqx"


@dataclass(frozen=True, slots=True)
class GoldFault:
    """A known answer that got another grade than it deserves."""

    task_id: str
    condition: Condition
    kind: str
    """`right` or `wrong`, with the form where it is the skill's."""
    remark: str


@dataclass(frozen=True, slots=True)
class GoldCheck:
    """What came of all known answers."""

    tried: int
    faults: tuple[GoldFault, ...]
    skipped: tuple[str, ...]
    """Tasks without a known answer."""

    @property
    def right(self) -> float:
        """Share of the right answers, in either arm, that passed; the wrong ones are faults of their own."""
        return 1.0 - len(self.faults) / self.tried if self.tried else 0.0


@dataclass(frozen=True, slots=True)
class _KnownReply:
    text: str
    is_right: bool
    kind: str


async def check_gold(
    suite: Suite,
    graders: Mapping[str, Grader],
    references: Mapping[str, str],
    *,
    on_progress: Callable[[int], None] = lambda done: None,
) -> GoldCheck:
    """Grade right and wrong answers of every task in both arms.

    Args:
        suite: The suite to try.
        graders: The grader of every task.
        references: Reference code by task, for graders that run code.
        on_progress: Told how many tasks are done.
    """
    faults: list[GoldFault] = []
    skipped: list[str] = []
    tried = 0
    for done, task in enumerate(suite.tasks, start=1):
        replies = list(_known_replies(task, suite, references))
        if not replies:
            skipped.append(task.task_id)
        for condition, reply in replies:
            skill_text = suite.skill_text(task)
            messages = arm_messages(task.question, condition, suite.agent, skill_text=skill_text)
            if (skill_text in "\n".join(message.content for message in messages)) != (condition == "use"):
                faults.append(GoldFault(task.task_id, condition, "conversation", "the skill is in the wrong arm"))
            tried += 1
            try:
                grade = await _graded(graders[task.task_id].grade(reply.text, task, None))
            except GraderError as error:
                faults.append(GoldFault(task.task_id, condition, reply.kind, f"no grade: {error}"))
                continue
            if (grade.success == 1.0) != reply.is_right:
                faults.append(GoldFault(task.task_id, condition, reply.kind, grade.remark))
        on_progress(done)
    return GoldCheck(tried, tuple(faults), tuple(skipped))


def read_references(path: Path) -> dict[str, str]:
    """Reference code by task from a JSONL file with `task_id`, and `canonical_solution` behind an optional `prompt_wo_doc`.

    BigCodeBench's own file names its tasks BigCodeBench/0; they are those of `bigcodebench_00000`.
    """
    references = {}
    if path.suffix.lower() == ".gz":
        with gzip.open(path) as file:
            rows = list(json_objects(lines_of(cast("IO[bytes]", file), path), path))
    else:
        rows = list(json_lines(path))
    for number, row in rows:
        task_id, code = row.get("task_id"), row.get("canonical_solution", row.get("reference"))
        if not isinstance(task_id, str) or not isinstance(code, str):
            raise InputError(f"{path}:{number}: a reference needs task_id and canonical_solution")
        before = row.get("prompt_wo_doc", row.get("code_prompt")) or ""
        code = f"{before}\n{code}" if before and not re.search(r"^def ", code, re.MULTILINE) else code
        benchmark = re.fullmatch(r"BigCodeBench/(\d+)", task_id)
        references[f"bigcodebench_{int(benchmark[1]):05d}" if benchmark else task_id] = code
    return references


async def _graded(grading: Awaitable[float | Graded]) -> Graded:
    grade = await grading
    return grade if isinstance(grade, Graded) else Graded(grade)


def _known_replies(
    task: SuiteTask, suite: Suite, references: Mapping[str, str]
) -> Iterator[tuple[Condition, _KnownReply]]:
    skill = suite.skill_text(task)
    for condition in CONDITIONS:
        match task.grader["type"]:
            case "unit_tests":
                replies = _code_replies(task, references)
            case "workbook":
                replies = _workbook_replies(task, suite.folder, skill if condition == "use" else "")
            case kind if kind in _ANSWERED:
                replies = _text_replies(task, skill if condition == "use" else "")
            case _:
                replies = []
        yield from ((condition, reply) for reply in replies)


def _text_replies(task: SuiteTask, skill: str) -> list[_KnownReply]:
    answer = task.answer[0] if isinstance(task.answer, list) else task.answer
    form = _USUAL_FORM.get(task.grader["type"], "{}")
    replies = [
        _KnownReply(form.format(answer), True, "right"),
        _KnownReply(form.format(_wrong(task, str(answer))), False, "wrong"),
    ]
    if form != "{}":
        forms = [written for mark, written in _FORMS.items() if mark in skill and written != form]
        replies += [
            _KnownReply(written.format(answer), True, f"right, written {written.format('…')}") for written in forms
        ]
    return replies


def _wrong(task: SuiteTask, answer: str) -> str:
    """An answer of the right kind that is wrong."""
    if task.grader["type"] == "logic_answer":
        others = {"yes": "no", "no": "yes"}
        return others.get(answer.lower(), "choice_1" if answer.lower() != "choice_1" else "choice_2")
    if task.grader["type"] == "choice":
        return "B" if answer.strip().upper() == "A" else "A"
    if task.grader["type"] == "numeric" or task.metadata.get("kind") in ("decimal", "integer"):
        return "987654321.5"
    return {"date": "01/01/1901", "age": "(98, 7)"}.get(str(task.metadata.get("kind")), _NONSENSE)


def _code_replies(task: SuiteTask, references: Mapping[str, str]) -> list[_KnownReply]:
    code = references.get(task.task_id) or task.metadata.get("reference")
    wrong = f"def {task.metadata['entry_point']}(*arguments, **options):\n    raise NotImplementedError\n"
    if not isinstance(code, str):
        return []
    return [
        _KnownReply(f"```python\n{code}\n```", True, "right"),
        _KnownReply(
            f"Here it is:\n\n```python\n{code}\n```\nIt does what was asked.", True, "right, with prose around it"
        ),
        _KnownReply(f"```python\n{wrong}```", False, "wrong"),
    ]


def _workbook_replies(task: SuiteTask, folder: Path, skill: str) -> list[_KnownReply]:
    """A program that writes the expected cells, one that changes nothing; only the first test case can be known."""
    if len(task.metadata["cases"]) != 1:
        return []
    (before, after), position = task.metadata["cases"][0], task.metadata["answer_position"]
    try:
        sheet = task.metadata.get("answer_sheet") or sheet_names(folder / after)[0]
        ranges = parse_ranges(position)
        blocks = [CellRange(block.sheet or sheet, *_corners(block)) for block in ranges]
        cells = read_cells(folder / after, blocks)
        unchanged = read_cells(folder / before, blocks) == cells
    except InputError:
        return []
    head = "import datetime\nimport openpyxl\nbook = openpyxl.load_workbook(INPUT_PATH)\n"
    work = "".join(_writing(block, values) for block, values in zip(blocks, cells, strict=True))
    save = "book.save(OUTPUT_PATH)\n"
    right = f"{head}{work}{save}"
    replies = [_KnownReply(f"```python\n{right}```", True, "right")]
    if "INPUT_PATH" in skill or "OUTPUT_PATH" in skill:
        replies.append(_KnownReply(f"```python\n{_PATH_LINES}{right}```", True, "right, with lines that set the paths"))
    if not unchanged:
        replies.append(_KnownReply(f"```python\n{head}{save}```", False, "wrong"))
    return replies


def _corners(block: CellRange) -> tuple[int, int, int, int]:
    return block.first_column, block.first_row, block.last_column, block.last_row


def _writing(block: CellRange, values: Sequence[Any]) -> str:
    """Code that writes a block of values; a merged cell takes none, and needs none."""
    width = block.last_column - block.first_column + 1
    lines = [f"sheet = book[{block.sheet!r}] if {block.sheet!r} in book else book.create_sheet({block.sheet!r})\n"]
    for place, value in enumerate(values):
        row, column = block.first_row + place // width, block.first_column + place % width
        lines.append(
            f"cell = sheet.cell({row}, {column})\nif type(cell).__name__ != 'MergedCell':\n    cell.value = {value!r}\n"
        )
    return "".join(lines)
