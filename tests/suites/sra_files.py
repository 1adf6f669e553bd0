"""Instance files and skill corpora of our own in the format of SRA-Bench, small enough to read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_TESTS = """\
import unittest

class TestCases(unittest.TestCase):
    def test_it(self):
        self.assertEqual(task_func({n}), {wanted})
"""


def instance(dataset: str, number: int, question: str, skills: list[str], data: dict[str, Any]) -> dict[str, Any]:
    return {
        "instance_id": f"{dataset}_{number:05d}",
        "dataset": dataset,
        "question": question,
        "skill_annotations": skills,
        "eval_data": data,
    }


def toolqa(tasks: int = 12) -> list[dict[str, Any]]:
    return [
        instance(
            "toolqa", n, f"What was the price of tea on day {n}?", [f"toolqa_{n % 2:03d}"], {"answer": f"{n}.5 USD"}
        )
        for n in range(tasks)
    ]


def medcalc(tasks: int = 12) -> list[dict[str, Any]]:
    rows = []
    for n in range(tasks):
        data = {"answer": str(2 * n), "calculator_id": 6, "output_type": "decimal"}
        limits = {"lower_limit": str(2 * n - 0.1), "upper_limit": str(2 * n + 0.1)}
        rows.append(
            instance(
                "medcalcbench",
                n,
                f"Note {n}: the value is {n}. Double it.",
                [f"medcalcbench_{n % 2:03d}"],
                {**data, **limits},
            )
        )
    return rows


def logicbench(tasks: int = 12) -> list[dict[str, Any]]:
    return [
        instance(
            "logicbench",
            n,
            f"If {n} is even, the lamp is on. {n} is {'even' if n % 2 == 0 else 'odd'}. Does this mean that it is on?",
            [f"logicbench_{n % 3:03d}"],
            {"answer": "yes" if n % 2 == 0 else "no", "task_type": "BQA"},
        )
        for n in range(tasks)
    ]


def bigcodebench(tasks: int = 12) -> list[dict[str, Any]]:
    """Bundles of two or three skills; task 39 is one of those whose reference fails."""
    rows = []
    for n in [*range(tasks), 39]:
        data = {
            "entry_point": "task_func",
            "code_prompt": "def task_func(n):",
            "test": _TESTS.format(n=n, wanted=n + 7),
        }
        skills = [f"lib_{n % 2}", "lib_2", *(["lib_3"] if n % 4 == 0 else [])]
        rows.append(instance("bigcodebench", n, f"Write task_func(n) that adds seven, variant {n}.", skills, data))
    return rows


def corpus(rows: list[dict[str, Any]], *, tools: bool = False) -> list[dict[str, Any]]:
    """A skill text for every skill that is named; with `tools`, each brings a calculator."""
    names = sorted({name for row in rows for name in row["skill_annotations"]})
    calculator = {
        "name": "double",
        "description": "Twice a value",
        "parameters": {"value": "float"},
        "implementation": "def double(value):\n    import math\n    return math.fsum([value, value])\n",
    }
    return [
        {
            "skill_id": name,
            "name": f"Skill {name}",
            "description": f'How to do {name}: with "quotes" and a colon',
            "content": f"SKILL {name}: follow these steps.",
            **({"tools": [calculator]} if tools else {}),
        }
        for name in names
    ]


def write(folder: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(rows))
    return folder / name
