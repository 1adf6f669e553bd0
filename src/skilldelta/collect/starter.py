"""A small working suite to start from: two families, one skill that helps and one that is not needed."""

from __future__ import annotations

import json
from pathlib import Path

from skilldelta.collect.suite import check_new_folder
from skilldelta.files import write_text

_SUITE = """\
name: {name}
description: A first suite; replace its tasks and skills with your own
agent:
  solver: generate
  system: Answer with the result only, no explanation.
  temperature: 0.0
  max_tokens: 64
grader: {{type: exact, ignore_case: true}}
"""

_SKILLS = {
    "part-numbers": (
        "How this workshop writes part numbers.",
        "A part number is the first three letters of the part in capitals, a dash, the width in millimetres with four "
        "digits, a dash, and the last digit of the year.\n\nExample: a hinge of 75 mm from 2024 is HIN-0075-4.",
    ),
    "plain-sums": (
        "How to add numbers.",
        "Write the numbers below each other and add them column by column, from right to left, with the carry.",
    ),
}

_TASKS = [
    ("part-1", "Write the part number of a bracket of 120 mm from 2023.", "part-numbers", "BRA-0120-3"),
    ("part-2", "Write the part number of a washer of 8 mm from 2025.", "part-numbers", "WAS-0008-5"),
    ("part-3", "Write the part number of a pulley of 1400 mm from 2021.", "part-numbers", "PUL-1400-1"),
    ("sum-1", "What is 17 + 25?", "plain-sums", 42),
    ("sum-2", "What is 128 + 64 + 32?", "plain-sums", 224),
    ("sum-3", "What is 999 + 2?", "plain-sums", 1001),
]


def write_starter(folder: Path) -> list[Path]:
    """Write the suite into a new or empty folder; returns the files."""
    check_new_folder(folder)
    files = {folder / "suite.yaml": _SUITE.format(name=folder.resolve().name)}
    rows = [
        {"task_id": task_id, "text": text, "family": skill, "skill": skill, "answer": answer}
        for task_id, text, skill, answer in _TASKS
    ]
    numeric = {"grader": {"type": "numeric"}}
    files[folder / "tasks.jsonl"] = "".join(
        json.dumps(row | numeric if isinstance(row["answer"], int) else row) + "\n" for row in rows
    )
    for name, (description, body) in _SKILLS.items():
        files[folder / "skills" / name / "SKILL.md"] = f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n"
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text)
    return list(files)
