"""How much later the first model request of a conversation arrives because of SkillDelta, in each installed harness.

Usage: python tests/harnesses/time_added.py [ROUNDS] [HARNESS …]. Each round runs the harness as a person would, once without
and once with the installed plugin, which asks a warm server and injects the skill. Prints one JSON document: per harness, the
times in milliseconds from the start of the program to the arrival of the request, round by round. `make bench` reads it.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
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
    """Times without and with the plugin, by turns. The server is the user's own: it has the home of the run with the plugin."""
    home = folder / "with" / "home"
    times: dict[str, list[float]] = {"without": [], "with": []}
    with fake_models() as models, serving(bank, HOME=str(home), XDG_STATE_HOME="") as gate:
        runs = {
            kind: HarnessRun(name, folder / kind, models.url, gate.url, {"skill": "units"}, plugin=kind == "with")
            for kind in times
        }
        for run in runs.values():
            run.prepare()
        for turn in range(-_WARM_UP, rounds):
            for kind, run in runs.items():
                seconds = _first_request(run, models)
                assert (UNITS in models.steps[0].text) == (kind == "with"), (
                    f"{name}: the skill is where it should not be"
                )
                if turn >= 0:
                    times[kind].append(round(1e3 * seconds, 1))
    return times


def _first_request(run: HarnessRun, models: FakeModels) -> float:
    models.requests.clear()
    started = time.monotonic()
    run.ask(WAREHOUSE)
    return models.steps[0].time - started


if __name__ == "__main__":
    main(sys.argv[1:])
