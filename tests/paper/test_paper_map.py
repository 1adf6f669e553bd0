"""The paper map names what exists, and every command on it shows what its row says."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from paper import map_page
from paper.map_checks import CHECKS, deployment, evaluation, predictor, studies, theory, third_reading
from paper.map_folder import MapFolder, map_folder

ROWS = map_page.rows()
SECTIONS: tuple[ModuleType, ...] = (predictor, theory, evaluation, studies, deployment, third_reading)


@pytest.mark.parametrize("name", sorted({name for row in ROWS for name in row.code}))
def test_a_name_in_the_paper_map_can_be_imported(name: str) -> None:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute)


def test_every_row_has_a_check_and_every_check_a_row() -> None:
    assert sorted(row.id for row in ROWS) == sorted(CHECKS)


def test_every_part_of_the_paper_has_a_row() -> None:
    assert {row.id.partition(".")[0] for row in ROWS} == {str(n) for n in range(1, 48)}


def test_every_command_shows_what_its_row_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failures: list[Exception] = []
    with map_folder(tmp_path, monkeypatch) as folder:
        folder.prepare(map_page.preparation())
        for row in ROWS:
            try:
                check(row, folder)
            except (AssertionError, LookupError, ValueError, TypeError) as failure:
                failure.add_note(f"row {row.id}: skilldelta {row.command}\n{row.claim}")
                failures.append(failure)
    if failures:
        raise ExceptionGroup("rows of the paper map", failures)


def check(row: map_page.Row, folder: MapFolder) -> None:
    """Run the row's command; it succeeds, unless the row says with which exit code it ends."""
    ran = folder.ran(row.command)
    expected = 1 if "exit code 1" in row.claim else 0
    assert ran.code == expected, f"exit code {ran.code}: {ran.err}"
    CHECKS[row.id](ran.document if row.command.endswith("--json") or " --json " in row.command else ran.out, folder)
