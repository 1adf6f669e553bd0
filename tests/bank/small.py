"""Records of three or four rows for tests of the bank, and an encoder that counts what it is asked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skilldelta.arrays import Vectors
from skilldelta.bank.batch import Batch, TextVector
from skilldelta.bank.entries import DecisionRecord
from skilldelta.records import Agent, Execution, Skill, Task, text_digest
from skilldelta.skill_folder import FolderFiles
from skilldelta.text_sketch import text_sketch

AGENT = Agent("model-a")
OTHER_AGENT = Agent("model-b")
SKILL = Skill.from_text("dates", "Write dates as ISO 8601.")
NEW_SKILL = Skill.from_text("dates", "Write dates as ISO 8601 and check the weekday.")

TASKS = (
    Task("t1", "What day is it?", "calendar"),
    Task("t2", "How late is it?", "calendar"),
    Task("t3", "How far is it?", "travel"),
)

DECISION = DecisionRecord(
    time=1_700_000_000.5,
    agent=AGENT,
    skill_id="dates",
    text_digest=text_digest("What day is it?"),
    action="use",
    gain=0.25,
    threshold=0.0,
    reason="predicted gain +0.250 is above the threshold 0",
    evidence={"neighbors": [{"task_id": "t2", "weight": 1.0}]},
    skill_digest=SKILL.digest,
    task_id="t1",
)
"""A decision about t1, as it is kept for audit."""


def with_a_script(skill_id: str, text: str, script: str) -> Skill:
    """A version whose folder has one script."""
    listing = f"{text_digest(script)}  scripts/run.py\n"
    return Skill.from_text(skill_id, text, FolderFiles(listing, text_sketch(f"{text}\n{script}")))


def skip(task_id: str, success: float | None, **changes: object) -> Execution:
    """A no-skill execution, shared by all skills unless it names one."""
    return _execution(task_id, "skip", success, **changes)


def use(task_id: str, success: float | None, skill: Skill = SKILL, **changes: object) -> Execution:
    """An execution with the skill."""
    return _execution(task_id, "use", success, skill_id=skill.skill_id, skill_digest=skill.digest, **changes)


def _execution(task_id: str, condition: str, success: float | None, **changes: object) -> Execution:
    values: dict[str, object] = {"agent": AGENT, "suite": "default", "repetition": 0, **changes}
    return Execution(task_id=task_id, condition=condition, success=success, **values)  # type: ignore[arg-type]


THREE_PAIRS = Batch(
    tasks=TASKS,
    skills=[SKILL],
    executions=[
        skip("t1", 0.0, tokens=10.0),
        use("t1", 1.0, tokens=30.0),
        skip("t2", 1.0),
        use("t2", 1.0),
        skip("t3", 1.0),
        use("t3", 0.0),
    ],
)
"""Gains +1 (t1), 0 (t2) and -1 (t3)."""


def vector(text: str, *values: float, encoder: str = "tiny/3") -> TextVector:
    """A vector of one text."""
    return TextVector(encoder, text_digest(text), np.array(values, np.float32))


class TinyEncoder:
    """Three dimensions: letters, words, ones. It remembers what it encoded."""

    def __init__(self, identity: str = "tiny/3") -> None:
        self.identity = identity
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.encoded += texts
        rows = np.array([[len(text), len(text.split()), 1.0] for text in texts])
        vectors: Vectors = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        return vectors
