"""`pairs.jsonl`: one task a line, with the successes of both arms as lists.

The skip executions carry the pair's skill: they are the baseline of that pair and of no other.
"""

from __future__ import annotations

from pathlib import Path

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers.draft import Defaults, Draft
from skilldelta.bank.importers.fields import Outcome, arm, check_columns, shown, task_text, word
from skilldelta.bank.importers.source import Place, Row, json_lines, take_each
from skilldelta.records import Agent, Condition, Execution

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
        "y0",
        "y1",
        "tokens0",
        "tokens1",
    ]
)
IGNORED = frozenset(("score0", "score1", "metadata", "source"))
"""Keys that files in the field carry beside the outcomes; they are not stored."""


def read(path: Path, defaults: Defaults) -> Batch:
    """The batch of a pairs file."""
    draft = Draft(path, defaults)
    dropped: set[str] = set()

    def take(place: Place, row: Row) -> None:
        if not row.keys() <= COLUMNS:
            check_columns(row, COLUMNS, ignored=IGNORED)
            dropped.update(row.keys() & IGNORED)
        take_pair(draft, place, row)

    take_each(path, json_lines(path), take)
    if dropped:
        draft.notes.append(f"not stored: {', '.join(sorted(dropped))}")
    return draft.batch()


def take_pair(draft: Draft, place: Place, row: Row) -> None:
    """Record one pair: its task, its skill, one execution for each repetition of each arm."""
    suite, task_id = draft.suite(word(row, "suite")), word(row, "task_id")
    draft.task(place, suite, task_id, text=task_text(row), family=word(row, "family"))
    agent = draft.agent(word(row, "agent"), word(row, "agent_fingerprint"))
    digest = word(row, "skill_digest")
    skill = draft.skill(word(row, "skill"), digest)
    draft.once(
        place,
        (suite, task_id, skill, digest, agent.name, agent.fingerprint),
        lambda: f"the pair of task {shown(task_id)}, skill {shown(skill)} and agent {shown(agent.name)}",
    )
    arms: tuple[tuple[Condition, list[Outcome]], ...] = (
        ("skip", arm(row, "y0", "tokens0")),
        ("use", arm(row, "y1", "tokens1")),
    )
    for condition, outcomes in arms:
        for outcome in outcomes:
            draft.executions.append(_execution(agent, suite, task_id, condition, outcome, skill, digest))


def _execution(
    agent: Agent, suite: str, task_id: str, condition: Condition, outcome: Outcome, skill: str, digest: str
) -> Execution:
    return Execution(
        agent=agent,
        suite=suite,
        task_id=task_id,
        condition=condition,
        repetition=outcome.repetition,
        success=outcome.success,
        skill_id=skill,
        skill_digest=digest,
        tokens=outcome.tokens,
    )
