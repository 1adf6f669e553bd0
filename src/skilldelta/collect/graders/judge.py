"""The judge grader: a language model says whether an answer is correct, with one label."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from skilldelta.collect.arms import Message
from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.labels import unique_label
from skilldelta.collect.suite import SuiteTask

AskJudge = Callable[[str, list[Message]], Awaitable[str]]
"""Name of the call for the ledger, messages; the judge's text."""

PROMPT = """\
You grade the answer of an assistant. Judge only whether it is correct.

Task:
{task}

{reference}Answer to grade:
{answer}

Reply with one word: CORRECT or INCORRECT."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Asks a model; its calls are on the ledger under the grading. A reply without a clear label is a grader error."""

    ask: AskJudge
    prompt: str = PROMPT

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> float:
        reference = f"Correct answer, for comparison:\n{task.answer}\n\n" if task.answer is not None else ""
        text = self.prompt.format(task=task.text, reference=reference, answer=answer)
        reply = await self.ask(f"{task.task_id}/judge", [Message("user", text)])
        label = unique_label(reply, ("CORRECT", "INCORRECT"))
        if label is None:
            raise GraderError(f"the judge gave no clear label on task {task.task_id!r}: {reply[:80]!r}")
        return float(label == "CORRECT")
