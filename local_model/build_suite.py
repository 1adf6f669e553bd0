"""Writes the demo suite's tasks.jsonl: every task with its correct answer, the same file on every run.

The skills beside it are written by hand. The wording and the answers live in families/, one random stream per
family, so that adding a family leaves the others as they are.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from random import Random

from families import house_rules, plain_work, stale_advice
from families.draft import Draft, Family

SUITE = Path(__file__).resolve().parent.parent / "src" / "skilldelta" / "demo" / "suite"
FAMILIES = house_rules.FAMILIES + plain_work.FAMILIES + stale_advice.FAMILIES
SEED = "house-rules 1"


def build(families: tuple[Family, ...] = FAMILIES) -> list[dict[str, object]]:
    """All tasks in file order: family after family, its cases mixed."""
    return [task for family in families for task in tasks_of(family)]


def tasks_of(family: Family) -> list[dict[str, object]]:
    rng = Random(f"{SEED} {family.name}")
    seen: set[str] = set()
    drafts = [(case, fresh(make, rng, seen)) for case, make, count in family.cases for _ in range(count)]
    rng.shuffle(drafts)
    return [
        {
            "task_id": f"{family.name}-{number:02d}",
            "text": draft.text,
            "family": family.name,
            "skill": family.skill,
            "answer": draft.answer,
            "grader": draft.grader,
            "metadata": {"case": case},
        }
        for number, (case, draft) in enumerate(drafts, start=1)
    ]


def fresh(make, rng: Random, seen: set[str]) -> Draft:  # type: ignore[no-untyped-def]
    """A draft whose text no earlier task of the family has."""
    while (draft := make(rng)).text in seen:
        pass
    seen.add(draft.text)
    return draft


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the demo suite's tasks.jsonl.")
    parser.add_argument("--output", type=Path, default=SUITE / "tasks.jsonl")
    output = parser.parse_args().output
    tasks = build()
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("".join(json.dumps(task) + "\n" for task in tasks), encoding="utf-8")
    print(f"{len(tasks)} tasks in {len({task['family'] for task in tasks})} families: {output}")


if __name__ == "__main__":
    main()
