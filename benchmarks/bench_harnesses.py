"""What SkillDelta adds before the first model step: in the agent loop of DeepSeek Harness, and in every installed harness.

The loop needs node and the packages of plugins/dsh-skilldelta (`npm ci` there); the harnesses are those of
`make test-harnesses`, and take some minutes. What a hook takes by itself is in bench_hook.py.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median

from benchmarks.figure import Figure, Peer

ROOT = Path(__file__).resolve().parents[1]
PLUGIN = ROOT / "plugins" / "dsh-skilldelta"
ROUNDS = 15


def run() -> list[Figure]:
    """Medians of the time until the first request reaches the model, each beside the harness without the plugin."""
    return [*_in_the_loop(), *_in_programs()]


def _in_the_loop() -> list[Figure]:
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


def _in_programs() -> list[Figure]:
    if not (ROOT / "build" / "harnesses").is_dir() and not os.environ.get("SKILLDELTA_HARNESSES"):
        print("left out: no harness is installed (make test-harnesses installs them)")
        return []
    words = [sys.executable, "tests/harnesses/time_added.py", str(ROUNDS)]
    return added(json.loads(subprocess.check_output(words, cwd=ROOT, text=True)))


def added(times: dict[str, dict[str, list[float]]]) -> list[Figure]:
    """Per harness and way of setting it up, how much later the first request arrives. A plugin takes time to load by itself."""
    ways = (("installed", "skilldelta install"), ("plugin", "the plugin, whose loading counts"))
    return [
        Figure(
            f"{name.replace('-', '_')}_{kind}",
            median(found[kind]) - median(found["without"]),
            "ms",
            "lower",
            f"Added from the program's start to its first request; {way}; warm server, skill injected. Medians.",
            Peer("first request without it", median(found["without"])),
        )
        for name, found in times.items()
        for kind, way in ways
    ]
