"""The python grader: a function of the suite's author, given as `file.py:name`.

The function belongs to the suite, so it runs here. Code that the agent wrote does not: use the command grader for it.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.own_thread import in_own_thread
from skilldelta.collect.suite import SuiteTask
from skilldelta.errors import InputError


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
