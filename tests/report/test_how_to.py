"""The Python block of the report's how-to page runs and writes a report."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .parsed_page import parse

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "report.md"


def test_the_python_block_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"^```python\n(.*?)^```", _PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    exec(compile(code, str(_PAGE), "exec"), {})
    assert "python study.py" in parse(Path("report.html")).all("section", id="made")[0].text
