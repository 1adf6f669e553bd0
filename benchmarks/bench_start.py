"""What a person waits for: `--help`, a prediction by the command line, and a sandbox."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.figure import Figure, Peer
from benchmarks.timing import in_turns, launch, timed
from skilldelta.collect.sandbox import Limits, Payload, find_sandbox
from skilldelta.errors import InputError

COMMAND = [sys.executable, "-m", "skilldelta"]
TASKS = 3_000


def run() -> list[Figure]:
    """Cold starts, each in a process of its own."""
    return [*cold_help(), *predictions(), *sandbox()]


def cold_help() -> list[Figure]:
    """`skilldelta --help` against `import click`."""
    ours, click = in_turns(launch([*COMMAND, "--help"]), launch([sys.executable, "-c", "import click"]), rounds=9)
    meaning = "`skilldelta --help` in a fresh process."
    return [Figure("help", 1e3 * ours.wall, "ms", "lower", meaning, Peer("import click", 1e3 * click.wall))]


def predictions() -> list[Figure]:
    """The first prediction learns the blend, the second reads what was kept; the paper's rule learns nothing."""
    with tempfile.TemporaryDirectory() as folder:
        pairs, bank = Path(folder) / "pairs.jsonl", str(Path(folder) / "bench.bank")
        pairs.write_text("".join(json.dumps(row) + "\n" for row in _rows()), encoding="utf-8")
        launch([*COMMAND, "import", str(pairs), "--bank", bank])()
        asked = ["predict", "--bank", bank, "--skill", "skill 3", "--json", "word1 word2 word3 of word4"]
        launch([*COMMAND, *asked, "--paper"])()  # stores the vectors, which every later prediction reads
        first = timed(launch([*COMMAND, *asked])).wall
        second, paper = in_turns(launch([*COMMAND, *asked]), launch([*COMMAND, *asked, "--paper"]), rounds=5)
    peer = Peer("predict --paper", paper.wall)
    return [
        Figure("first_predict", first, "s", "lower", f"`predict` on {TASKS:,} tasks; learns the blend.", peer),
        Figure(
            "second_predict", second.wall, "s", "lower", "The same again, from the learned state in the bank.", peer
        ),
    ]


def sandbox() -> list[Figure]:
    """Python in the sandbox against Python alone; nothing where no sandbox is installed."""
    try:
        box = find_sandbox("bubblewrap")
    except InputError:
        return []
    program = ["-I", "-c", "pass"]

    def boxed() -> None:
        finished = asyncio.run(box.run(Payload([box.python, *program], Limits(seconds=30))))
        assert finished.exit_code == 0, finished.stderr

    ours, bare = in_turns(boxed, launch([sys.executable, *program]), rounds=9)
    meaning = "Starting the sandbox, Python in it, and taking it down again."
    return [Figure("sandbox", 1e3 * ours.wall, "ms", "lower", meaning, Peer("python -I", 1e3 * bare.wall))]


def _rows() -> list[dict[str, object]]:
    rng = np.random.default_rng(0)
    return [
        {
            "task_id": f"task {i}",
            "family": f"family {i % 12}",
            "skill": f"skill {i % 12}",
            "text": f"family{i % 12} " + " ".join(f"word{j}" for j in rng.integers(2_000, size=30)),
            "y0": [int(rng.integers(2))],
            "y1": [int(rng.integers(2))],
            "agent": "bench",
        }
        for i in range(TASKS)
    ]
