"""Graders by the type that a suite names. One file per kind; this one chooses."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.graders.base import (
    LIMIT_OPTIONS,
    Evaluator,
    Graded,
    Grader,
    GradingMode,
    chosen_evaluator,
    chosen_limits,
    grading_mode,
    take_options,
)
from skilldelta.collect.graders.clinical_value import KINDS, ClinicalValue
from skilldelta.collect.graders.command import COMMAND_LIMITS, Command
from skilldelta.collect.graders.function import Function, load_function, load_scorer
from skilldelta.collect.graders.judge import JUDGE_PROMPT, AskJudge, Expectations, Judge
from skilldelta.collect.graders.logic_answer import LogicAnswer
from skilldelta.collect.graders.reply_code import code_settings
from skilldelta.collect.graders.short_answer import ShortAnswer
from skilldelta.collect.graders.text import Choice, Contains, Exact, Fields, Numeric, Regex, read_number
from skilldelta.collect.graders.unit_tests import TEST_LIMITS, UnitTests, check_tested_task
from skilldelta.collect.graders.workbook import CODE_LIMITS, Workbook, check_workbook_task
from skilldelta.collect.graders.workbook_file import require_openpyxl
from skilldelta.collect.sandbox import SandboxName, find_sandbox
from skilldelta.collect.suite import Suite, SuiteTask
from skilldelta.collect.workspace import check_inside
from skilldelta.errors import InputError, unknown_name

# The entry points by which other packages bring graders.
GROUP = "skilldelta.graders"

_NUMBER = (int, float)
# Graders that need nothing but the options of their fields.
_BY_OPTIONS: Mapping[str, tuple[Callable[..., Grader], Mapping[str, type | tuple[type, ...]]]] = {
    "exact": (Exact, {"ignore_case": bool, "strip": bool}),
    "contains": (Contains, {"ignore_case": bool}),
    "numeric": (Numeric, {"tolerance": _NUMBER, "relative": _NUMBER}),
    "choice": (Choice, {}),
}
# Graders of benchmarks that two programs grade, in exact or lenient mode.
_BENCHMARKS: Mapping[str, Callable[[GradingMode, Evaluator], Grader]] = {
    "short_answer": ShortAnswer,
    "clinical_value": ClinicalValue,
    "logic_answer": lambda mode, _: LogicAnswer(mode),
}
_OTHERS = (
    *_BENCHMARKS,
    "regex",
    "json",
    "python",
    "command",
    "judge",
    "expectations",
    "inspect",
    "unit_tests",
    "workbook",
)

# Graders that have an exact and a lenient mode.
MODAL_GRADERS = (*_BENCHMARKS, "unit_tests", "workbook")

__all__ = ["MODAL_GRADERS", "Grader", "GraderTools", "make_graders"]


@dataclass(frozen=True, slots=True)
class GraderTools:
    """What graders need from outside: a sandbox, and a judge when a model is there to ask."""

    sandbox: SandboxName = "auto"
    judge: AskJudge | None = None
    both_grades: bool = False
    """Whether graders that have an exact and a lenient mode give the other mode's grade as well."""


@dataclass(frozen=True, slots=True)
class BothGrades:
    """A grader whose grade counts, and the same in its other mode, whose grade is noted."""

    grader: Grader
    other: Grader
    other_mode: GradingMode

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> Graded:
        grade = await self.grader.grade(answer, task, workdir)
        graded = grade if isinstance(grade, Graded) else Graded(grade)
        try:
            other = await self.other.grade(answer, task, workdir)
        except GraderError:
            return graded
        success = other.success if isinstance(other, Graded) else other
        return replace(graded, other={self.other_mode: success})


def make_graders(suite: Suite, tools: GraderTools) -> dict[str, Grader]:
    """The grader of every task by task_id; tasks with equal settings share one. A bad setting is an InputError."""
    by_settings: dict[str, Grader] = {}
    graders: dict[str, Grader] = {}
    for task in suite.tasks:
        settings = json.dumps(task.grader, sort_keys=True, default=str)
        where = f"task {task.task_id!r}"
        if settings not in by_settings:
            by_settings[settings] = _make(task.grader, suite, tools, where)
            if tools.both_grades and task.grader["type"] in MODAL_GRADERS:
                other: GradingMode = "lenient" if grading_mode(task.grader, where) == "exact" else "exact"
                spec = {key: value for key, value in task.grader.items() if key != "strict"}
                by_settings[settings] = BothGrades(
                    by_settings[settings], _make({**spec, "mode": other}, suite, tools, where), other
                )
        _check_answer(task, where, has_judge=tools.judge is not None)
        graders[task.task_id] = by_settings[settings]
    return graders


