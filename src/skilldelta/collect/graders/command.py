"""The command grader: the exit code of a command in the execution's own working copy, inside the sandbox.

The agent owns that working copy, and a command often runs the agent's code: both can make it end with 0. Two things that a
suite can give close this. `tests` is a folder that is laid over the working copy when grading begins, so that the agent has
neither seen nor changed what is in it; an answer that then succeeds only with files which the agent added, and which Python or
pytest load by themselves, is suspect. `canary` is a command that must fail for every honest answer, such as the same tests
with other expected values: an answer that passes it as well is suspect.
"""

from __future__ import annotations

import os
import re
import shlex
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.graders.base import Graded, GradingMode
from skilldelta.collect.own_thread import in_own_thread
from skilldelta.collect.process import Finished
from skilldelta.collect.sandbox import Limits, Payload, Sandbox
from skilldelta.collect.suite import SuiteTask
from skilldelta.collect.workspace import check_inside, intact, lay_over, remove_below, temporary_folder, write_below

COMMAND_LIMITS = Limits(seconds=60.0, memory_mb=2048, disk_mb=2048)
# How a shell ends when a command is missing or not executable, and how any script may choose to end.
_CANNOT_RUN = (126, 127)
# What Python and pytest load although no command names it, and the modules of test runners, which a file would shadow.
_LOADED_UNASKED = frozenset(["conftest.py", "sitecustomize.py", "usercustomize.py", "pytest.ini", ".pytest.ini"])
_RUNNERS = frozenset(
    ["_pytest", "argparse", "difflib", "doctest", "iniconfig", "pluggy", "pytest", "signal", "traceback", "unittest"]
)


@dataclass(frozen=True, slots=True)
class Command:
    """Writes the answer to a file of the working copy and runs a command there; exit code 0 is success."""

    run: str
    sandbox: Sandbox
    answer_file: str = "answer.txt"
    limits: Limits = COMMAND_LIMITS
    tests: Path | None = None
    """A folder that is laid over the working copy when grading begins."""
    canary: str = ""
    """A command that ends with another exit code than 0 for every honest answer."""
    mode: GradingMode = "lenient"
    """`exact` keeps the success of a suspect answer, with the suspicion beside it."""

    def __post_init__(self) -> None:
        check_inside(self.answer_file, "answer_file of the command grader")

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> Graded:
        async with temporary_folder() if workdir is None else nullcontext(workdir) as place:
            finished = await self._run(self.run, answer, place)
            if finished is None:
                return Graded(0.0, "the working folder is gone")
            if finished.exit_code in _CANNOT_RUN:
                await self._check_programs(task)
            if finished.exit_code != 0:
                return Graded(0.0)
            suspicion = await self._suspicion(answer, task, place)
        if suspicion:
            return Graded(float(self.mode == "exact"), f"suspect: the command succeeded, but {suspicion}")
        return Graded(1.0)

    async def _suspicion(self, answer: str, task: SuiteTask, place: Path) -> str:
        """Why a success cannot be trusted; empty where nothing speaks against it."""
        if self.canary:
            finished = await self._run(self.canary, answer, place)
            if finished is None:
                return "the working folder is gone"
            if finished.exit_code in _CANNOT_RUN:
                raise GraderError(f"the canary of task {task.task_id!r} cannot be run: {self.canary!r}")
            if finished.exit_code == 0:
                return "so did the canary, which must fail"
        planted = await in_own_thread(self._planted, place, task, name="planted files") if self.tests else []
        if planted:
            for name in planted:
                remove_below(place, name)
            finished = await self._run(self.run, answer, place)
            if finished is None or finished.exit_code != 0:
                return f"only with {planted[0]}, which the agent added and no command names"
        return ""

    def _planted(self, place: Path, task: SuiteTask) -> list[str]:
        """Files of the agent that are loaded unasked; those of the suite and the answer itself are none."""
        usual = {self.answer_file}
        for folder in (task.files, self.tests):
            usual |= {path.relative_to(folder).as_posix() for path in folder.rglob("*")} if folder else set()
        planted = []
        for here, folders, names in os.walk(place):
            for name in (*names, *folders):
                path = (Path(here) / name).relative_to(place).as_posix()
                shadows = path == name and name.partition(".")[0] in _RUNNERS
                if (name in _LOADED_UNASKED or shadows) and path not in usual:
                    planted.append(path)
        return sorted(planted)

    async def _run(self, command: str, answer: str, place: Path) -> Finished | None:
        """The command with answer and tests as they should be; None where the agent has removed the place."""
        if not intact(place):
            return None
        write_below(place, self.answer_file, answer)
        if self.tests is not None:
            await in_own_thread(lay_over, place, self.tests, name="tests")
        return await self.sandbox.run(Payload(["/bin/sh", "-c", command], self.limits, workdir=place))

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
