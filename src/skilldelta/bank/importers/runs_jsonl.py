"""`runs.jsonl`: one execution a line, as the bank itself exports them.

A skip execution without a skill is a baseline for every skill of its task. A run that was not completed is kept and
carries no success, whatever the row says: it is never counted as a failure, and another attempt at the same repetition
may follow it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from pathlib import Path
from typing import cast

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers.draft import Defaults, Draft
from skilldelta.bank.importers.fields import amount, check_columns, shown, success, task_text, whole, word
from skilldelta.bank.importers.source import Place, Row, RowError, json_lines, take_each
from skilldelta.records import CONDITIONS, STATUSES, Condition, Execution, Status

COLUMNS = frozenset(
    [
        "task_id",
        "text",
        "question",
        "family",
        "skill",
        "skill_digest",
        "agent",
        "agent_fingerprint",
        "suite",
        "condition",
        "repetition",
        "success",
        "tokens",
        "seconds",
        "cost_usd",
        "status",
    ]
)
IGNORED = frozenset(("metadata", "source"))


def read(path: Path, defaults: Defaults) -> Batch:
    """The batch of a runs file."""
    draft = Draft(path, defaults)
    counts: Counter[Hashable] = Counter()

    def take(place: Place, row: Row) -> None:
        if not row.keys() <= COLUMNS:
            check_columns(row, COLUMNS, ignored=IGNORED)
        take_run(draft, counts, place, row)

    take_each(path, json_lines(path), take)
    return draft.batch()


def take_run(draft: Draft, counts: Counter[Hashable], place: Place, row: Row) -> None:
    """Record one execution. Without a repetition it is numbered from 0 by its order in the file."""
    suite, task_id = draft.suite(word(row, "suite")), word(row, "task_id")
    draft.task(place, suite, task_id, text=task_text(row), family=word(row, "family"))
    agent = draft.agent(word(row, "agent"), word(row, "agent_fingerprint"))
    condition, status = _condition(row), _status(row)
    skill, digest = _skill(draft, row, condition)
    arm = (suite, task_id, skill, digest, agent.name, agent.fingerprint, condition)
    repetition = whole(row.get("repetition"), "repetition")
    record_run(
        draft,
        place,
        Execution(
            agent=agent,
            suite=suite,
            task_id=task_id,
            condition=condition,
            repetition=counts[arm] if repetition is None else repetition,
            success=_success(row, status),
            skill_id=skill,
            skill_digest=digest,
            tokens=amount(row.get("tokens"), "tokens"),
            seconds=amount(row.get("seconds"), "seconds"),
            cost_usd=amount(row.get("cost_usd"), "cost_usd"),
            status=status,
        ),
    )
    counts[arm] += 1


def record_run(draft: Draft, place: Place, run: Execution) -> None:
    """Add an execution, unless its repetition has an outcome already; attempts without one may be many."""
    if run.success is not None:
        arm = (run.suite, run.task_id, run.skill_id, run.skill_digest, run.agent.name, run.agent.fingerprint)
        draft.once(
            place,
            (arm, run.condition, run.repetition),
            lambda: f"the outcome of task {shown(run.task_id)}, {run.condition!r}, repetition {run.repetition},",
        )
    draft.executions.append(run)


def _condition(row: Row) -> Condition:
    value = row.get("condition")
    if value not in CONDITIONS:
        raise RowError(f'condition must be "use" or "skip", got {shown(value)}; say which arm the run belongs to')
    return cast(Condition, value)


def _status(row: Row) -> Status:
    value = row.get("status")
    if value is None:
        return "completed"
    if value not in STATUSES:
        raise RowError(f"status must be one of {', '.join(STATUSES)}, got {shown(value)}")
    return cast(Status, value)


def _skill(draft: Draft, row: Row, condition: Condition) -> tuple[str, str]:
    """The skill and its version; a skip run that names none stays without, as a baseline shared by all."""
    named, digest = word(row, "skill"), word(row, "skill_digest")
    if condition == "skip" and not named:
        return "", ""
    return draft.skill(named, digest), digest


def _success(row: Row, status: Status) -> float | None:
    """The graded success of a completed run, which may be null where it is not graded; None for every other run."""
    if "success" not in row and status == "completed":
        raise RowError("there is no success; write a number in [0, 1], or null for a run that is not graded")
    value = success(row.get("success"), "success")
    return value if status == "completed" else None