def _make(spec: Mapping[str, Any], suite: Suite, tools: GraderTools, where: str) -> Grader:
    if spec["type"] in _BY_OPTIONS:
        make, option_types = _BY_OPTIONS[spec["type"]]
        return make(**take_options(spec, where, **option_types))
    if spec["type"] in _BENCHMARKS:
        take_options(spec, where, mode=str, evaluator=str, strict=bool)
        return _BENCHMARKS[spec["type"]](grading_mode(spec, where), chosen_evaluator(spec, where))
    match spec["type"]:
        case "regex":
            options = take_options(spec, where, pattern=str)
            _check_pattern(options.get("pattern", ""), where)
            return Regex(**options)
        case "json":
            options = take_options(spec, where, fields=list, partial=bool)
            return Fields(tuple(options.get("fields", ())), options.get("partial", False))
        case "python":
            options = take_options(spec, where, function=str, seconds=_NUMBER)
            name = _required(options, "function", where, "'file.py:name'")
            return Function(load_function(name, suite.folder, where), name, options.get("seconds", 60.0))
        case "command":
            options = take_options(
                spec, where, run=str, answer_file=str, tests=str, canary=str, mode=str, **LIMIT_OPTIONS
            )
            return Command(
                _required(options, "run", where, "a shell command"),
                find_sandbox(tools.sandbox),
                options.get("answer_file", "answer.txt"),
                chosen_limits(COMMAND_LIMITS, options),
                _tests_folder(options.get("tests", ""), suite.folder, where),
                options.get("canary", ""),
                grading_mode(spec, where),
            )
        case "judge":
            options = take_options(spec, where, prompt=str)
            if tools.judge is None:
                raise InputError(f"{where}: grader 'judge' needs a model to ask; name one with --judge-model")
            return Judge(tools.judge, options.get("prompt", JUDGE_PROMPT))
        case "expectations":
            success = take_options(spec, where, success=str).get("success", "all")
            if success not in ("all", "share"):
                raise InputError(f"{where}: success of grader 'expectations' must be all or share, got {success!r}")
            return Expectations(tools.judge, lambda run: Command(run, find_sandbox(tools.sandbox)), success)
        case "inspect":
            options = take_options(spec, where, scorer=str, args=dict)
            name = _required(options, "scorer", where, "a scorer's name or 'file.py@name'")
            return load_scorer(name, options.get("args", {}), suite.folder, where)
        case "unit_tests":
            return UnitTests(*code_settings(spec, tools.sandbox, TEST_LIMITS, where), grading_mode(spec, where))
        case "workbook":
            require_openpyxl("grading workbooks")
            settings = code_settings(spec, tools.sandbox, CODE_LIMITS, where)
            return Workbook(*settings, suite.folder, grading_mode(spec, where))
    return _installed_grader(spec, where)


def _installed_grader(spec: Mapping[str, Any], where: str) -> Grader:
    """The grader that another package brings; the suite's options are its keyword arguments."""
    points = {point.name: point for point in entry_points(group=GROUP)}
    point = points.get(spec["type"])
    if point is None:
        raise unknown_name("grader", spec["type"], (*_BY_OPTIONS, *_OTHERS, *points))
    origin = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
    try:
        grader: Grader = point.load()(**{key: value for key, value in spec.items() if key != "type"})
    except Exception as error:  # another package's code may raise anything
        raise InputError(f"{where}: the grader {point.name!r} of {origin} cannot be made ({error})") from error
    if not callable(getattr(grader, "grade", None)):
        raise InputError(f"{where}: the grader {point.name!r} of {origin} has no grade(answer, task, workdir)")
    return grader


def _check_answer(task: SuiteTask, where: str, *, has_judge: bool) -> None:
    """An answer that its grader could never match is a mistake of the suite, and cheaper to find now."""
    kind = task.grader["type"]
    if kind == "numeric" and (isinstance(task.answer, bool) or read_number(str(task.answer)) is None):
        raise InputError(f"{where}: grader 'numeric' needs a number as answer, got {task.answer!r}")
    if kind == "json" and not (isinstance(task.answer, dict) and task.answer):
        raise InputError(f"{where}: grader 'json' needs an object as answer, got {task.answer!r}")
    if kind == "choice" and not (isinstance(task.answer, str) and len(task.answer.strip()) == 1):
        raise InputError(f"{where}: grader 'choice' needs one letter as answer, got {task.answer!r}")
    if kind == "expectations":
        _check_expectations(task.answer, where, has_judge=has_judge)
    if kind == "clinical_value" and task.metadata.get("kind", "decimal") not in KINDS:
        raise InputError(
            f"{where}: the metadata's kind must be one of {', '.join(KINDS)}, got {task.metadata['kind']!r}"
        )
    if kind == "unit_tests":
        check_tested_task(task, where)
    if kind == "workbook":
        check_workbook_task(task, where)
    if kind == "regex" and not task.grader.get("pattern"):
        _check_pattern(str(task.answer), where)


def _check_expectations(answer: Any, where: str, *, has_judge: bool) -> None:
    is_list = isinstance(answer, list) and answer
    if not is_list or not all(isinstance(expectation, str) or _is_command(expectation) for expectation in answer):
        raise InputError(
            f"{where}: grader 'expectations' needs a list of sentences and {{run: command}}, got {answer!r}"
        )
    if not has_judge and any(isinstance(expectation, str) for expectation in answer):
        raise InputError(f"{where}: its expectations need a model to ask; name one with --judge-model")


def _is_command(expectation: Any) -> bool:
    return isinstance(expectation, dict) and list(expectation) == ["run"] and isinstance(expectation["run"], str)


def _check_pattern(pattern: str, where: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise InputError(f"{where}: {pattern!r} is not a regular expression: {error}") from None


def _tests_folder(name: str, suite: Path, where: str) -> Path | None:
    if not name:
        return None
    check_inside(name, f"{where}: tests of the command grader")
    if not (suite / name).is_dir():
        raise InputError(f"{where}: the folder {suite / name} does not exist; `tests` names the grader's own files")
    return suite / name


def _required(options: Mapping[str, Any], key: str, where: str, example: str) -> str:
    if not options.get(key):
        raise InputError(f"{where}: the grader needs {key}: {example}")
    return str(options[key])
