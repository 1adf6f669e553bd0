"""A bank to flip bits in, and what can be read from it past the bank."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from skilldelta.bank import schema
from skilldelta.bank.batch import Batch, TextVector
from skilldelta.bank.store import Bank
from skilldelta.errors import BankError
from skilldelta.records import Execution, Judgement, Skill, Task, text_digest

from .small import AGENT, DECISION, TinyEncoder

SKILL = Skill.from_text("dates", "Write dates as ISO 8601.")


@dataclass(frozen=True)
class FilledBank:
    """A closed bank of 60 pairs, its bytes and its data."""

    path: Path
    content: bytes
    data: object
    aims: list[int]  # offsets of bytes of vectors, of the words of executions, and of their numbers

    @classmethod
    def made(cls, path: Path, rng: np.random.Generator) -> FilledBank:
        tasks = [Task(f"task-{i}", f"Question number {i} about dates?", f"family {i % 3}") for i in range(60)]
        executions = []
        for task in tasks:
            tokens = rng.uniform(10, 1000, 2)
            name = (AGENT, task.suite, task.task_id)
            executions.append(Execution(*name, "skip", 0, float(rng.integers(2)), tokens=float(tokens[0])))
            executions.append(
                Execution(*name, "use", 0, float(rng.random()), SKILL.skill_id, SKILL.digest, tokens=float(tokens[1]))
            )
        with Bank.open(path, create=True) as bank:
            digests = [text_digest(task.text) for task in tasks]
            rows = TinyEncoder().encode([task.text for task in tasks])
            vectors = [TextVector("tiny/3", digest, row) for digest, row in zip(digests, rows, strict=True)]
            bank.add(Batch(tasks, [SKILL], executions, vectors))
            bank.record_decision(DECISION)
            bank.add_judgements([Judgement(AGENT, "default", "task-1", "dates", SKILL.digest, True, 5.0, "yes")])
        content = path.read_bytes()
        return cls(path, content, data_of(path), _aims(path, content))

    def any_offset(self, rng: np.random.Generator) -> int:
        """A byte that is not zero most of the time: empty pages hold nothing to lose."""
        offset = int(rng.integers(len(self.content)))
        return offset if self.content[offset] or rng.random() < 0.1 else self.any_offset(rng)

    def aimed_offset(self, rng: np.random.Generator) -> int:
        """A byte of a number that was stored."""
        return int(rng.choice(self.aims))


def _aims(path: Path, content: bytes) -> list[int]:
    connection = sqlite3.connect(path)
    numbers = [value for row in connection.execute("SELECT success, tokens FROM executions") for value in row]
    blobs = [blob for (blob,) in connection.execute("SELECT vector FROM vectors")]
    connection.close()
    packed = [np.array(value, ">f8").tobytes() for value in numbers if value % 1]
    aims: list[int] = []
    for piece in [*packed, *blobs]:
        start = content.find(piece)
        aims += range(start, start + len(piece)) if start >= 0 else []
    # A success of 0 or 1 has no bytes of its own: it is a type in the header before its row's words.
    words = b"skip"
    start = content.find(words)
    while start >= 0:
        aims += range(start - 20, start + 14)
        start = content.find(words, start + 1)
    return aims


def flipped(source: Path, path: Path, offset: int, bit: int) -> None:
    """A copy with one bit changed."""
    raw = bytearray(source.read_bytes())
    raw[offset] ^= 1 << bit
    path.write_bytes(raw)


def data_of(path: Path) -> object:
    """Everything that the tables hold, with the types of the values; a whole number is the same as a float or not.

    A flip in the text of a table's definition may change how SQLite gives a number back, and not what it is.
    """
    connection = sqlite3.connect(path)
    connection.text_factory = bytes
    try:
        return {
            table.name: [
                [(float if isinstance(value, int) else type(value), value) for value in row]
                for row in connection.execute(f"SELECT * FROM {table.name}")
            ]
            for table in schema.TABLES
        }
    except (sqlite3.Error, UnicodeDecodeError) as error:  # a flip in the name of a column makes it no text
        raise BankError(f"SQLite refuses the file: {error}") from error
    finally:
        connection.close()
