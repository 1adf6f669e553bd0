"""`make bench` runs every benchmark; `python -m benchmarks collect start` runs some; `--markdown FILE` keeps the tables.

Each file `bench_<name>.py` has `run()`, which returns figures, each with the peer that was measured beside it. The machine
may be shared and noisy: compare the ratios, not the seconds of two runs.
"""

from __future__ import annotations

import argparse
import importlib
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figure import Figure
from benchmarks.table import as_markdown, as_text


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the named benchmarks, or all; print each table when it is ready."""
    known = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Figures beside their peers.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which to run, from {', '.join(known)}; default: all")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables to FILE as Markdown too")
    given = parser.parse_args(arguments)
    for name in given.names:
        if name not in known:
            parser.error(f"unknown benchmark {name!r}; known are {', '.join(known)}")
    before = machine()
    print(f"{before}\n↓ lower is better, ↑ higher is better; a ratio is the figure over its peer.\n", flush=True)
    groups: dict[str, list[Figure]] = {}
    for name in given.names or known:
        groups[name] = importlib.import_module(f"benchmarks.bench_{name}").run()
        print(as_text(name, groups[name]), end="\n\n", flush=True)
    if given.markdown:
        given.markdown.write_text(as_markdown(groups, before), encoding="utf-8")
        print(f"written to {given.markdown}")


def machine() -> str:
    """What the figures depend on: the processors, how busy they are, and Python."""
    load = f"load average {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load average unknown"
    return f"Python {platform.python_version()}, {os.cpu_count()} processors, {load} at the start."


if __name__ == "__main__":
    main()
