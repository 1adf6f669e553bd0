"""One decision against the bare product, against a pure-Python router, and leave-one-out in bounded memory."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from skilldelta.predictor import predict
from skilldelta.support import unit_rows


def run() -> dict[str, float]:
    """Figures of the predictor and of the command line's start."""
    return {**warm_decision(), **against_pure_python(), **leave_one_out_memory(), **cold_help()}


def warm_decision(rows: int = 1_000, dimension: int = 384, rounds: int = 3_000) -> dict[str, float]:
    """A decision on a family of 1,000 against the matrix product plus partial sort on the same matrix."""
    rng = np.random.default_rng(0)
    matrix = unit_rows(rng.normal(size=(rows, dimension)))
    query, gains, own = matrix[3].copy(), rng.choice([-1.0, 0.0, 1.0], rows), np.array([3])

    def bare() -> None:
        similarity = matrix @ query
        best = np.argpartition(-similarity, 6)[:6]
        best[np.argsort(-similarity[best])]

    bare_time, decision_time = _best_interleaved(bare, lambda: predict(query, matrix, gains, excluded=own), rounds)
    return {
        "bare_product_us": bare_time * 1e6,
        "warm_decision_us": decision_time * 1e6,
        "warm_decision_vs_bare": decision_time / bare_time,
    }


def against_pure_python(rows: int = 5_000, dimension: int = 1_536) -> dict[str, float]:
    """A decision on 5,000 x 1,536 against re-reading a JSON support file and computing cosines in pure Python."""
    rng = np.random.default_rng(1)
    matrix = unit_rows(rng.normal(size=(rows, dimension)))
    query, gains = matrix[0].copy(), rng.choice([-1.0, 0.0, 1.0], rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "support.json"
        tasks = [{"id": str(i), "embedding": matrix[i].tolist(), "d": float(gains[i])} for i in range(rows)]
        path.write_text(json.dumps({"tasks": tasks}))
        started = time.perf_counter()
        _pure_python_decision(path, query.tolist())
        pure = time.perf_counter() - started
    ours = min(_timed(lambda: predict(query, matrix, gains)) for _ in range(200))
    return {"pure_python_s": pure, "decision_5000x1536_us": ours * 1e6, "times_faster_than_pure_python": pure / ours}


def _pure_python_decision(path: Path, query: list[float], k: int = 10) -> float:
    tasks = json.loads(path.read_text())["tasks"]
    length = math.sqrt(sum(value * value for value in query))
    scored = []
    for task in tasks:
        vector = task["embedding"]
        dot = sum(a * b for a, b in zip(vector, query, strict=True))
        scored.append((dot / (length * math.sqrt(sum(value * value for value in vector))), task["d"]))
    scored.sort(reverse=True)
    return sum(gain for _, gain in scored[:k]) / k


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
print(seconds, peak / vectors.nbytes)
"""


def leave_one_out_memory() -> dict[str, float]:
    """Leave-one-task-out for 100,000 tasks in 100 families: peak memory of the whole process over the vectors' size."""
    done = subprocess.run([sys.executable, "-c", _MEMORY_SCRIPT], capture_output=True, text=True, check=True)
    seconds, ratio = map(float, done.stdout.split())
    return {"leave_one_out_100k_s": seconds, "leave_one_out_peak_vs_vectors": ratio}


def cold_help(rounds: int = 9) -> dict[str, float]:
    """`skilldelta --help` in a fresh process against `import click` in a fresh process."""
    click = [sys.executable, "-c", "import click"]
    ours = [sys.executable, "-m", "skilldelta", "--help"]

    def launch(command: list[str]) -> Callable[[], object]:
        return lambda: subprocess.run(command, capture_output=True, check=True)

    click_time, help_time = _best_interleaved(launch(click), launch(ours), rounds)
    return {
        "import_click_ms": click_time * 1e3,
        "help_ms": help_time * 1e3,
        "help_vs_import_click": help_time / click_time,
    }


def _best_interleaved(one: Callable[[], object], other: Callable[[], object], rounds: int) -> tuple[float, float]:
    """The best time of each, measured in turns so that a busy moment falls on both."""
    times = [(_timed(one), _timed(other)) for _ in range(rounds)]
    return min(a for a, _ in times), min(b for _, b in times)


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
