"""The command grader: the exit code of a command in the execution's own working copy, inside the sandbox."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from skilldelta.collect.failures import GraderError
from skilldelta.collect.sandbox import Limits, Sandbox
from skilldelta.collect.suite import SuiteTask

_LIMITS = Limits(seconds=60.0, memory_mb=2048)


@dataclass(frozen=True, slots=True)
class Command:
    """Writes the answer to a file of the working copy and runs a command there; exit code 0 is success."""

    run: str
    sandbox: Sandbox
    answer_file: str = "answer.txt"
    limits: Limits = _LIMITS

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> float:
        if workdir is not None:
            return await self._grade_in(workdir, answer, task)
        with tempfile.TemporaryDirectory(prefix="skilldelta-") as place:
            return await self._grade_in(Path(place), answer, task)

    async def _grade_in(self, place: Path, answer: str, task: SuiteTask) -> float:
        target = place / self.answer_file
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(answer, encoding="utf-8")
        finished = await self.sandbox.run(["/bin/sh", "-c", self.run], limits=self.limits, workdir=place)
        if finished.exit_code in (126, 127):
            said = " ".join(finished.stderr.split())[:200]
            raise GraderError(f"the grading command of task {task.task_id!r} cannot be run: {said}")
        return float(finished.exit_code == 0)
