"""The bank: import of 100,000 pairs with their vectors, and lookups in the index over them.

The import is compared with bare `sqlite3` inserts of the same rows, the decision with the bare product and partial sort on
the same matrix, both in the same run. Processor seconds leave out what a busy machine gives to others.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from skilldelta.arrays import Vectors
from skilldelta.bank import schema
from skilldelta.bank.batch import Batch, TextVector
from skilldelta.bank.checksum import execution_checksum, vector_checksum
from skilldelta.bank.index import Index
from skilldelta.bank.reading import executions_query
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


def run() -> dict[str, float]:
    """Figures of one bank of 100,000 pairs in 100 families."""
    rng = np.random.default_rng(1)
    batch = _batch(rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.bank"
        bare = _seconds(lambda: _bare_inserts(Path(folder) / "bare.db", batch))
        with Bank.open(path) as bank:
            processor = time.process_time()
            imported = _seconds(lambda: bank.add(batch))
            processor = time.process_time() - processor
        with Bank.open(path) as bank:
            again = _seconds(lambda: bank.add(batch))
            return {
                "import_pairs_per_second": PAIRS / imported,
                "import_pairs_per_processor_second": PAIRS / processor,
                "import_vs_bare_sqlite": imported / bare,
                "reimport_pairs_per_second": PAIRS / again,
                "bank_megabytes": bank.status().size_bytes / 1e6,
                **_lookups(bank, rng),
            }


def _lookups(bank: Bank, rng: np.random.Generator) -> dict[str, float]:
    index = Index(bank, _GivenVectors(), AGENT)
    opening = _seconds(lambda: index.scope(family="family 7"))
    rows = index.scope(family="family 7")
    query = rows.vectors[int(rng.integers(len(rows)))]
    excluded = np.array([3])

    def decision() -> None:
        scope = index.scope(family="family 7")
        predict(query, scope.vectors, scope.gains, excluded=excluded)

    def bare() -> None:
        similarity = rows.vectors @ query
        np.argpartition(similarity, len(similarity) - 6)

    lookup, decided, floor = _best(lambda: index.scope(family="family 7")), _best(decision), _best(bare)
    bank.add(_one_more(rows.task_ids[0]))
    refresh = _seconds(lambda: index.scope(family="family 7"))
    return {
        "first_touch_ms": 1e3 * opening,
        "checksums_share_of_first_touch": _checksums_share(bank),
        "refresh_after_one_execution_ms": 1e3 * refresh,
        "revision_us": 1e6 * _best(bank.revision),
        "warm_lookup_us": 1e6 * lookup,
        "warm_decision_us": 1e6 * decided,
        "warm_decision_vs_bare_product_and_sort": decided / floor,
    }


def _checksums_share(bank: Bank) -> float:
    """What it costs to check every execution and vector of a scope, as a share of loading it; both at their best."""
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

    checking = _best(check, rounds=20, calls=1)
    return checking / (_best(load, rounds=20, calls=1) - checking)


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


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _best(action: Callable[[], object], *, rounds: int = 7, calls: int = 200) -> float:
    """Seconds a call in the best of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            action()
        best = min(best, (time.perf_counter() - start) / calls)
    return best


if __name__ == "__main__":
    for figure, value in run().items():
        print(f"{figure:45s} {value:12.2f}")
