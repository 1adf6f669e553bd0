"""What goes into a bank in one transaction, what it must be, and what came of it.

Importers and collectors build a `Batch`; the store adds it whole or not at all. Nothing here touches a file or a
database: contradictions with what the bank holds are found by `adding`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from skilldelta.arrays import Floats, Vectors
from skilldelta.errors import InputError
from skilldelta.records import CONDITIONS, LISTED, STATUSES, Condition, Execution, Skill, Task, text_digest
from skilldelta.skill_folder import folder_digest


@dataclass(frozen=True, slots=True, eq=False)
class TextVector:
    """The vector of one text under one encoder. `text_digest` is `records.text_digest` of the text."""

    encoder: str
    text_digest: str
    vector: Vectors  # (dim,), length 1


@dataclass(frozen=True, slots=True)
class Batch:
    """Records to add together, in record order."""

    tasks: Sequence[Task] = ()
    skills: Sequence[Skill] = ()
    executions: Sequence[Execution] = ()
    """Of the two arms of pairs."""
    vectors: Sequence[TextVector] = ()
    notes: Sequence[str] = ()
    """What the source held and the batch leaves out, in words for the person who imports it."""
    listed: Sequence[Execution] = ()
    """Executions of the third arm, which is never part of a pair."""

    @property
    def runs(self) -> Iterator[Execution]:
        """The executions of all arms."""
        return chain(self.executions, self.listed)


@dataclass(frozen=True, slots=True)
class Known:
    """How many records of a batch were in the bank already, or came twice."""

    tasks: int = 0
    skills: int = 0
    executions: int = 0
    vectors: int = 0


@dataclass(frozen=True, slots=True)
class Added:
    """How many records of a batch were new, and how many were known: `unchanged` are those of every kind together."""

    tasks: int = 0
    skills: int = 0
    agents: int = 0
    executions: int = 0
    vectors: int = 0
    unchanged: int = 0
    known: Known = Known()
    notes: tuple[str, ...] = ()
    """What changes for decisions that name no agent or suite, in words."""


_ROUNDING = 1e-5
_REPETITIONS = 2**31
_AMOUNTS = ("tokens", "seconds", "cost_usd")


def check_batch(batch: Batch) -> None:
    """Refuse a batch with a value that no bank could hold."""
    for task in batch.tasks:
        _check_task(task)
    for skill in batch.skills:
        _check_skill(skill)
    for execution in batch.executions:
        _check_execution(execution, CONDITIONS)
    for execution in batch.listed:
        _check_execution(execution, (LISTED,))
    names = {id(name): name for e in batch.runs for name in (e.agent.name, e.skill_id)}
    _check_writable(*names.values())


def describe(execution: Execution) -> str:
    """An execution by its key, for messages."""
    skill = f", skill {execution.skill_id!r}" if execution.skill_id else ""
    digest = f", digest {execution.skill_digest[:12]!r}" if execution.skill_digest else ""
    return (
        f"execution (agent {execution.agent.name!r}, suite {execution.suite!r}, task {execution.task_id!r}, "
        f"condition {execution.condition!r}{skill}{digest}, repetition {execution.repetition})"
    )


def shortened(value: str, length: int = 60) -> str:
    """A value as it stands in a message: quoted, on one line, not long."""
    return repr(value if len(value) <= length else value[: length - 1] + "…")


def matrix_of(vectors: Sequence[TextVector]) -> Vectors:
    """(n, dim) float32 rows of length 1 of one encoder; unequal dimensions, zero and non-finite ones are refused."""
    dimensions = {np.shape(v.vector) for v in vectors}
    if len(dimensions) > 1 or any(len(shape) != 1 for shape in dimensions):
        sizes = sorted(shape[0] if len(shape) == 1 else -1 for shape in dimensions)
        raise InputError(
            f"vectors of encoder {vectors[0].encoder!r} have unequal dimensions {sizes}; encode all texts with one encoder"
        )
    matrix = np.stack([np.asarray(v.vector, np.float32) for v in vectors])
    lengths = np.sqrt(np.vecdot(matrix, matrix))
    doubtful = np.flatnonzero(~(np.abs(lengths - 1) <= _ROUNDING))
    if len(doubtful):
        # Rows that are of length 1 already keep their exact bytes.
        matrix[doubtful] = _scaled(matrix[doubtful].astype(np.float64), [vectors[row] for row in doubtful.tolist()])
    return matrix


def _scaled(rows: Floats, vectors: Sequence[TextVector]) -> Floats:
    lengths = np.sqrt(np.vecdot(rows, rows))
    for vector, length in zip(vectors, lengths, strict=True):
        if not (math.isfinite(length) and length > 0):
            kind = "is zero and has no direction" if length == 0 else "has a value that is not finite"
            raise InputError(f"the vector of text {vector.text_digest[:12]} {kind}; encode its text again")
    scaled: Floats = rows / lengths[:, None]
    return scaled


def _check_writable(*values: str) -> None:
    for value in values:
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InputError(f"{shortened(value)} cannot be written as UTF-8; remove its lone surrogates") from None


def _check_task(task: Task) -> None:
    _check_writable(task.task_id, task.text, task.family, task.suite)
    if not task.task_id:
        raise InputError(f"a task of suite {task.suite!r} has an empty task_id; give every task an id")
    if not task.text.strip():
        raise InputError(f"task {task.task_id!r} of suite {task.suite!r} has no text; give its question")


def _check_skill(skill: Skill) -> None:
    _check_writable(skill.skill_id, skill.text, skill.digest, skill.files)
    if not skill.skill_id:
        raise InputError("a skill has an empty skill_id; give every skill a name")
    digest = folder_digest(text_digest(skill.text), skill.files)
    if skill.text and skill.digest and digest != skill.digest:
        raise InputError(
            f"skill {skill.skill_id!r} has digest {skill.digest[:12]!r} but the SHA-256 of its text is "
            f"{digest[:12]!r}; leave the digest out, or give the text that was injected"
        )


def _check_execution(execution: Execution, conditions: Sequence[Condition]) -> None:
    if execution.condition not in conditions:
        choices = " or ".join(reversed(conditions))
        raise InputError(f"{describe(execution)}: condition must be {choices}, got {execution.condition!r}")
    if execution.status not in STATUSES:
        raise InputError(
            f"{describe(execution)}: status must be one of {', '.join(STATUSES)}, got {execution.status!r}"
        )
    if execution.condition != "skip" and not execution.skill_id:
        raise InputError(f"{describe(execution)}: an execution with a skill must name the skill; give its skill_id")
    if not 0 <= execution.repetition < _REPETITIONS:
        raise InputError(f"{describe(execution)}: repetition must be a whole number from 0, got {execution.repetition}")
    success = execution.success
    if success is not None and not 0 <= success <= 1:
        raise InputError(f"{describe(execution)}: success must lie in [0, 1], got {success}")
    for name, value in zip(_AMOUNTS, (execution.tokens, execution.seconds, execution.cost_usd), strict=True):
        if value is not None and not 0 <= value < math.inf:
            raise InputError(f"{describe(execution)}: {name} must be a finite number of at least 0, got {value}")
