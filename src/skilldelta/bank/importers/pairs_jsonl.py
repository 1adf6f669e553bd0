"""`pairs.jsonl`: one task per line, with the successes of both arms as lists.

The skip executions carry the pair's skill: they are the baseline of that pair and of no other. A pair that stands in
several rows was run several times.
"""

from __future__ import annotations

from skilldelta.bank.importers.draft import Draft
from skilldelta.bank.importers.fields import ArmRuns, arm, repetition_count, skill_name, task_text, whole, word
from skilldelta.bank.importers.source import Row, RowError
from skilldelta.errors import shown
from skilldelta.files import Place
from skilldelta.records import CONDITIONS, Execution


def take_pair(draft: Draft, place: Place, row: Row) -> None:
    """Record one pair: its task, its skill, one execution for each repetition of each arm."""
    suite, task_id = draft.suite(word(row, "suite")), word(row, "task_id")
    draft.task(place, suite, task_id, text=task_text(row), family=word(row, "family"))
    agent = draft.agent(word(row, "agent"), word(row, "agent_fingerprint"))
    digest = word(row, "skill_digest")
    skill = draft.skill(skill_name(row), digest)
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


def _arms(draft: Draft, row: Row) -> tuple[ArmRuns, ArmRuns]:
    """The runs without and with the skill."""
    count0 = count1 = draft.defaults.repetitions
    if "repetitions" in row or "r0" in row or "r1" in row:
        count0, count1 = repetition_count(row, "r0", count0), repetition_count(row, "r1", count1)
    skip, use = arm(row, "y0", "tokens0", count0), arm(row, "y1", "tokens1", count1)
    for remark in (skip.remark, use.remark):
        if remark:
            draft.count(remark)
    return skip, use


def _said_repetition(
    draft: Draft, place: Place, key: tuple[str, ...], value: object, arms: tuple[ArmRuns, ArmRuns]
) -> int:
    """Repetitions are numbered in file order, unless the row says which one it is."""
    said = whole(value, "repetition")
    if said is None:
        return draft.first_repetition(key)
    length = max(len(runs.successes) for runs in arms)
    if length > 1:
        raise RowError(f"repetition {said} stands beside {length} successes; leave it out with --map repetition=")
    draft.once(
        place,
        (key, said),
        lambda at: (
            f"repetition {said} of task {shown(key[1])} stands at {at} already; give each its own number, or say "
            "--map repetition= to number them in order"
        ),
    )
    return said
