"""`make attack`: every attack in a process of its own, two at a time, and the table in docs/threat-model.md.

`python -m attacks NAME ...` runs some; the table then has their new results beside the earlier ones of the others, which are in
build/attacks.json. PYTHONPATH must have the folder `tests`.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from attacks.attack import ATTACKS, SHARE, Attack, Tally, tally
from attacks.surfaces import load_attacks
from attacks.table import write_table

# Seconds for all attacks; what is left of them is shared by the attacks that are left. One that hangs in a try is ended.
_SECONDS, _AT_ONCE, _PATIENCE = 530.0, 2, 170.0
_RESULTS = Path("build") / "attacks.json"


def main() -> int:
    """Run the attacks; 1 if anything worked."""
    load_attacks()
    parser = argparse.ArgumentParser(prog="python -m attacks", description="Attack this checkout on loopback.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"from {', '.join(ATTACKS)}; default: all")
    parser.add_argument("--tries", type=int, help="in place of each attack's own number")
    parser.add_argument("--seconds", type=float, default=SHARE, help="after which no further try of an attack begins")
    parser.add_argument("--here", action="store_true", help="in this process, and print the result as JSON")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in ATTACKS]
    if unknown:
        parser.error(f"unknown attack {unknown[0]!r}")
    chosen = [ATTACKS[name] for name in options.names or ATTACKS]
    if options.here:
        for one in chosen:
            with tempfile.TemporaryDirectory(prefix="sd-", ignore_cleanup_errors=True) as folder:
                print(json.dumps(asdict(tally(one, Path(folder), options.tries or one.tries, seconds=options.seconds))))
        return 0
    # First those that cannot be cut short.
    chosen.sort(key=lambda one: not one.at_once)
    started, left = time.monotonic(), iter(range(len(chosen), 0, -1))

    def apart(one: Attack) -> Tally:
        rest = max(_SECONDS - (time.monotonic() - started), 1.0)
        share = min(SHARE, rest * _AT_ONCE / next(left) * 0.8)  # a fifth for what starts and ends it
        return _apart(one, options.tries, share, min(_PATIENCE, rest + 45))

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        results = dict(zip(chosen, pool.map(apart, chosen), strict=True))
    usage = resource_usage()
    print(f"{time.monotonic() - started:.0f} s, {usage:.0f} s of processor time")
    latest = _kept({one.name: result for one, result in results.items()})
    if latest.keys() >= ATTACKS.keys():
        write_table({name: (ATTACKS[name], latest[name]) for name in ATTACKS})
    return int(any(result.failures for result in results.values()))


def _apart(chosen: Attack, tries: int | None, share: float, patience: float) -> Tally:
    """In a process and a home of its own, which are both gone afterwards."""
    started = time.monotonic()
    command = [sys.executable, "-m", "attacks", chosen.name, "--here", "--seconds", str(share)]
    command += ["--tries", str(tries)] if tries else []
    with tempfile.TemporaryDirectory(prefix="sd-", ignore_cleanup_errors=True) as home:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SKILLDELTA_")}
        environment |= {"HOME": home, "XDG_STATE_HOME": f"{home}/s", "OPENBLAS_NUM_THREADS": "1"}
        # A group of its own, so that nothing it has started is left when it is ended.
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
        )
        try:
            output, errors = process.communicate(timeout=patience)
            result = Tally(**json.loads(output.splitlines()[-1]))
        except subprocess.TimeoutExpired:
            _end(process)
            result = Tally(1, 0, [f"did not end within {patience:.0f} s"])
        except (IndexError, ValueError, TypeError):
            result = Tally(1, 0, [f"the attack itself failed: {errors[-1500:]}"])
    seconds = time.monotonic() - started
    verdict = result.skipped or f"{result.survived:,} of {result.tries:,} survived"
    print(f"{chosen.surface}: {chosen.title}: {verdict}; {result.figure or '-'} ({seconds:.0f} s)", flush=True)
    for failure in result.failures:
        print(f"    {failure[:6000]}", flush=True)
    return result


def resource_usage() -> float:
    """Processor seconds of all attacks so far."""
    times = os.times()
    return times.children_user + times.children_system


def _kept(results: Mapping[str, Tally]) -> dict[str, Tally]:
    """The latest result of every attack, those of earlier runs included."""
    rows = json.loads(_RESULTS.read_text()) if _RESULTS.exists() else {}
    rows |= {name: asdict(result) for name, result in results.items()}
    _RESULTS.parent.mkdir(exist_ok=True)
    _RESULTS.write_text(json.dumps(rows, indent=1))
    return {name: Tally(**row) for name, row in rows.items()}


def _end(process: subprocess.Popen[str]) -> None:
    if sys.platform == "win32":
        process.kill()
    else:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


if __name__ == "__main__":
    sys.exit(main())
