"""Graders that ask a language model, which answers with one label: `judge` about the answer as a whole, `expectations` about
several things that must hold of it, judged or run one by one."""

from __future__ import annotations

import os
import stat
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from skilldelta.collect.arms import Message
from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.graders.command import Command
from skilldelta.collect.graders.final_answer import without_thoughts
from skilldelta.collect.reply_text import unique_label
from skilldelta.collect.suite import SuiteTask

# Name of the call for the ledger, messages; the judge's text.
AskJudge = Callable[[str, list[Message]], Awaitable[str]]

JUDGE_PROMPT = """\
You grade the answer of an assistant. Judge only whether it is correct.

Task:
{task}

{reference}Answer to grade:
{answer}

Reply with one word: CORRECT or INCORRECT."""

_EXPECTATION_PROMPT = """\
You check one expectation about the work of an assistant. Judge only whether the expectation is met.

Task:
{task}

{reference}Answer of the assistant:
{answer}
{files}
Expectation:
{expectation}

Reply with one word: MET or UNMET."""

# What a judge is shown of the files that an agent left: files, characters of one, and characters of all.
_MOST_FILES = 40
_MOST_FILE_CHARACTERS = 8_000
_MOST_CHARACTERS = 40_000


@dataclass(frozen=True, slots=True)
class Judge:
    """Asks a model; its calls are on the ledger under the grading. A reply without a clear label is a grader error."""

    ask: AskJudge
    prompt: str = JUDGE_PROMPT

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> float:
        reference = f"Correct answer, for comparison:\n{task.answer}\n\n" if task.answer is not None else ""
        text = self.prompt.format(task=task.text, reference=reference, answer=answer)
        return float(await _says(self.ask, "judge", text, task, ("CORRECT", "INCORRECT")))


@dataclass(frozen=True, slots=True)
class Expectations:
    """`success` is `all` (1 if every expectation is met, else 0) or `share` (the part that is met)."""

    ask: AskJudge | None
    command: Callable[[str], Command]
    """The command grader of an expectation that is a command."""
    success: Literal["all", "share"] = "all"

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> float:
        met = [
            await self._is_met(expectation, number, answer, task, workdir)
            for number, expectation in enumerate(task.answer)
        ]
        return float(all(met)) if self.success == "all" else sum(met) / len(met)

    async def _is_met(self, expectation: Any, number: int, answer: str, task: SuiteTask, workdir: Path | None) -> bool:
        if isinstance(expectation, dict):
            return (await self.command(expectation["run"]).grade(answer, task, workdir)).success == 1.0
        if self.ask is None:
            raise GraderError(f"expectation {expectation!r} of task {task.task_id!r} needs a judge model")
        expected = task.metadata.get("expected_output")
        text = _EXPECTATION_PROMPT.format(
            task=task.text,
            reference=f"Expected output, for comparison:\n{expected}\n\n" if expected else "",
            answer=answer,
            files=_shown_files(workdir),
            expectation=expectation,
        )
        return await _says(self.ask, f"expectation-{number}", text, task, ("MET", "UNMET"))


async def _says(ask: AskJudge, what: str, text: str, task: SuiteTask, labels: tuple[str, str]) -> bool:
    """Whether the judge answers with the first of two labels; anything but one of them is a grader error."""
    reply = await ask(f"{task.task_id}/{what}", [Message("user", text)])
    label = unique_label(without_thoughts(reply), labels)
    if label is None:
        raise GraderError(f"the judge gave no clear label on task {task.task_id!r}: {reply[:80]!r}")
    return label == labels[0]


def _shown_files(workdir: Path | None) -> str:
    """The text files of the working copy, as far as they fit; links are not followed, other files are named only."""
    if workdir is None:
        return ""
    parts, left = [], _MOST_CHARACTERS
    for path in _files(workdir):
        text = _text(path)[: min(left, _MOST_FILE_CHARACTERS)]
        left -= len(text)
        parts.append(f"--- {path.relative_to(workdir).as_posix()}\n{text}")
        if len(parts) == _MOST_FILES or left <= 0:
            parts.append("(further files are not shown)")
            break
    return "\nFiles in the working folder:\n" + "\n".join(parts) + "\n" if parts else ""


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
