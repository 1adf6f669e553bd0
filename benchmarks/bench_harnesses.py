"""What the plugin for DeepSeek Harness adds before the first model step, in the harness's own agent loop.

Needs node and the packages of plugins/dsh-skilldelta (`npm ci` there). What hooks add is in bench_hook.py.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.figure import Figure, Peer

PLUGIN = Path(__file__).resolve().parents[1] / "plugins" / "dsh-skilldelta"


def run() -> list[Figure]:
    """Medians of the time until the first request reaches the model, each beside the harness without the plugin."""
    node = shutil.which("node")
    if node is None or not (PLUGIN / "node_modules").is_dir():
        print("left out: node, or the packages of plugins/dsh-skilldelta, are not installed (npm ci)")
        return []
    program = str(Path(sys.executable).with_name("skilldelta"))
    printed = subprocess.check_output(
        [node, "--no-warnings", "test/time-added.mjs"],
        cwd=PLUGIN,
        env={**os.environ, "SKILLDELTA_PROGRAM": program},
        text=True,
    )
    return figures(json.loads(printed))


def figures(found: dict[str, float]) -> list[Figure]:
    """What is added, beside the whole wait without the plugin, and beside the time limit for a silent server."""
    without = Peer("first request without it", found["without"])
    limit = Peer("the time limit", found["timeout"])
    rows = (
        ("dsh_supplied_skill", "supplied", "Added by asking about a supplied skill; warm server.", without),
        ("dsh_discovered_skills", "gated", "The same, and two discovered skills are gated.", without),
        ("dsh_silent_server", "silent", "Added by a server that takes the question and never answers.", limit),
    )
    return [
        Figure(name, max(0.0, found[kind] - found["without"]), "ms", "lower", meaning, peer)
        for name, kind, meaning, peer in rows
    ]
