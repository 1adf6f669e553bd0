"""The expectations grader: several things that must hold of one answer, judged or run one by one."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from skilldelta.collect.arms import Message
from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.graders.command import Command
from skilldelta.collect.graders.judge import AskJudge
from skilldelta.collect.labels import unique_label
from skilldelta.collect.suite import SuiteTask

PROMPT = """\
You check one expectation about the work of an assistant. Judge only whether the expectation is met.

Task:
{task}

{reference}Answer of the assistant:
{answer}
{files}
Expectation:
{expectation}

Reply with one word: MET or UNMET."""

_MOST_FILES = 40
_MOST_FILE_CHARACTERS = 8_000
_MOST_CHARACTERS = 40_000


@dataclass(frozen=True, slots=True)
class Expectations:
    """`success` is `all` (1 if every expectation is met, else 0) or `share` (the part that is met)."""

    ask: AskJudge | None
    command: Callable[[str], Command]
    """The command grader of an expectation that is a command."""
    success: Literal["all", "share"] = "all"

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> float:
        met = [await self._is_met(one, number, answer, task, workdir) for number, one in enumerate(task.answer)]
        return float(all(met)) if self.success == "all" else sum(met) / len(met)

    async def _is_met(self, one: Any, number: int, answer: str, task: SuiteTask, workdir: Path | None) -> bool:
        if isinstance(one, dict):
            return await self.command(one["run"]).grade(answer, task, workdir) == 1.0
        if self.ask is None:
            raise GraderError(f"expectation {one!r} of task {task.task_id!r} needs a judge model")
        expected = task.metadata.get("expected_output")
        text = PROMPT.format(
            task=task.text,
            reference=f"Expected output, for comparison:\n{expected}\n\n" if expected else "",
            answer=answer,
            files=_shown_files(workdir),
            expectation=one,
        )
        reply = await self.ask(f"{task.task_id}/expectation-{number}", [Message("user", text)])
        label = unique_label(reply, ("MET", "UNMET"))
        if label is None:
            raise GraderError(f"the judge gave no clear label on task {task.task_id!r}: {reply[:80]!r}")
        return label == "MET"


def _shown_files(workdir: Path | None) -> str:
    """The text files of the working copy, as far as they fit; links are not followed, other files are named only."""
    if workdir is None:
        return ""
    shown, left = [], _MOST_CHARACTERS
    for path in _files(workdir):
        text = _text(path)[: min(left, _MOST_FILE_CHARACTERS)]
        left -= len(text)
        shown.append(f"--- {path.relative_to(workdir).as_posix()}\n{text}")
        if len(shown) == _MOST_FILES or left <= 0:
            shown.append("(further files are not shown)")
            break
    return "\nFiles in the working folder:\n" + "\n".join(shown) + "\n" if shown else ""


def _files(workdir: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(workdir, followlinks=False):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(folder) / name for name in sorted(names) if not name.startswith("."))


def _text(path: Path) -> str:
    """The beginning of a plain file; an agent may leave pipes, links and devices behind, which are not opened."""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(file, "rb") as stream:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                return "(not a plain file)"
            content = stream.read(4 * _MOST_FILE_CHARACTERS)
    except OSError:
        return "(cannot be read)"
    return "(not a text)" if b"\0" in content else content.decode("utf-8", errors="replace")
