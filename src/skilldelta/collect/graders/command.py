"""The command grader: the exit code of a command in the execution's own working copy, inside the sandbox."""

from __future__ import annotations

import re
import shlex
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.sandbox import Limits, Payload, Sandbox
from skilldelta.collect.suite import SuiteTask
from skilldelta.collect.workspace import check_inside, intact, temporary_folder, write_below

COMMAND_LIMITS = Limits(seconds=60.0, memory_mb=2048, disk_mb=2048)
# How a shell ends when a command is missing or not executable, and how any script may choose to end.
_CANNOT_RUN = (126, 127)


@dataclass(frozen=True, slots=True)
class Command:
    """Writes the answer to a file of the working copy and runs a command there; exit code 0 is success."""

    run: str
    sandbox: Sandbox
    answer_file: str = "answer.txt"
    limits: Limits = COMMAND_LIMITS

    def __post_init__(self) -> None:
        check_inside(self.answer_file, "answer_file of the command grader")

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> float:
        async with temporary_folder() if workdir is None else nullcontext(workdir) as place:
            if not intact(place):
                return 0.0
            write_below(place, self.answer_file, answer)
            finished = await self.sandbox.run(Payload(["/bin/sh", "-c", self.run], self.limits, workdir=place))
            if finished.exit_code in _CANNOT_RUN:
                await self._check_programs(task)
            return float(finished.exit_code == 0)

    async def _check_programs(self, task: SuiteTask) -> None:
        """Where the answer is not at hand, a program that is missing is the suite's mistake and not the agent's."""
        for program in _programs(self.run):
            question = ["/bin/sh", "-c", 'command -v -- "$1"', "sh", program]
            finished = await self.sandbox.run(Payload(question, self.limits))
            if finished.exit_code != 0 and not finished.stopped:
                raise GraderError(
                    f"the grading command of task {task.task_id!r} cannot be run: "
                    f"{program!r} is not in the sandbox {self.sandbox.name}"
                )


def _programs(run: str) -> list[str]:
    """The programs that a shell command names, without those of the working copy, which the agent answers for."""
    words = shlex.shlex(run, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    programs: dict[str, None] = {}
    at_start = True
    try:
        for word in words:
            if set(word) <= set("();<>|&"):
                at_start = not set(word) & set("<>")
            elif at_start and not re.match(r"\w+=", word):
                at_start = False
                if re.fullmatch(r"/?[\w.+-][\w./+-]*", word) and (word.startswith("/") or "/" not in word):
                    programs[word] = None
    except ValueError:  # a quote without its end: the shell's to complain about
        return []
    return list(programs)
