"""The dashboard's files by themselves: nothing of another host, nothing that makes markup of text, every module there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import skilldelta.serve
from skilldelta.report.palette import shared_style

FOLDER = Path(skilldelta.serve.__file__).parent / "dashboard"
MODULES = sorted(FOLDER.glob("*.js"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.name)
def test_no_module_makes_markup_of_text_or_runs_it(path: Path) -> None:
    code = path.read_text(encoding="utf-8")
    for sink in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "srcdoc"):
        assert sink not in code


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_no_file_names_another_host(path: Path) -> None:
    hosts = set(re.findall(r"https?://([^/\"'`\s\\]+)", path.read_text(encoding="utf-8")))
    assert hosts <= {"www.w3.org", "127.0.0.1:7345"}  # a namespace, and the example of a question


def test_every_import_leads_to_a_module_that_exports_it() -> None:
    for path in MODULES:
        for names, module in re.findall(r'import \{([^}]*)\} from "\./([\w.]+)";', path.read_text(encoding="utf-8")):
            exported = (FOLDER / module).read_text(encoding="utf-8")
            for name in filter(None, (name.strip() for name in names.split(","))):
                assert re.search(rf"export (const|class|async function\*|function) {name}\b", exported), (
                    path.name,
                    name,
                )


def test_every_imported_name_is_used() -> None:
    for path in MODULES:
        code = path.read_text(encoding="utf-8")
        for names in re.findall(r"import \{([^}]*)\}", code):
            for name in filter(None, (name.strip() for name in names.split(","))):
                assert len(re.findall(rf"\b{name}\b", code)) > 1, (path.name, name)


def test_the_page_has_no_inline_script_or_style() -> None:
    page = (FOLDER / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)", page)
    assert not re.search(r"<style|\sstyle=|\son\w+=", page)


def test_every_color_is_one_of_the_reports() -> None:
    """The dashboard has no palette of its own."""
    style = (FOLDER / "dashboard.css").read_text(encoding="utf-8")
    used = set(re.findall(r"var\(--c-([\w-]+)\)", style))
    assert used <= set(re.findall(r"--c-([\w-]+):", shared_style()))
    assert re.findall(r"#[0-9a-f]{3,8}\b", style) == []
