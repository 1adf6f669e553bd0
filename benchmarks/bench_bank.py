"""The bank: import of 100,000 pairs with their vectors, and lookups in the index over them.

The import is compared with bare `sqlite3` inserts of the same rows, the decision with the bare product and partial sort on
the same matrix, both in the same run. Processor seconds leave out what a busy machine gives to others.
"""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.figure import Figure, Peer
from benchmarks.timing import best, in_turns, timed
from skilldelta.arrays import Vectors
from skilldelta.bank import schema
from skilldelta.bank.batch import Batch, TextVector
from skilldelta.bank.index import Index
from skilldelta.bank.reading import executions_query
from skilldelta.bank.schema import execution_checksum, vector_checksum
from skilldelta.bank.store import Bank
from skilldelta.predictor import predict
from skilldelta.records import Agent, Execution, Skill, Task, text_digest

PAIRS, FAMILIES, DIMENSION = 100_000, 100, 384
AGENT = Agent("bench")
ENCODER = "bench/384"


class _GivenVectors:
    """An encoder whose vectors are all in the bank."""

    identity = ENCODER

    def encode(self, texts: object) -> Vectors:
        raise AssertionError("every vector was given")


def run() -> list[Figure]:
    """Figures of one bank of 100,000 pairs in 100 families."""
    rng = np.random.default_rng(1)
    batch = _batch(rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.bank"
        bare = timed(lambda: _bare_inserts(Path(folder) / "bare.db", batch)).cpu
        with Bank.open(path, create=True) as bank:
            stored = timed(lambda: bank.add(batch)).cpu
        with Bank.open(path) as bank:
            again = timed(lambda: bank.add(batch)).cpu
            vectors = PAIRS * DIMENSION * 4 / 1e6
            peer = Peer("bare sqlite3 inserts", PAIRS / bare)
            return [
                Figure("add", PAIRS / stored, "per s", "higher", "New pairs stored, per processor second.", peer),
                Figure("add_again", PAIRS / again, "per s", "higher", "Pairs that the bank has already.", peer),
                Figure(
                    "size",
                    bank.status().size_bytes / 1e6,
                    "MB",
                    "lower",
                    f"The file of a bank of {PAIRS:,} pairs with their vectors.",
                    Peer("the vectors alone", vectors),
                ),
                *_lookups(bank, rng),
            ]


def _lookups(bank: Bank, rng: np.random.Generator) -> list[Figure]:
    index = Index(bank, _GivenVectors(), AGENT)
    opening = timed(lambda: index.scope(family="family 7")).wall
    rows = index.scope(family="family 7")
    query = rows.vectors[int(rng.integers(len(rows)))]
    excluded = np.array([3])

    def decision() -> None:
        scope = index.scope(family="family 7")
        predict(query, scope.vectors, scope.gains, excluded=excluded)

    def bare() -> None:
        similarity = rows.vectors @ query
        np.argpartition(similarity, len(similarity) - 6)

    lookup = best(lambda: index.scope(family="family 7"), calls=200)
    decided, floor = (one.wall for one in in_turns(decision, bare, rounds=1_500))
    bank.add(_one_more(rows.task_ids[0]))
    refresh = timed(lambda: index.scope(family="family 7")).wall
    return [
        Figure("scope_first_touch", 1e3 * opening, "ms", "lower", "Loading a family of 1,000 pairs from the bank."),
        _checksums(bank),
        *_whole_panel(bank),
        Figure(
            "scope_after_one_execution",
            1e3 * refresh,
            "ms",
            "lower",
            "The same family after another process stored one execution.",
            Peer("first touch", 1e3 * opening),
        ),
        Figure(
            "scope_lookup",
            1e6 * lookup,
            "µs",
            "lower",
            "The same family when nothing has changed: the bank's revision is read, and little else.",
            Peer("reading the revision", 1e6 * best(bank.revision, calls=200)),
        ),
        Figure(
            "decision_from_a_bank",
            1e6 * decided,
            "µs",
            "lower",
            "Lookup and the paper's rule for one task in a family of 1,000.",
            Peer("bare product and sort", 1e6 * floor),
        ),
    ]


def _whole_panel(bank: Bank) -> list[Figure]:
    """Loading and counting all pairs, beside reading the same columns with nothing but the driver."""
    path = bank.location

    def bare() -> None:
        connection = sqlite3.connect(path)
        runs = connection.execute(
            "SELECT task_key, skill_key, condition, success, tokens FROM executions ORDER BY task_key, key"
        ).fetchall()
        tasks = connection.execute("SELECT key, task_id, family, text, text_digest FROM tasks ORDER BY key").fetchall()
        blobs = dict(connection.execute("SELECT text_digest, vector FROM vectors").fetchall())
        np.frombuffer(b"".join(blobs[row[4]] for row in tasks), np.float32).reshape(len(tasks), -1)
        [np.array(column) for column in zip(*runs, strict=True)]
        connection.close()

    loading = timed(lambda: Index(bank, _GivenVectors(), AGENT).scope()).cpu
    counting = timed(bank.panels).cpu
    floor = Peer("reading the columns bare", timed(bare).cpu)
    revision = best(lambda: bank.panel_revision(AGENT, "default"), calls=200)
    return [
        Figure("whole_panel", loading, "s", "lower", f"Loading a panel of {PAIRS:,} pairs, with all checks.", floor),
        Figure("panel_counts", counting, "s", "lower", "Counting its pairs and groups for `bank status`.", floor),
        Figure(
            "panel_revision",
            1e6 * revision,
            "µs",
            "lower",
            "Asking whether one panel has changed.",
            Peer("the bank's revision", 1e6 * best(bank.revision, calls=200)),
        ),
    ]


def _checksums(bank: Bank) -> Figure:
    """What it costs to check every execution and vector of a scope, beside loading it."""
    with bank._database.read() as connection:
        query = executions_query(connection, agent=AGENT, family="family 7")
        executions = [tuple(row)[: len(schema.executions.c) - 1] for row in connection.execute(query)]
        stored = [tuple(row)[:-1] for row in connection.execute(schema.vectors.select().limit(PAIRS // FAMILIES))]

    def check() -> None:
        for row in executions:
            execution_checksum(row)
        for row in stored:
            vector_checksum(row)

    def load() -> None:
        Index(bank, _GivenVectors(), AGENT).scope(family="family 7")

    checking, loading = (1e3 * one.wall for one in in_turns(check, load, rounds=20))
    meaning = "Checking the checksums of that family, which is part of loading it."
    return Figure("checksums_of_a_scope", checking, "ms", "lower", meaning, Peer("loading, with checks", loading))


def _batch(rng: np.random.Generator) -> Batch:
    vectors = rng.standard_normal((PAIRS, DIMENSION), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    tasks = [Task(f"task {i}", f"Question number {i} of the benchmark", f"family {i % FAMILIES}") for i in range(PAIRS)]
    skill = Skill.from_text("skill", "Think twice.")
    outcomes = rng.integers(0, 2, (PAIRS, 2)).tolist()
    executions = []
    for task, (y0, y1) in zip(tasks, outcomes, strict=True):
        name = (AGENT, task.suite, task.task_id)
        executions.append(Execution(*name, "skip", 0, float(y0), tokens=120.0))
        executions.append(Execution(*name, "use", 0, float(y1), skill.skill_id, skill.digest, tokens=180.0))
    encoded = [TextVector(ENCODER, text_digest(task.text), row) for task, row in zip(tasks, vectors, strict=True)]
    return Batch(tasks, [skill], executions, encoded)


def _one_more(task_id: str) -> Batch:
    skill = Skill.from_text("skill", "Think twice.")
    return Batch(
        executions=[Execution(AGENT, "default", str(task_id), "use", 1, 1.0, skill.skill_id, skill.digest, tokens=1.0)]
    )


def _bare_inserts(path: Path, batch: Batch) -> None:
    """The same rows in one transaction with the same durability, and nothing else."""
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in (
        "PRAGMA journal_mode = WAL",
        "PRAGMA synchronous = FULL",
        "CREATE TABLE tasks (key INTEGER PRIMARY KEY, task_id TEXT UNIQUE, family TEXT, text TEXT)",
        "CREATE TABLE executions (key INTEGER PRIMARY KEY, task_id TEXT, condition TEXT, success REAL, tokens REAL)",
        "CREATE TABLE vectors (digest TEXT PRIMARY KEY, vector BLOB)",
        "BEGIN",
    ):
        connection.execute(statement)
    connection.executemany(
        "INSERT INTO tasks VALUES (NULL, ?, ?, ?)", ((t.task_id, t.family, t.text) for t in batch.tasks)
    )
    connection.executemany(
        "INSERT INTO executions VALUES (NULL, ?, ?, ?, ?)",
        ((e.task_id, e.condition, e.success, e.tokens) for e in batch.executions),
    )
    connection.executemany(
        "INSERT INTO vectors VALUES (?, ?)", ((v.text_digest, v.vector.tobytes()) for v in batch.vectors)
    )
    connection.execute("COMMIT")
    connection.close()
