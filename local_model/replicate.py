"""Replicates the paper's method with a local model: LogicBench and MedCalc-Bench, both arms, then every table and figure.

    python local_model/replicate.py --size 0.5b --tasks sra_tasks --output replication --server http://127.0.0.1:18432/v1

Tasks are SRA-Bench's `logicbench.json` and `medcalcbench.json`, which you supply; the skill texts stand in
`replication/`. Stop it whenever you like and start it again: what the bank has is not run again. Rounds take the same
number of further tasks from every family, so that families are even wherever it stops. docs/replication.md has the
settings, the costs and what came out.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SKILLS = HERE / "replication"
# A few words of reasoning, then an answer in the form that the prompt asks for. Both arms have the same grammar.
LOGIC_GRAMMAR = r'root ::= [^\n]{0,120} "\nThe answer is: " ("yes" | "no" | "choice_" [1-4])'


@dataclass(frozen=True)
class Part:
    """One suite, and how the model answers it."""

    suite: str
    data: str
    families: tuple[str, ...]
    per_family: int
    answering: tuple[str, ...]


PARTS = (
    Part(
        "logicbench",
        "logicbench.json",
        tuple(f"logicbench_{number:03}" for number in range(19)),
        6,
        ("--output-tokens", "128", "--extra-body", json.dumps({"grammar": LOGIC_GRAMMAR})),
    ),
    # The calculators whose notes are a few lines long: a model of this size cannot read the others.
    Part(
        "medcalc",
        "medcalcbench.json",
        tuple(f"medcalcbench_{number:03}" for number in (8, 20, 21, 22, 24, 25, 50, 51, 52, 53, 54)),
        10,
        ("--output-tokens", "200", "--solver", "code"),
    ),
)


def main() -> int:
    parser = argparse.ArgumentParser(description="Replicate the paper's method with a local model.")
    parser.add_argument("--size", default="0.5b", choices=("0.5b", "1.5b"), help="the model that the server serves")
    parser.add_argument("--server", default="http://127.0.0.1:18431/v1", help="where local_model/server.py answers")
    parser.add_argument("--tasks", type=Path, required=True, help="folder of logicbench.json and medcalcbench.json")
    parser.add_argument("--output", type=Path, required=True, help="the study's folder; it goes on there")
    parser.add_argument(
        "--minutes", type=float, default=240, help="start no round after so many minutes (default: 240)"
    )
    arguments = parser.parse_args()
    started, model = time.monotonic(), f"qwen2.5-coder-{arguments.size}-instruct"
    for part in PARTS:
        prepare(part, arguments.tasks, arguments.output)
    for share in range(1, max(part.per_family for part in PARTS) // 2 + 1):
        for part in PARTS:
            if time.monotonic() - started < 60 * arguments.minutes:
                collect(part, min(2 * share, part.per_family), arguments.output, arguments.server, model)
    for part in PARTS:
        tables(part, arguments.output, arguments.server, model)
    return 0


def prepare(part: Part, tasks: Path, output: Path) -> None:
    """The suite of one part in our own words, from the families that there are skill texts for."""
    folder = output / "suites" / part.suite
    if not (folder / "suite.yaml").is_file():
        families = [word for name in part.families for word in ("--family", name)]
        sources = ["--from", tasks / part.data, "--skills", SKILLS / part.suite, "--protocol", "plain"]
        skilldelta("suite", "prepare", part.suite, *sources, *families, "--output", folder)


def collect(part: Part, per_family: int, output: Path, server: str, model: str) -> None:
    """Both arms of so many tasks of every family; those that the bank has are skipped."""
    limit = ("--limit", per_family * len(part.families), "--repetitions", 1)
    where = ("--bank", output / "study.bank", "--base-url", server, "--model", model)
    skilldelta("collect", output / "suites" / part.suite, *where, *limit, *part.answering)


def tables(part: Part, output: Path, server: str, model: str) -> None:
    """Every table and figure of what the bank has; nothing more is run."""
    where = ("--base-url", server, "--model", model, "--output", output)
    # A limit of one task, which is there already: the tables are of the whole bank.
    rest = ("--limit", 1, "--repetitions", 1, "--no-self-judge", "--yes")
    skilldelta("study", part.suite, *where, *rest, *part.answering)


def skilldelta(*words: object) -> None:
    subprocess.run([sys.executable, "-m", "skilldelta", *map(str, words)], check=True)


if __name__ == "__main__":
    raise SystemExit(main())
