"""A skip is a failure where the missing package is required."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

_SUITE = """
import pytest

@pytest.mark.skipif(True, reason="bubblewrap is not installed")
def test_marked(): ...

def test_in_its_body():
    pytest.skip("no PostgreSQL server programs are installed")

def test_for_another_reason():
    pytest.skip("not on this system")
"""


@pytest.mark.parametrize(
    ("required", "code", "outcome"),
    [("", 0, "3 skipped"), ("bubblewrap postgresql", 1, "1 failed, 1 skipped, 1 error")],
)
def test_a_required_package_is_never_skipped(tmp_path: Path, required: str, code: int, outcome: str) -> None:
    (tmp_path / "test_it.py").write_text(_SUITE)
    (tmp_path / "conftest.py").write_text((Path(__file__).parent / "conftest.py").read_text(encoding="utf-8"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-q", "."],
        cwd=tmp_path,
        env={**os.environ, "SKILLDELTA_REQUIRE": required},
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, done.stdout
    assert outcome in done.stdout
