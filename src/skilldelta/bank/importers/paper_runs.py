"""The paper authors' native run files: one line for each task, arm and repetition.

Two arms make a pair: `no_skill` is skip, and `oracle_skill` or `all_gold_skills` is use; the runs of other arms are
counted in a note and left out. A run is completed when it is `valid` or its model execution completed. A completed run
whose `correct` is null is not graded yet: it is kept, not counted, and the evaluated file may follow.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers.draft import Defaults, Draft
from skilldelta.bank.importers.fields import amount, skill_name, success, task_text, whole, word
from skilldelta.bank.importers.pair_and_run_rows import record_run
from skilldelta.bank.importers.source import Row, RowError, Source, json_lines, take_each
from skilldelta.errors import shown
from skilldelta.files import Place
from skilldelta.nouns import plural
from skilldelta.records import Condition, Execution, Status

ARMS: dict[str, Condition] = {"no_skill": "skip", "oracle_skill": "use", "all_gold_skills": "use"}


def read(source: Source, defaults: Defaults) -> Batch:
    """The batch of a native run file."""
    draft = Draft(source.path, defaults)
    others: Counter[str] = Counter()

    def take(place: Place, row: Row) -> None:
        arm = word(row, "arm")
        if not arm:
            raise RowError(f"there is no arm; known are {', '.join(ARMS)}")
        if arm in ARMS:
            record_run(draft, place, _execution(draft, place, row, ARMS[arm]))
        else:
            others[arm] += 1

    take_each(source.path, json_lines(source), take)
    _add_notes(draft, others)
    return draft.batch(text_from_id=True)


def _add_notes(draft: Draft, others: Counter[str]) -> None:
    if others:
        arms = ", ".join(f"{shown(arm)} ({count})" for arm, count in sorted(others.items()))
        draft.notes.append(f"left out {plural(others.total(), 'run')} of other arms: {arms[:300]}")
    ungraded = sum(run.status == "completed" and run.success is None for run in draft.executions)
    if ungraded:
        verbs = "run is not graded (correct is null) and does", "runs are not graded (correct is null) and do"
        draft.notes.append(f"{plural(ungraded, *verbs)} not count")


def _execution(draft: Draft, place: Place, row: Row, condition: Condition) -> Execution:
    suite, task_id = draft.suite(word(row, "dataset")), word(row, "instance_id")
    draft.task(place, suite, task_id, text=task_text(row), family=_focal(row))
    status = _status(row)
    return Execution(
        agent=draft.agent(draft.defaults.agent or _model(row)),
        suite=suite,
        task_id=task_id,
        condition=condition,
        repetition=whole(row.get("repetition"), "repetition") or 0,
        success=success(row.get("correct"), "correct") if status == "completed" else None,
        skill_id="" if condition == "skip" else draft.skill(skill_name(row, "treatment_skill_id") or _supplied(row)),
        tokens=_tokens(row.get("usage")),
        status=status,
    )


def _supplied(row: Row) -> str:
    """The skill that the benchmark annotates for the task: its family, and what the use arm is given."""
    return skill_name(row, "gold_skill_id") or skill_name(row, "skill_id")


def _focal(row: Row) -> str:
    """The family of a task: the recorded one, else its focal skill, else the supplied skill or the whole bundle."""
    for name in ("family", "focal_skill_id", "focal_skill"):
        if skill := word(row, name):
            return skill
    return _supplied(row)


def _model(row: Row) -> str:
    models = row.get("returned_models")
    several = (
        "+".join(word({"returned_models": model}, "returned_models") for model in models)
        if isinstance(models, list)
        else ""
    )
    return word(row, "requested_model") or word(row, "returned_model") or several or word(row, "returned_models")


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
