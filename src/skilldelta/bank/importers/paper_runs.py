"""The paper authors' native run files: one line for each task, arm and repetition.

Two arms make a pair: `no_skill` is skip, and `oracle_skill` or `all_gold_skills` is use; the runs of other arms are
counted in a note and left out. A run counts when it is `valid` or its model execution completed. A run whose `correct`
is null is not graded yet and is left out, so that the evaluated file can be imported later.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers.draft import Defaults, Draft
from skilldelta.bank.importers.fields import amount, shown, success, task_text, whole, word
from skilldelta.bank.importers.source import Place, Row, RowError, json_lines, take_each
from skilldelta.records import Agent, Condition, Execution, Status

ARMS: dict[str, Condition] = {"no_skill": "skip", "oracle_skill": "use", "all_gold_skills": "use"}

_Key = tuple[Agent, str, str, Condition, str, int]


@dataclass(slots=True)
class _Runs:
    """The runs read so far, and what was left out."""

    draft: Draft
    kept: dict[_Key, Execution] = field(default_factory=dict)
    other_arms: Counter[str] = field(default_factory=Counter)
    ungraded: int = 0
    repeated: int = 0

    def take(self, place: Place, row: Row) -> None:
        arm = word(row, "arm")
        if not arm:
            raise RowError(f"there is no arm; known are {', '.join(ARMS)}")
        if arm not in ARMS:
            self.other_arms[arm] += 1
            return
        execution = _execution(self.draft, place, row, ARMS[arm])
        if execution.status == "completed" and execution.success is None:
            self.ungraded += 1
        else:
            self._keep(execution)

    def _keep(self, execution: Execution) -> None:
        """A run that failed to complete gives way to another attempt at it; two that completed contradict."""
        key = _key(execution)
        known = self.kept.get(key)
        if known is None or known.status != "completed":
            self.repeated += known is not None
            self.kept[key] = execution
        elif execution.status != "completed":
            self.repeated += 1
        else:
            raise RowError(
                f"repetition {execution.repetition} of task {shown(execution.task_id)} under "
                f"{execution.condition!r} was completed in an earlier line; keep one of the two"
            )

    def notes(self) -> list[str]:
        arms = ", ".join(f"{shown(arm)} ({count})" for arm, count in sorted(self.other_arms.items()))
        return [
            note
            for count, note in (
                (len(self.other_arms), f"left out {self.other_arms.total()} runs of other arms: {arms[:300]}"),
                (self.ungraded, f"left out {self.ungraded} runs that are not graded yet (correct is null)"),
                (self.repeated, f"left out {self.repeated} attempts that were repeated"),
            )
            if count
        ]


def read(path: Path, defaults: Defaults) -> Batch:
    """The batch of a native run file."""
    draft = Draft(path, defaults)
    runs = _Runs(draft)
    take_each(path, json_lines(path), runs.take)
    draft.executions.extend(runs.kept.values())
    draft.notes.extend(runs.notes())
    return draft.batch(text_from_id=True)


def _key(run: Execution) -> _Key:
    return (run.agent, run.suite, run.task_id, run.condition, run.skill_id, run.repetition)


def _execution(draft: Draft, place: Place, row: Row, condition: Condition) -> Execution:
    suite, task_id = draft.suite(word(row, "dataset")), word(row, "instance_id")
    supplied = _supplied(row)
    draft.task(place, suite, task_id, text=task_text(row), family=word(row, "family") or supplied)
    status = _status(row)
    return Execution(
        agent=draft.agent(draft.defaults.agent or _model(row)),
        suite=suite,
        task_id=task_id,
        condition=condition,
        repetition=whole(row.get("repetition"), "repetition") or 0,
        success=success(row.get("correct"), "correct") if status == "completed" else None,
        skill_id="" if condition == "skip" else draft.skill(_names(row, "treatment_skill_id") or supplied),
        tokens=_tokens(row.get("usage")),
        status=status,
    )


def _supplied(row: Row) -> str:
    """The skill that the benchmark annotates for the task: its family, and what the use arm is given."""
    return _names(row, "gold_skill_id") or _names(row, "skill_id")


def _names(row: Row, name: str) -> str:
    """A skill, or a bundle of several joined by "+"."""
    value = row.get(name)
    if isinstance(value, list):
        return "+".join(word({name: part}, name) for part in value)
    return word(row, name)


def _model(row: Row) -> str:
    return word(row, "requested_model") or word(row, "returned_model") or _names(row, "returned_models")


def _status(row: Row) -> Status:
    marks = [_mark(row, name) for name in ("valid", "model_execution_completed")]
    if True in marks:
        return "completed"
    if marks == [None, None]:
        raise RowError('there is neither "valid" nor "model_execution_completed"; say whether the run counts')
    return "transport_error" if row.get("error") else "incomplete"


def _mark(row: Row, name: str) -> bool | None:
    value = row.get(name)
    if value is None or isinstance(value, bool):
        return value
    raise RowError(f"{name} must be true or false, got {shown(value)}")


def _tokens(usage: Any) -> float | None:
    """All tokens of a run: the total where it is given, else the sum of both parts."""
    if usage is None:
        return None
    if not isinstance(usage, dict):
        raise RowError(f"usage must be an object, got {shown(usage)}; write null where it is unknown")
    total = amount(usage.get("total_tokens"), "usage.total_tokens")
    parts = [amount(usage.get(name), f"usage.{name}") for name in ("prompt_tokens", "completion_tokens")]
    if total is None and None not in parts:
        total = sum(part for part in parts if part is not None)
    return total
