"""`pairs.jsonl`: one task per line, with the successes of both arms as lists.

The skip executions carry the pair's skill: they are the baseline of that pair and of no other. A pair that stands in
several rows was run several times.
"""

from __future__ import annotations

from skilldelta.bank.importers.draft import Draft
from skilldelta.bank.importers.fields import Runs, arm, repetition_count, shown, skill_name, task_text, whole, word
from skilldelta.bank.importers.source import Row, RowError
from skilldelta.files import Place
from skilldelta.records import Condition, Execution


def take_pair(draft: Draft, place: Place, row: Row) -> None:
    """Record one pair: its task, its skill, one execution for each repetition of each arm."""
    suite, task_id = draft.suite(word(row, "suite")), word(row, "task_id")
    draft.task(place, suite, task_id, text=task_text(row), family=word(row, "family"))
    agent = draft.agent(word(row, "agent"), word(row, "agent_fingerprint"))
    digest = word(row, "skill_digest")
    skill = draft.skill(skill_name(row), digest)
    key = (suite, task_id, skill, digest, agent.name, agent.fingerprint)
    arms = _arms(draft, row)
    length = max(runs.length for _, runs in arms)
    first = _first_repetition(draft, place, key, row, length)
    executions = [
        Execution(
            agent=agent,
            suite=suite,
            task_id=task_id,
            condition=condition,
            repetition=first + outcome.repetition,
            success=outcome.success,
            skill_id=skill,
            skill_digest=digest,
            tokens=outcome.tokens,
        )
        for condition, runs in arms
        for outcome in runs.outcomes
    ]
    draft.take_repetitions(key, executions, length)


def _arms(draft: Draft, row: Row) -> tuple[tuple[Condition, Runs], ...]:
    counted = draft.defaults.repetitions is not None or not _COUNTS.isdisjoint(row)
    counts = [repetition_count(row, own, draft.defaults.repetitions) if counted else None for own in ("r0", "r1")]
    skip, use = arm(row, "y0", "tokens0", counts[0]), arm(row, "y1", "tokens1", counts[1])
    for runs in (skip, use):
        if runs.without_tokens:
            draft.count("ragged tokens")
        if runs.spread_unknown:
            draft.count("means of unknown spread")
    return ("skip", skip), ("use", use)


_COUNTS = frozenset(("r0", "r1", "repetitions"))


def _first_repetition(draft: Draft, place: Place, key: tuple[str, ...], row: Row, length: int) -> int:
    """Repetitions are numbered in file order, unless the row says which one it is."""
    said = whole(row.get("repetition"), "repetition") if "repetition" in row else None
    if said is None:
        return draft.first_repetition(key)
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
