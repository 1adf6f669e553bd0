"""One decision against the bare product, against a pure-Python router, and leave-one-out in bounded memory."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.figure import Figure, Peer
from benchmarks.timing import best, in_turns, timed
from skilldelta.arrays import unit_rows
from skilldelta.predictor import predict


def run() -> list[Figure]:
    """Figures of the paper's rule."""
    return [*warm_decision(), *against_pure_python(), *leave_one_out_memory()]


def warm_decision(rows: int = 1_000, dimension: int = 384, rounds: int = 3_000) -> list[Figure]:
    """A decision on a family of 1,000 against the matrix product plus partial sort on the same matrix."""
    rng = np.random.default_rng(0)
    matrix = unit_rows(rng.normal(size=(rows, dimension)))
    query, gains, own = matrix[3].copy(), rng.choice([-1.0, 0.0, 1.0], rows), np.array([3])

    def bare() -> None:
        similarity = matrix @ query
        nearest = np.argpartition(-similarity, 6)[:6]
        nearest[np.argsort(-similarity[nearest])]

    ours, floor = in_turns(lambda: predict(query, matrix, gains, excluded=own), bare, rounds=rounds)
    peer = Peer("bare product and sort", 1e6 * floor.wall)
    return [
        Figure("decision", 1e6 * ours.wall, "µs", "lower", f"One task in a family of {rows:,} x {dimension}.", peer)
    ]


def against_pure_python(rows: int = 5_000, dimension: int = 1_536) -> list[Figure]:
    """A decision on 5,000 x 1,536 against re-reading a JSON support file and computing cosines in pure Python."""
    rng = np.random.default_rng(1)
    matrix = unit_rows(rng.normal(size=(rows, dimension)))
    query, gains = matrix[0].copy(), rng.choice([-1.0, 0.0, 1.0], rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "support.json"
        tasks = [{"id": str(i), "embedding": matrix[i].tolist(), "d": float(gains[i])} for i in range(rows)]
        path.write_text(json.dumps({"tasks": tasks}))
        pure = timed(lambda: _pure_python_decision(path, query.tolist())).wall
    ours = best(lambda: predict(query, matrix, gains), rounds=200)
    meaning = f"One task among {rows:,} x {dimension:,}; the peer reads a JSON file and computes in pure Python."
    return [Figure("large_decision", 1e6 * ours, "µs", "lower", meaning, Peer("pure Python", 1e6 * pure))]


def _pure_python_decision(path: Path, query: list[float], k: int = 10) -> float:
    tasks = json.loads(path.read_text())["tasks"]
    length = math.sqrt(sum(value * value for value in query))
    scored = []
    for task in tasks:
        vector = task["embedding"]
        dot = sum(a * b for a, b in zip(vector, query, strict=True))
        scored.append((dot / (length * math.sqrt(sum(value * value for value in vector))), task["d"]))
    scored.sort(reverse=True)
    return float(sum(gain for _, gain in scored[:k]) / k)


_MEMORY_SCRIPT = """
import re, time
import numpy as np
from skilldelta.predictor import predict_each
from skilldelta.support import Support
n, dim, families = 100_000, 384, 100
rng = np.random.default_rng(0)
vectors = rng.standard_normal((n, dim), dtype=np.float32)
vectors /= np.sqrt(np.vecdot(vectors, vectors))[:, None]
outcomes = rng.integers(0, 2, (2, n)).astype(float)
one, nan = np.ones(n, np.int64), np.full(n, np.nan)
support = Support(
    task_ids=np.array([f"t{i}" for i in range(n)]), families=np.array([f"f{i % families}" for i in range(n)]),
    skills=np.array([""] * n), vectors=vectors, y0=outcomes[0], y1=outcomes[1], r0=one, r1=one, tokens0=nan, tokens1=nan)
open("/proc/self/clear_refs", "w").write("5")  # forget the peak of making the data
started = time.perf_counter()
predict_each(support, "family")
seconds = time.perf_counter() - started
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
print(seconds, peak / 1e6, vectors.nbytes / 1e6)
"""


def leave_one_out_memory() -> list[Figure]:
    """Leave-one-task-out for 100,000 tasks in 100 families: peak memory of the whole process over the vectors' size."""
    done = subprocess.run([sys.executable, "-c", _MEMORY_SCRIPT], capture_output=True, text=True, check=True)
    seconds, peak, vectors = map(float, done.stdout.split())
    what = "Leave-one-task-out of 100,000 tasks in 100 families"
    return [
        Figure("leave_one_out", seconds, "s", "lower", f"{what}."),
        Figure("leave_one_out_memory", peak, "MB", "lower", f"{what}: peak.", Peer("the vectors alone", vectors)),
    ]
