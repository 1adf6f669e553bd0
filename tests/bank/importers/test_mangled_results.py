"""Results of other tools with any value replaced by any other: read, or refused in one line."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skilldelta.bank import Bank
from skilldelta.bank.importers import Defaults, Reading, read_any
from skilldelta.errors import InputError

from . import layouts
from .layouts import write_tree

JUNK: list[Any] = [
    *(None, True, False, 0, -1, 2, 1e308, 10**400, "", "x", "\0", "\ud800", "nan", [], {}, [[]], [None], {"a": 1}),
    *([{}], {"": {}}, "../x", "a/b", "<model-name>", 0.5, "1", float("nan"), "with_skill", ["a", 1]),
]
LAYOUTS: dict[str, dict[str, Any]] = {
    "skill-creator": layouts.workspace(),
    "agent-skill-evals": layouts.skill_evals(),
    "harbor": layouts.harbor_jobs(),
    "benchflow": layouts.benchflow_jobs(),
    "skillevaluation": {"results.json": layouts.skillevaluation()},
    "promptfoo": {"results.json": layouts.promptfoo()},
    "waza": {"results.json": layouts.waza()},
    "dotnet-skill-validator": {"results.json": layouts.dotnet()},
    "skillgrade": layouts.skillgrade(),
}


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key, one in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, key)
        yield from places(one, (*path, key))


def mangled(files: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """The files with one to three values replaced or removed."""
    files = copy.deepcopy(files)
    names = [name for name, content in files.items() if isinstance(content, dict | list)]
    for _ in range(int(rng.integers(1, 4))):
        document = files[names[int(rng.integers(len(names)))]]
        found = list(places(document))
        if not found:
            continue
        *above, key = found[int(rng.integers(len(found)))]
        parent = document
        for step in above:
            parent = parent[step]
        if rng.integers(4):
            parent[key] = JUNK[int(rng.integers(len(JUNK)))]
        else:
            del parent[key]
    return files


def read_or_none(folder: Path, said: Defaults, name: str) -> Reading | None:
    """What is read, or None after a refusal in one line."""
    try:
        return read_any(folder, said, format=name)
    except InputError as error:
        if "\n" in str(error):
            pytest.fail(json.dumps(str(error)))
        return None


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_value_that_is_not_what_it_should_be_is_no_crash(name: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(len(name))
    said = Defaults(agent="me", skill="s", condition=None)
    read = 0
    for number in range(60):
        folder = write_tree(tmp_path / str(number), mangled(LAYOUTS[name], rng))
        reading = read_or_none(folder, said, name)
        if reading is None:
            continue
        read += 1
        for run in reading.executions:
            assert run.success is None or 0 <= run.success <= 1
            assert run.success is None or run.status == "completed"
        if number % 20 == 0:
            with Bank.open(tmp_path / f"{number}.bank", create=True) as bank:
                bank.add(reading.batch)
    assert read > 10
