"""Any scorer of Inspect AI as a grader: one of its own by name, or `file.py@name`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.graders.function import load_function
from skilldelta.collect.suite import SuiteTask
from skilldelta.errors import InputError, MissingExtraError


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
            target=Target([str(one) for one in targets]),
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


def load_scorer(reference: str, arguments: Mapping[str, Any], folder: Path, where: str) -> InspectScorer:
    """A scorer by registered name, or from a file of the suite."""
    try:
        from inspect_ai import scorer as scorers
    except ImportError:
        raise MissingExtraError("an Inspect scorer", "collect") from None
    made: Any
    if "@" in reference:
        made = load_function(reference.replace("@", ":"), folder, where)
    else:
        made = getattr(scorers, reference, None)
    if not callable(made):
        raise InputError(f"{where}: Inspect AI has no scorer {reference!r}; give its name, or 'file.py@name'")
    return InspectScorer(made(**arguments), reference)
