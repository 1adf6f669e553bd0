"""`make bench` runs every benchmark file; `python -m benchmarks predictor bank` runs some.

Each file `bench_<name>.py` has `run()`, which returns figures by name. The machine may be shared and noisy: compare the
ratios, not the seconds of two runs.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path


def main(names: list[str]) -> None:
    """Run the named benchmarks, or all, and print one JSON document a benchmark."""
    known = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
    for name in names or known:
        if name not in known:
            sys.exit(f"unknown benchmark {name!r}; known are {', '.join(known)}")
        figures = importlib.import_module(f"benchmarks.bench_{name}").run()
        print(json.dumps({name: figures}, indent=2, default=float), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
