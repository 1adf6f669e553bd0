"""Reading pairs.jsonl into records, against `json.loads` of every line."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.figure import Figure, Peer
from benchmarks.timing import in_turns
from skilldelta.bank.importers import read_source

ROWS = 6_500


def run() -> list[Figure]:
    """The rate of reading 6,500 pairs with questions of about 80 words."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in _rows()), encoding="utf-8")

        def loads() -> None:
            with path.open("rb") as file:
                for line in file:
                    json.loads(line)

        ours, bare = in_turns(lambda: read_source(path), loads, rounds=7)
    return [
        Figure(
            "pairs_read",
            ROWS / ours.cpu,
            "per s",
            "higher",
            "Pairs of a pairs.jsonl checked and turned into records, per processor second.",
            Peer("json.loads alone", ROWS / bare.cpu),
        )
    ]


def _rows() -> list[dict[str, object]]:
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(4_000)]
    return [
        {
            "task_id": f"bench/{i}",
            "family": f"family {i % 27}",
            "skill": f"family {i % 27}",
            "question": " ".join(words[j] for j in rng.integers(4_000, size=80)),
            "y0": [int(rng.integers(2))],
            "y1": [int(rng.integers(2))],
            "tokens0": [int(rng.integers(900))],
            "tokens1": [int(rng.integers(900))],
            "agent": "bench",
        }
        for i in range(ROWS)
    ]
