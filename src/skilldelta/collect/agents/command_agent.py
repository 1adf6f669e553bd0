"""Any command-line agent: one process per execution, in a folder of its own.

The task goes to its stdin or into an argument, the skill into the task's text, into a file of the folder or into further
arguments; in the skip arm that text, file or argument does not exist. The answer is its output, plain or a field of JSON.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from skilldelta.collect.agents.base import Attempt, Outcome, fingerprint
from skilldelta.collect.agents.program_agent import ProgramAgent
from skilldelta.collect.arms import Message
from skilldelta.collect.chat_endpoint import check_model
from skilldelta.collect.execution_errors import IncompleteError
from skilldelta.collect.process import split_words
from skilldelta.collect.workspace import write_below
from skilldelta.endpoint import read_json
from skilldelta.errors import InputError
from skilldelta.records import Agent

# A larger amount of tokens, seconds or dollars is a fault of the program.
_LARGEST_NUMBER = 10**15


@dataclass(frozen=True, slots=True)
class OutputFields:
    """Where a JSON output has what; dotted paths. Token fields are added up."""

    answer: str = "result"
    tokens: tuple[str, ...] = ()
    cost: str = ""
    model: str = ""


@dataclass(slots=True)
class CommandAgent(ProgramAgent):
    """`command` may hold {task}. `skill_as` is `text`, `file:PATH` or `args:…` with {skill}, {skill_file} or {skill_name}."""

    name: str
    command: str
    task_as: Literal["stdin", "argument"] = "stdin"
    skill_as: str = "text"
    output: OutputFields | None = None
    """None: the whole output is the answer."""
    expected_model: str = ""

    def __post_init__(self) -> None:
        self._check_skill_as()
        self.find_program(command_words(self.command)[0])

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "model": self.expected_model,
            "harness": self.version,
            "command": self.command,
            "task_as": self.task_as,
            "skill_as": self.skill_as,
            "output": None if self.output is None else [self.output.answer, list(self.output.tokens), self.output.cost],
        }

    @property
    def identity(self) -> Agent:
        return Agent(self.name, fingerprint(self.settings))

    async def execution(self, attempt: Attempt, workdir: Path) -> Outcome:
        arguments, prompt = self.call(attempt, workdir)
        stdin = prompt if self.task_as == "stdin" else ""
        printed = await self.printed(arguments, stdin, workdir, self.environment, called="the command")
        return self._outcome(printed, stdin or arguments[-1])

    def call(self, attempt: Attempt, workdir: Path) -> tuple[list[str], str]:
        """The argument list and the prompt of one arm; puts the skill's file into the folder where it goes there."""
        use = attempt.planned.condition == "use"
        kind, _, detail = self.skill_as.partition(":")
        text = attempt.question
        prompt = f"{attempt.skill_text}\n\n{text}" if use and kind == "text" else text
        words = [self._program, *command_words(self.command)[1:]]
        extra: list[str] = []
        if use and kind == "file":
            write_below(workdir, _filled(detail, {"skill_name": attempt.planned.task.skill_id}), attempt.skill_text)
        if use and kind == "args":
            skill_file = workdir.parent / "skill.md"
            write_below(workdir.parent, skill_file.name, attempt.skill_text)
            places = {
                "skill": attempt.skill_text,
                "skill_file": str(skill_file),
                "skill_name": attempt.planned.task.skill_id,
            }
            extra = [_filled(word, places) for word in command_words(detail)]
        last = [prompt] if self.task_as == "argument" and "{task}" not in self.command else []
        return [*(_filled(word, {"task": prompt}) for word in words), *extra, *last], prompt

    def _outcome(self, printed: str, prompt: str) -> Outcome:
        messages = (Message("user", prompt),)
        if self.output is None:
            return Outcome(printed.strip(), None, None, messages, printed)
        document = _last_json(printed)
        answer = _at(document, self.output.answer)
        if answer is None:
            raise IncompleteError(f"the command's JSON has no field {self.output.answer!r}: {printed.strip()[:120]!r}")
        counts = [_number(_at(document, path)) for path in self.output.tokens]
        reported = [count for count in counts if count is not None]
        model = _at(document, self.output.model) if self.output.model else None
        if self.expected_model and model:
            check_model(self.expected_model, str(model))
        return Outcome(
            answer=answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False),
            tokens=sum(reported) if reported and len(reported) == len(counts) else None,
            usd=_number(_at(document, self.output.cost)) if self.output.cost else None,
            messages=messages,
            reply=printed,
            details={"model": model} if model else {},
        )

    def _check_skill_as(self) -> None:
        kind, _, detail = self.skill_as.partition(":")
        if self.skill_as == "text":
            return
        if kind == "file" and detail and not Path(detail).is_absolute() and ".." not in Path(detail).parts:
            return
        if kind == "args" and ("{skill}" in detail or "{skill_file}" in detail):
            return
        raise InputError(
            f"the skill can be given as text, as file:PATH inside the working folder, or as "
            f"'args:--option {{skill}}' (or {{skill_file}}), got {self.skill_as!r}"
        )


def command_words(command: str) -> list[str]:
    """The words of a command line; one that cannot be read, or has none, is refused."""
    try:
        words = split_words(command)
    except ValueError as error:
        raise InputError(f"the command {command!r} cannot be read: {error}") from None
    if not words:
        raise InputError("the command is empty; give the program that runs the agent")
    return words


def _filled(word: str, places: Mapping[str, str]) -> str:
    """Placeholders by their values, in one pass: braces inside a value stay as they are."""
    return re.sub(r"\{(\w+)\}", lambda match: places.get(match[1], match[0]), word)


def _last_json(printed: str) -> Any:
    """The whole output as JSON, else its last line that is: agents often print events before their result."""
    for text in (printed, *reversed(printed.strip().splitlines())):
        with contextlib.suppress(ValueError):
            return read_json(text)
    raise IncompleteError(f"the command printed no JSON: {printed.strip()[:120]!r}")


def _at(document: Any, path: str) -> Any:
    for part in path.split("."):
        if isinstance(document, list) and part.lstrip("-").isdigit():
            document = document[int(part)] if -len(document) <= int(part) < len(document) else None
        else:
            document = document.get(part) if isinstance(document, dict) else None
    return document


def _number(value: Any) -> float | None:
    """A finite number of at least 0; anything else is unknown."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < _LARGEST_NUMBER:
        return None
    return float(value)
