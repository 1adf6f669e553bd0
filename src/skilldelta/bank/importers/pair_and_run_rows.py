"""One row of a table or a file of rows into the draft: a pair as in `pairs.jsonl`, or a run as in `runs.jsonl`.

A pair has the successes of both arms as lists. Its skip executions carry the pair's skill: they are the baseline of that
pair and of no other. A pair that stands in several rows was run several times.

A run is one execution, as the bank itself exports them. A skip execution without a skill is a baseline for every skill of
its task. A run that was not completed is kept and carries no success, whatever the row says: it is never counted as a
failure, and another attempt at the same repetition may follow it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import cast

from skilldelta.bank.importers import fields
from skilldelta.bank.importers.draft import Draft
from skilldelta.bank.importers.source import Row, RowError
from skilldelta.bank.importers.vocabulary import condition_of
from skilldelta.errors import shown
from skilldelta.files import Place
from skilldelta.records import CONDITIONS, LISTED, STATUSES, Agent, Condition, Execution, Status


def take_pair(draft: Draft, place: Place, row: Row) -> None:
    """Record one pair: its task, its skill, one execution for each repetition of each arm."""
    suite, task_id, agent = _task_and_agent(draft, place, row)
    digest = fields.word(row, "skill_digest")
    skill = draft.skill(fields.skill_name(row), digest)
    key = (suite, task_id, skill, digest, agent.name, agent.fingerprint)
    skip, use = _arms(draft, row)
    said = row.get("repetition")
    first = draft.first_repetition(key) if said is None else _said_repetition(draft, place, key, said, (skip, use))
    executions = [
        Execution(
            agent=agent,
            suite=suite,
            task_id=task_id,
            condition=condition,
            repetition=repetition,
            success=success,
            skill_id=skill,
            skill_digest=digest,
            tokens=tokens,
        )
        for condition, runs in zip(CONDITIONS, (skip, use), strict=True)
        for repetition, (success, tokens) in enumerate(zip(runs.successes, runs.tokens, strict=True), first)
        if success is not None
    ]
    draft.take_repetitions(key, executions)


def _arms(draft: Draft, row: Row) -> tuple[fields.ArmRuns, fields.ArmRuns]:
    """The runs without and with the skill."""
    count0 = count1 = draft.defaults.repetitions
    if "repetitions" in row or "r0" in row or "r1" in row:
        count0, count1 = fields.repetition_count(row, "r0", count0), fields.repetition_count(row, "r1", count1)
    skip, use = fields.arm(row, "y0", "tokens0", count0), fields.arm(row, "y1", "tokens1", count1)
    for remark in (skip.remark, use.remark):
        if remark:
            draft.count(remark)
    return skip, use


def _said_repetition(
    draft: Draft, place: Place, key: tuple[str, ...], value: object, arms: tuple[fields.ArmRuns, fields.ArmRuns]
) -> int:
    """Repetitions are numbered in file order, unless the row says which one it is."""
    number = fields.whole(value, "repetition")
    if number is None:
        return draft.first_repetition(key)
    length = max(len(runs.successes) for runs in arms)
    if length > 1:
        raise RowError(f"repetition {number} stands beside {length} successes; leave it out with --map repetition=")
    draft.once(
        place,
        (key, number),
        lambda at: (
            f"repetition {number} of task {shown(key[1])} stands at {at} already; give each its own number, or say "
            "--map repetition= to number them in order"
        ),
    )
    return number


def take_run(draft: Draft, counts: Counter[Hashable], place: Place, row: Row) -> None:
    """Record one execution. Without a repetition it is numbered from 0 by its order in the file."""
    suite, task_id, agent = _task_and_agent(draft, place, row)
    condition, status = _condition(draft, row), _status(row)
    skill, digest = _skill(draft, row, condition)
    arm = (suite, task_id, skill, digest, agent.name, agent.fingerprint, condition)
    repetition = fields.whole(row.get("repetition"), "repetition")
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
            tokens=fields.amount(row.get("tokens"), "tokens"),
            seconds=fields.amount(row.get("seconds"), "seconds"),
            cost_usd=fields.amount(row.get("cost_usd"), "cost_usd"),
            status=status,
            loaded=_loaded(row) if condition == LISTED else None,
        ),
    )
    counts[arm] += 1


def _task_and_agent(draft: Draft, place: Place, row: Row) -> tuple[str, str, Agent]:
    """The suite and id of a row's task, which is recorded, and the agent."""
    suite, task_id = draft.suite(fields.word(row, "suite")), fields.word(row, "task_id")
    draft.task(place, suite, task_id, text=fields.task_text(row), family=fields.word(row, "family"))
    return suite, task_id, draft.agent(fields.word(row, "agent"), fields.word(row, "agent_fingerprint"))


def record_run(draft: Draft, place: Place, run: Execution) -> None:
    """Add an execution, unless its repetition has an outcome already; attempts without one may be many."""
    if run.success is not None:
        arm = (run.suite, run.task_id, run.skill_id, run.skill_digest, run.agent.name, run.agent.fingerprint)
        draft.once(
            place,
            (arm, run.condition, run.repetition),
            lambda at: (
                f"the outcome of task {shown(run.task_id)}, {run.condition!r}, repetition {run.repetition}, stands at "
                f"{at} already; give each run a repetition of its own, or say --map repetition= to number them in order"
            ),
        )
    (draft.listed if run.condition == LISTED else draft.executions).append(run)


def _condition(draft: Draft, row: Row) -> Condition:
    value = row.get("condition")
    if value in (*CONDITIONS, LISTED):
        return cast(Condition, value)
    condition = draft.defaults.condition if value is None else condition_of(value)
    if condition is None:
        raise RowError(
            f'condition must be "use" or "skip" (with or without, treatment or control), or "listed", got {shown(value)}; '
            "say which arm the run belongs to"
        )
    if value is not None:
        draft.read_as(f"condition {shown(value)}", condition)
    return condition


def _status(row: Row) -> Status:
    value = row.get("status")
    if value is None:
        return "completed"
    if value not in STATUSES:
        raise RowError(f"status must be one of {', '.join(STATUSES)}, got {shown(value)}")
    return cast(Status, value)


def _skill(draft: Draft, row: Row, condition: Condition) -> tuple[str, str]:
    """The skill and its version; a skip run that names none stays without, as a baseline shared by all."""
    name, digest = fields.skill_name(row), fields.word(row, "skill_digest")
    if condition == "skip" and not name:
        return "", ""
    return draft.skill(name, digest), digest


def _loaded(row: Row) -> bool | None:
    """Whether the model loaded the skill that it was offered."""
    value = row.get("loaded")
    if value is None or isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word not in ("true", "false", "1", "0"):
        raise RowError(f"loaded must be true or false, got {shown(value)}; leave it out where it is not known")
    return word in ("true", "1")


def _success(row: Row, status: Status) -> float | None:
    """The graded success of a completed run, which may be null where it is not graded; None for every other run."""
    if "success" not in row and status == "completed":
        raise RowError("there is no success; write a number in [0, 1], or null for a run that is not graded")
    value = fields.success(row.get("success"), "success")
    return value if status == "completed" else None
