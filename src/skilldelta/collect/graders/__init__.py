"""Graders by the type that a suite names. One file per kind; this one chooses."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from skilldelta.collect.graders.base import Grader, take_options
from skilldelta.collect.graders.clinical_value import KINDS, ClinicalValue
from skilldelta.collect.graders.command import COMMAND_LIMITS, Command
from skilldelta.collect.graders.expectations import Expectations
from skilldelta.collect.graders.function import Function, load_function
from skilldelta.collect.graders.inspect_scorer import load_scorer
from skilldelta.collect.graders.json_fields import Fields
from skilldelta.collect.graders.judge import PROMPT, AskJudge, Judge
from skilldelta.collect.graders.logic_answer import LogicAnswer
from skilldelta.collect.graders.numeric import Numeric, read_number
from skilldelta.collect.graders.short_answer import ShortAnswer
from skilldelta.collect.graders.text import Choice, Contains, Exact, Regex
from skilldelta.collect.graders.unit_tests import check_tested_task, make_unit_tests
from skilldelta.collect.graders.workbook import check_workbook_task, make_workbook_grader
from skilldelta.collect.sandbox import SandboxName, find_sandbox
from skilldelta.collect.suite import Suite, SuiteTask
from skilldelta.errors import InputError, unknown_name

GRADERS = (
    "exact",
    "contains",
    "regex",
    "numeric",
    "choice",
    "json",
    "python",
    "command",
    "judge",
    "expectations",
    "inspect",
    "short_answer",
    "clinical_value",
    "logic_answer",
    "unit_tests",
    "workbook",
)
"""The last five are those of the paper's benchmarks."""
_LIMIT_OPTIONS: Mapping[str, type] = {"memory_mb": int, "disk_mb": int, "processes": int}

__all__ = ["GRADERS", "Grader", "GraderTools", "make_graders"]


@dataclass(frozen=True, slots=True)
class GraderTools:
    """What graders need from outside: a sandbox, and a judge when a model is there to ask."""

    sandbox: SandboxName = "auto"
    judge: AskJudge | None = None


def make_graders(suite: Suite, tools: GraderTools) -> dict[str, Grader]:
    """The grader of every task by task_id; tasks with equal settings share one. A bad setting is an InputError."""
    made: dict[str, Grader] = {}
    graders: dict[str, Grader] = {}
    for task in suite.tasks:
        settings = json.dumps(task.grader, sort_keys=True, default=str)
        where = f"task {task.task_id!r}"
        if settings not in made:
            made[settings] = _make(task.grader, suite, tools, where)
        _check_answer(task, where, has_judge=tools.judge is not None)
        graders[task.task_id] = made[settings]
    return graders


def _make(spec: Mapping[str, Any], suite: Suite, tools: GraderTools, where: str) -> Grader:
    match spec["type"]:
        case "exact":
            return Exact(**take_options(spec, where, ignore_case=bool, strip=bool))
        case "contains":
            return Contains(**take_options(spec, where, ignore_case=bool))
        case "regex":
            options = take_options(spec, where, pattern=str)
            _check_pattern(options.get("pattern", ""), where)
            return Regex(**options)
        case "numeric":
            return Numeric(**take_options(spec, where, tolerance=(int, float), relative=(int, float)))
        case "choice":
            return Choice(**take_options(spec, where))
        case "json":
            options = take_options(spec, where, fields=list, partial=bool)
            return Fields(tuple(options.get("fields", ())), options.get("partial", False))
        case "python":
            options = take_options(spec, where, function=str, seconds=(int, float))
            name = _required(options, "function", where, "'file.py:name'")
            return Function(load_function(name, suite.folder, where), name, options.get("seconds", 60.0))
        case "command":
            options = take_options(spec, where, run=str, answer_file=str, seconds=(int, float), **_LIMIT_OPTIONS)
            chosen = {key: options[key] for key in ("seconds", *_LIMIT_OPTIONS) if key in options}
            limits = replace(COMMAND_LIMITS, **chosen)
            run = _required(options, "run", where, "a shell command")
            return Command(run, find_sandbox(tools.sandbox), options.get("answer_file", "answer.txt"), limits)
        case "judge":
            options = take_options(spec, where, prompt=str)
            if tools.judge is None:
                raise InputError(f"{where}: grader 'judge' needs a model to ask; name one with --judge-model")
            return Judge(tools.judge, options.get("prompt", PROMPT))
        case "expectations":
            success = take_options(spec, where, success=str).get("success", "all")
            if success not in ("all", "share"):
                raise InputError(f"{where}: success of grader 'expectations' must be all or share, got {success!r}")
            return Expectations(tools.judge, lambda run: Command(run, find_sandbox(tools.sandbox)), success)
        case "inspect":
            options = take_options(spec, where, scorer=str, args=dict)
            name = _required(options, "scorer", where, "a scorer's name or 'file.py@name'")
            return load_scorer(name, options.get("args", {}), suite.folder, where)
        case "short_answer":
            return ShortAnswer(**take_options(spec, where, strict=bool))
        case "clinical_value":
            return ClinicalValue(**take_options(spec, where, strict=bool))
        case "logic_answer":
            return LogicAnswer(**take_options(spec, where))
        case "unit_tests":
            return make_unit_tests(spec, tools.sandbox, where)
        case "workbook":
            return make_workbook_grader(spec, suite.folder, tools.sandbox, where)
    raise unknown_name("grader", spec["type"], GRADERS)


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
    if not is_list or not all(isinstance(one, str) or _is_command(one) for one in answer):
        raise InputError(
            f"{where}: grader 'expectations' needs a list of sentences and {{run: command}}, got {answer!r}"
        )
    if not has_judge and any(isinstance(one, str) for one in answer):
        raise InputError(f"{where}: its expectations need a model to ask; name one with --judge-model")


def _is_command(one: Any) -> bool:
    return isinstance(one, dict) and list(one) == ["run"] and isinstance(one["run"], str)


def _check_pattern(pattern: str, where: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise InputError(f"{where}: {pattern!r} is not a regular expression: {error}") from None


def _required(options: Mapping[str, Any], key: str, where: str, example: str) -> str:
    if not options.get(key):
        raise InputError(f"{where}: the grader needs {key}: {example}")
    return str(options[key])
