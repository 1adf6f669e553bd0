"""Hooks of real harnesses, answered by the running server of the same user: the process that they start only carries bytes."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from harnesses.conftest import ATLAS, POEM, UNITS, WAREHOUSE, serving
from harnesses.fake_models import FakeModels
from harnesses.harness_runs import HarnessRun

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini"])
def test_the_users_own_server_answers_and_no_process_does_the_work(
    name: str, models: FakeModels, bank: Path, tmp_path: Path
) -> None:
    log = _logged_program(tmp_path)
    cases = (("units", WAREHOUSE, UNITS), ("units", POEM, ""), ("atlas", WAREHOUSE, ATLAS))
    with TemporaryDirectory(prefix="sd-", ignore_cleanup_errors=True) as short:  # a socket's path has a limit
        folder = Path(short)
        with serving(bank, HOME=str(folder / "home"), XDG_STATE_HOME="") as gate:
            run = HarnessRun(name, folder, models.url, gate.url, programs=str(tmp_path), long_skills=True)
            run.prepare()
            for skill, prompt, expected in cases:
                models.requests.clear()
                run.settings = {"skill": skill}
                run.ask(prompt)
                seen = models.steps[0].text
                assert [line for line in expected.splitlines() if line not in seen] == []
                assert ("pallet holds" in seen) == bool(expected)
    imported = log.read_text()
    assert "skilldelta.serve.hooks.relay" in imported
    assert "skilldelta.cli.hook_process" not in imported


def _logged_program(folder: Path) -> Path:
    """A `skilldelta` that writes down what it imports."""
    log, program = folder / "imports.log", folder / "skilldelta"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -X importtime -m skilldelta "$@" 2>> {log}\n')
    program.chmod(0o755)
    return log
