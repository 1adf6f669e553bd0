"""No two rooms share a door sign: a module or a class has a name that no other has, or the reason stands here."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

from skilldelta.cli.main import COMMANDS

_SOURCE = Path(__file__).resolve().parents[1] / "src" / "skilldelta"

_SHARED_STEMS = {
    "__init__": "every package has one",
    "__main__": "the name that `python -m` looks for",
    "base": "the contract of the package that it opens: an agent, an estimator, a grader, a sandbox",
}


def test_no_two_modules_share_a_name() -> None:
    found = defaultdict(list)
    for path in _SOURCE.rglob("*.py"):
        is_command = path.parent.name == "cli" and path.stem.rstrip("_") in COMMANDS  # named as people type it
        if path.stem not in _SHARED_STEMS and not is_command:
            found[path.stem].append(path.relative_to(_SOURCE).as_posix())
    assert [paths for paths in found.values() if len(paths) > 1] == []


def test_no_two_classes_share_a_name() -> None:
    found = defaultdict(list)
    for path in _SOURCE.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(path.relative_to(_SOURCE).as_posix())
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}
