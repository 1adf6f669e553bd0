"""How much later the first model request of a conversation arrives because of SkillDelta, in each installed harness.

Usage: python tests/harnesses/time_added.py [ROUNDS] [HARNESS …]. Each round runs the harness as a person would: without
SkillDelta, set up by `skilldelta install`, and with the plugin of this repository. A warm server decides to inject the skill.
Prints one JSON document: per harness, the milliseconds from the start of the program to the arrival of the request, round by
round. `make bench` reads it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from harnesses import installing
from harnesses.conftest import UNITS, WAREHOUSE, make_bank, serving
from harnesses.fake_models import FakeModels, fake_models
from harnesses.harness_runs import HarnessRun

HARNESSES = ("claude-code", "codex", "gemini", "opencode", "pi", "dsh")
_WARM_UP = 2


def main(words: list[str]) -> None:
    rounds = int(words[0]) if words else 15
    chosen = words[1:] or [name for name in HARNESSES if installing.program(name) is not None]
    with tempfile.TemporaryDirectory(prefix="sd-", ignore_cleanup_errors=True) as folder:
        bank = make_bank(Path(folder))
        print(json.dumps({name: times_of(name, rounds, bank, Path(folder) / name) for name in chosen}))


def times_of(name: str, rounds: int, bank: Path, folder: Path) -> dict[str, list[float]]:
    """Times by kind of set-up, measured in turns."""
    with ExitStack() as stack:
        models = stack.enter_context(fake_models())
        runs = {kind: _prepared(kind, name, bank, folder, models, stack) for kind in ("without", "installed", "plugin")}
        times: dict[str, list[float]] = {kind: [] for kind in runs}
        for turn in range(-_WARM_UP, rounds):
            for kind, run in runs.items():
                milliseconds = _first_request(run, models)
                assert (UNITS in models.steps[0].text) == (kind != "without"), f"{name}, {kind}: {models.steps[0].text}"
                if turn >= 0:
                    times[kind].append(round(milliseconds, 1))
    return times


def _prepared(kind: str, name: str, bank: Path, folder: Path, models: FakeModels, stack: ExitStack) -> HarnessRun:
    """A harness that is set up, and a server of the same user, who has a home of their own."""
    place = folder / kind
    gate = stack.enter_context(serving(bank, HOME=str(place / "home"), XDG_STATE_HOME=""))
    settings = {"skill": "units", "server": gate.url}
    run = HarnessRun(name, place, models.url, gate.url, settings, plugin=kind == "plugin").prepare()
    if kind == "installed":
        words = ["install", name, "--skill", "units", "--server", gate.url, "--yes"]
        command = [sys.executable, "-m", "skilldelta", *words]
        subprocess.run(command, cwd=run.project, env=run.environment(), check=True, capture_output=True, timeout=120)
    return run


def _first_request(run: HarnessRun, models: FakeModels) -> float:
    models.requests.clear()
    started = time.monotonic()
    run.ask(WAREHOUSE)
    return 1e3 * (models.steps[0].time - started)


if __name__ == "__main__":
    main(sys.argv[1:])
