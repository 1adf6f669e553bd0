"""What a grader is: the answer of one execution in, its success in [0, 1] out.

A grader that cannot decide raises; the execution is then recorded as a grader error, never as a failure of the agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol

from skilldelta.collect.sandbox import Limits
from skilldelta.collect.suite import SuiteTask
from skilldelta.errors import InputError

# The options of graders that run something in the sandbox.
LIMIT_OPTIONS: Mapping[str, Any] = {"seconds": (int, float), "memory_mb": int, "disk_mb": int, "processes": int}

# `exact` gives every reply the grade that the benchmark's own evaluator gives it; `lenient` reads what a person would read.
GradingMode = Literal["exact", "lenient"]

# Where two programs grade a benchmark: its own evaluator, or the copy in the runners that made the paper's tables.
Evaluator = Literal["original", "release"]


@dataclass(frozen=True, slots=True)
class Graded:
    """A success with what the grader found, for the transcript: which test failed, which limit stopped the code."""

    success: float
    remark: str = ""
    other: Mapping[str, float] = field(default_factory=dict)
    """What the grader's other mode would have said, by its name, where both were asked for."""


class Grader(Protocol):
    """Grades answers of one kind of task."""

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> float | Graded:
        """Success in [0, 1], with or without a remark. `workdir` is the execution's own copy of the task's files, when it has one."""


def take_options(spec: Mapping[str, Any], where: str, **known: type | tuple[type, ...]) -> dict[str, Any]:
    """The options of a grader beside its type, each of the expected kind; an unknown one is refused by name."""
    options = {key: value for key, value in spec.items() if key != "type"}
    for key, value in options.items():
        if key not in known:
            names = ", ".join(known) or "none"
            raise InputError(f"{where}: grader {spec['type']!r} has no option {key!r}; its options: {names}")
        if not isinstance(value, known[key]):
            raise InputError(f"{where}: option {key!r} of grader {spec['type']!r} cannot be {value!r}")
    return options


def chosen_limits(usual: Limits, options: Mapping[str, Any]) -> Limits:
    """The usual limits with those that the options name."""
    return replace(usual, **{name: options[name] for name in LIMIT_OPTIONS if name in options})


def grading_mode(spec: Mapping[str, Any], where: str) -> GradingMode:
    """The mode that a grader's settings name; lenient where they name none. `strict: true` is an old word for exact."""
    mode = spec.get("mode", "exact" if spec.get("strict") else "lenient")
    if mode not in ("exact", "lenient"):
        raise InputError(f"{where}: mode of grader {spec['type']!r} must be exact or lenient, got {mode!r}")
    return "exact" if mode == "exact" else "lenient"


def chosen_evaluator(spec: Mapping[str, Any], where: str) -> Evaluator:
    """The program whose grades exact mode gives; the benchmark's own where the settings name none."""
    evaluator = spec.get("evaluator", "original")
    if evaluator not in ("original", "release"):
        raise InputError(
            f"{where}: evaluator of grader {spec['type']!r} must be original or release, got {evaluator!r}"
        )
    return "release" if evaluator == "release" else "original"
