"""Every bash and python block of every page runs, in order, in one empty folder per page.

A block with a title is written to the file of that name first. Blocks in the other languages are shown only, but must
be well-formed where that can be checked.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

from docs.pages import PAGES, Block, blocks
from skilldelta.cli.main import run

_SHOWN = {"text", "console", "csv", "json", "markdown", "toml", "yaml"}
_ELSEWHERE = {
    "docs/how-to/collect.md": "tests/e2e/test_collect_docs.py",
    "docs/paper-map.md": "tests/paper/map_page.py",
}
"""Pages whose commands need an endpoint."""

_NEEDS = {"docs/inspect-to-pull-request.md": "inspect_ai"}
"""Pages that are about an optional package."""


@pytest.mark.parametrize("page", [page for page in PAGES if page not in _ELSEWHERE])
def test_every_code_block_of_the_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "USERPROFILE", "XDG_STATE_HOME"):  # of whoever runs the tests, and not to be written to
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv(
        "SKILLDELTA_SERVER", "http://127.0.0.1:9"
    )  # somebody may be serving another bank on this machine
    names: dict[str, object] = {"__name__": "page"}
    for block in blocks(page):
        if block.title:
            Path(block.title).parent.mkdir(parents=True, exist_ok=True)
            Path(block.title).write_text(block.code, encoding="utf-8")
        if block.language == "bash":
            run_commands(page, block)
        elif block.language == "python" and not block.title:
            exec(compile(block.code, f"<a block of {page}>", "exec", dont_inherit=True), names)


def run_commands(page: str, block: Block) -> None:
    for line in block.code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            assert words[0] == "skilldelta", f"{page}: only skilldelta commands run in bash blocks, got {line!r}"
            assert run(words[1:]) == 0, f"{page}: {line}"


@pytest.mark.parametrize("page", PAGES)
def test_every_block_is_of_a_language_that_is_run_or_checked(page: str) -> None:
    for block in blocks(page):
        assert block.language in {"bash", "python", *_SHOWN}, f"{page}: {block.language!r} is neither run nor checked"
        if block.language == "toml":
            tomllib.loads(block.code)
        elif block.language == "yaml":
            yaml.safe_load(block.code)
        elif block.language == "json":
            for line in block.code.splitlines():
                json.loads(line)


def test_pages_that_are_run_elsewhere_are_run_there() -> None:
    for page, test in _ELSEWHERE.items():
        assert Path(page).name in (Path(__file__).parents[2] / test).read_text(encoding="utf-8")
