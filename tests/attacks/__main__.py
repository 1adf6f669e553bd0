"""`make attack`: every attack in a process of its own, two at a time, and the table in docs/threat-model.md.

`python -m attacks NAME ...` runs some and writes no table; PYTHONPATH must have the folder `tests`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from attacks.attack import ATTACKS, SHARE, Attack, Tally, tally
from attacks.surfaces import load_attacks
from attacks.table import write_table

# Seconds after which an attack that hangs in one try is ended.
_PATIENCE = SHARE + 105


def main() -> int:
    """Run the attacks; 1 if anything worked."""
    load_attacks()
    parser = argparse.ArgumentParser(prog="python -m attacks", description="Attack this checkout on loopback.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"from {', '.join(ATTACKS)}; default: all")
    parser.add_argument("--tries", type=int, help="in place of each attack's own number")
    parser.add_argument("--here", action="store_true", help="in this process, and print the result as JSON")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in ATTACKS]
    if unknown:
        parser.error(f"unknown attack {unknown[0]!r}")
    chosen = [ATTACKS[name] for name in options.names or ATTACKS]
    if options.here:
        for one in chosen:
            with tempfile.TemporaryDirectory(prefix="sd-", ignore_cleanup_errors=True) as folder:
                print(json.dumps(asdict(tally(one, Path(folder), options.tries or one.tries))))
        return 0
    started = time.monotonic()
    with ThreadPoolExecutor(2) as pool:
        results = dict(zip(chosen, pool.map(_apart, chosen, [options.tries] * len(chosen)), strict=True))
    print(f"{time.monotonic() - started:.0f} s")
    if not options.names:
        write_table({one.name: (one, result) for one, result in results.items()})
    return int(any(result.failures for result in results.values()))


def _apart(chosen: Attack, tries: int | None) -> Tally:
    """In a process and a home of its own, which are both gone afterwards."""
    started = time.monotonic()
    command = [sys.executable, "-m", "attacks", chosen.name, "--here", *(["--tries", str(tries)] if tries else [])]
    with tempfile.TemporaryDirectory(prefix="sd-", ignore_cleanup_errors=True) as home:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SKILLDELTA_")}
        environment |= {"HOME": home, "XDG_STATE_HOME": f"{home}/s", "OPENBLAS_NUM_THREADS": "1"}
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=_PATIENCE)
            result = Tally(**json.loads(done.stdout.splitlines()[-1]))
        except subprocess.TimeoutExpired:
            result = Tally(1, 0, [f"did not end within {_PATIENCE:.0f} s"])
        except (IndexError, ValueError, TypeError):
            result = Tally(1, 0, [f"the attack itself failed: {done.stderr[-1500:]}"])
    seconds = time.monotonic() - started
    verdict = result.skipped or f"{result.survived:,} of {result.tries:,} survived"
    print(f"{chosen.surface}: {chosen.title}: {verdict}; {result.figure or '-'} ({seconds:.0f} s)", flush=True)
    for failure in result.failures:
        print(f"    {failure[:6000]}", flush=True)
    return result


if __name__ == "__main__":
    sys.exit(main())
