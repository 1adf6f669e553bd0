"""Studies are a library: they print nothing, read no environment, and do not know the command line."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from skilldelta import studies

FILES = sorted(Path(str(studies.__file__)).parent.glob("*.py"))
FORBIDDEN_MODULES = {"click", "rich", "os", "sys", "logging"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_study_neither_prints_nor_reads_the_environment(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert not FORBIDDEN_MODULES & {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert str(node.module).split(".")[0] not in FORBIDDEN_MODULES
            assert not str(node.module).startswith("skilldelta.cli")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"print", "input"}


def test_there_are_studies_to_look_at() -> None:
    assert {"loaded_panel", "evaluation_study", "report_study", "sealed_study"} <= {path.stem for path in FILES}
