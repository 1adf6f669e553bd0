"""Graders from outside: a function of the suite's author, given as `file.py:name`, and any scorer of Inspect AI.

They belong to the suite, so they run here. Code that the agent wrote does not: use the command grader for it.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.own_thread import in_own_thread
from skilldelta.collect.suite import SuiteTask
from skilldelta.errors import InputError, MissingExtraError


@dataclass(frozen=True, slots=True)
class Function:
    """Calls `name(answer, task)`, where task is the line of tasks.jsonl as a dict; it returns a bool or a number."""

    function: Callable[[str, dict[str, Any]], Any]
    name: str
    seconds: float = 60.0

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> float:
        row = {
            "task_id": task.task_id,
            "text": task.text,
            "family": task.family,
            "skill": task.skill_id,
            "answer": task.answer,
            "metadata": dict(task.metadata),
            "workdir": str(workdir) if workdir else None,
        }
        try:
            async with asyncio.timeout(self.seconds):
                success = await in_own_thread(self.function, answer, row, name="grader")
        except TimeoutError:
            raise GraderError(
                f"grader {self.name} took more than {self.seconds:g} s on task {task.task_id!r}"
            ) from None
        if isinstance(success, bool | int | float) and 0 <= float(success) <= 1:
            return float(success)
        raise GraderError(f"grader {self.name} returned {success!r}; expected a bool or a number between 0 and 1")


@dataclass(frozen=True, slots=True)
class InspectScorer:
    """Shows the answer to the scorer as the completion of a finished conversation."""

    scorer: Any
    name: str

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> float:
        from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelName, ModelOutput
        from inspect_ai.scorer import Target, value_to_float
        from inspect_ai.solver import TaskState

        targets = task.answer if isinstance(task.answer, list) else [task.answer]
        state = TaskState(
            model=ModelName("none/none"),
            sample_id=task.task_id,
            epoch=1,
            input=task.text,
            messages=[ChatMessageUser(content=task.text), ChatMessageAssistant(content=answer)],
            target=Target([str(text) for text in targets]),
            output=ModelOutput.from_content("none", answer),
            completed=True,
            metadata=dict(task.metadata),
        )
        score = await self.scorer(state, state.target)
        if score is None:
            raise GraderError(f"the scorer {self.name} gave no score on task {task.task_id!r}")
        value = float(value_to_float()(score.value))
        if not 0 <= value <= 1:
            raise GraderError(f"the scorer {self.name} gave {score.value!r}; expected a score between 0 and 1")
        return value


def load_function(reference: str, folder: Path, where: str) -> Callable[[str, dict[str, Any]], Any]:
    """The function behind `file.py:name`, the file relative to the suite."""
    file, _, name = reference.partition(":")
    path = folder / file
    if not name or not path.is_file():
        raise InputError(f"{where}: function must be 'file.py:name' with a file in {folder}, got {reference!r}")
    spec = importlib.util.spec_from_file_location(f"skilldelta_suite_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(f"{where}: {path} cannot be imported: {type(error).__name__}: {error}") from None
    function = getattr(module, name, None)
    if not callable(function):
        raise InputError(f"{where}: {path} has no function {name!r}")
    return function  # type: ignore[no-any-return]


def load_scorer(reference: str, arguments: Mapping[str, Any], folder: Path, where: str) -> InspectScorer:
    """A scorer by registered name, or from a file of the suite."""
    try:
        from inspect_ai import scorer as scorers
    except ImportError:
        raise MissingExtraError("an Inspect scorer", "collect") from None
    from_file = "@" in reference
    scorer: Any = (
        load_function(reference.replace("@", ":"), folder, where) if from_file else getattr(scorers, reference, None)
    )
    if not callable(scorer):
        raise InputError(f"{where}: Inspect AI has no scorer {reference!r}; give its name, or 'file.py@name'")
    return InspectScorer(scorer(**arguments), reference)
