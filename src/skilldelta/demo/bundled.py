"""The bank that ships with the package: our own suite, and what a local model really did on it in both arms.

`outcomes/runs.jsonl` holds every execution and `outcomes/manifest.json` how they were made; `make collect-demo`
regenerates a part of them.
"""

from __future__ import annotations

import json
from importlib.resources import as_file, files
from typing import Any

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers import read_source
from skilldelta.records import Skill


def bundled_batch() -> Batch:
    """Tasks, skills with their texts, and executions of the demo."""
    with as_file(files("skilldelta.demo") / "outcomes" / "runs.jsonl") as path:
        batch = read_source(path, format="runs.jsonl")
    return Batch(tasks=batch.tasks, skills=bundled_skills(), executions=batch.executions)


def bundled_skills() -> list[Skill]:
    """The suite's skills, as the collector injected them."""
    from skilldelta.collect.suite import load_suite

    with as_file(files("skilldelta.demo") / "suite") as folder:
        return load_suite(folder).records()[1]


def manifest() -> dict[str, Any]:
    """How the outcomes were made: model, settings, seeds, hashes, command."""
    document: dict[str, Any] = json.loads((files("skilldelta.demo") / "outcomes" / "manifest.json").read_text("utf-8"))
    return document
