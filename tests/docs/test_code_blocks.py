"""Every bash and python block of these pages runs, in order, in one empty folder a page."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from skilldelta.cli.main import run

_ROOT = Path(__file__).resolve().parents[2]
_PAGES = ("README.md", "docs/tutorial.md", "docs/how-to/freeze-and-audit.md")
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[tuple[str, str]]:
    return _BLOCK.findall((_ROOT / page).read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", _PAGES)
def test_every_code_block_of_the_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ran = 0
    for language, code in blocks(page):
        if language == "bash":
            for line in code.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                if not words:
                    continue
                assert words[0] == "skilldelta", f"{page}: only skilldelta commands run in bash blocks, got {line!r}"
                assert run(words[1:]) == 0, f"{page}: {line}"
                ran += 1
        elif language == "python":
            exec(compile(code, page, "exec"), {})
            ran += 1
        else:
            assert language in {"text", "json", "toml", "yaml"}, (
                f"{page}: a block of language {language!r} is not tried"
            )
    assert ran


@pytest.mark.parametrize("page", ["README.md", *sorted(str(p.relative_to(_ROOT)) for p in _ROOT.glob("docs/**/*.md"))])
def test_every_relative_link_of_a_page_leads_somewhere(page: str) -> None:
    folder = (_ROOT / page).parent
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", (_ROOT / page).read_text(encoding="utf-8")):
        assert (folder / target).exists(), f"{page}: {target} does not exist"
