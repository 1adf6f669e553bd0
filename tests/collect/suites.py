"""Small suites for tests, written to a folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SKILL = "Double the number, then add one."


def write_suite(
    folder: Path,
    *,
    tasks: int = 3,
    rows: Sequence[dict[str, Any]] | None = None,
    settings: str = "",
    skill: str = SKILL,
) -> Path:
    """A suite whose task i asks to compute i and expects 2i + 1."""
    for name in ("arith", "other"):
        (folder / "skills" / name).mkdir(parents=True, exist_ok=True)
        (folder / "skills" / name / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: How to compute.\n---\n\n{skill if name == 'arith' else 'Be brief.'}\n"
        )
    (folder / "suite.yaml").write_text(f"name: small\ngrader: {{type: exact}}\n{settings}")
    made = rows or [
        {"task_id": f"t{i}", "text": f"Compute {i}", "family": "f", "skill": "arith", "answer": str(2 * i + 1)}
        for i in range(tasks)
    ]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
    return folder


def solve(request: dict[str, Any]) -> str:
    """A model that computes right with the skill and echoes the number without it."""
    number = int(request["messages"][-1]["content"].split()[-1])
    told = any(SKILL in message["content"] for message in request["messages"])
    return str(2 * number + 1 if told else number)
