"""The architecture page and the glossary name what exists, all of it, and say how long the newcomer's path is."""

from __future__ import annotations

import importlib
import re
import sys
import tomllib
from pathlib import Path
from types import FrameType

import pytest

import skilldelta
from docs.pages import PAGES, ROOT, read
from docs.test_links import anchor_on_host, headings, links
from docsite.import_layers import import_layers
from serve.conftest import bank_path  # noqa: F401

SOURCE = ROOT / "src/skilldelta"
PATH = (
    "records.py",
    "pairing.py",
    "support.py",
    "gate/question.py",
    "advisor/advisor.py",
    "advisor/panel_view.py",
    "estimators/base.py",
    "estimators/blend/fitted.py",
    "gate/gate.py",
    "gate/fitted_gate.py",
    "gate/decision.py",
    "gate/answer.py",
)


def section(page: str, title: str) -> str:
    return read(page).split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_the_path_for_newcomers_is_as_long_as_the_page_says() -> None:
    text = section("docs/architecture.md", "Start reading here")
    assert tuple(re.findall(r"\(\.\./src/skilldelta/([\w/.]+)\)", text)) == PATH
    said = re.search(r"about ([\d,]+) lines", text)
    assert said is not None
    lines = sum(len((SOURCE / file).read_text(encoding="utf-8").splitlines()) for file in PATH)
    assert abs(int(said[1].replace(",", "")) - lines) <= lines / 20, (
        f"the path has {lines} lines, the page says {said[1]}"
    )


def test_a_default_decision_runs_through_every_file_of_the_path(bank_path: Path) -> None:  # noqa: F811
    called: set[str] = set()

    def note_file(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            called.add(frame.f_code.co_filename)

    with skilldelta.open_bank(bank_path) as bank:
        skill = bank.skills()[0].skill_id
        sys.setprofile(note_file)
        try:
            answer = skilldelta.advise("How many days are in 3 weeks?", skill, bank=bank)
        finally:
            sys.setprofile(None)
    assert answer.estimator == "blend"
    declarations = {"records.py", "pairing.py", "estimators/base.py"}
    assert {file for file in PATH if str(SOURCE / file) not in called} <= declarations


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_the_path_is_signposted(page: str) -> None:
    assert "docs/architecture.md#start-reading-here" in links(page)


def test_every_folder_of_the_package_is_a_room() -> None:
    rooms = re.findall(r"^\| `(\w+)` \|", section("docs/architecture.md", "The rooms"), re.MULTILINE)
    folders = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))
    assert rooms == folders


CHANGES = """add an estimator; add a harness; change the default threshold; add a column to executions; add a metric;
another database; a new importer; the wording of a verdict; a dashboard page; drop a component of the blend; log retention;
an encoder per suite"""


def test_every_change_names_its_files_and_counts_them() -> None:
    table = section("docs/architecture.md", "Where do I change …?")
    rows = re.findall(r"^\| ([\w ]+) \| (\d+) \| (.*?) \| (.*) \|$", table, re.MULTILINE)
    assert [change for change, *_ in rows] == re.split(r";\s+", CHANGES)
    for change, number, files, remark in rows:
        touched = re.findall(r"`([\w/]+\.(?:py|js|html))`", files)
        assert len(set(touched)) == int(number), f"{change}: {len(set(touched))} files, the page says {number}"
        mentioned = {
            path for path in (*touched, *re.findall(r"`(\w+/[\w/]+\.(?:py|js))`", remark)) if "NEW" not in path
        }
        assert [path for path in sorted(mentioned) if not (SOURCE / path).is_file()] == [], change


def test_every_file_at_the_root_of_the_package_is_on_the_page() -> None:
    rooms = section("docs/architecture.md", "The rooms")
    files = {path.name for path in SOURCE.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert {name for name in files if f"`{name}`" not in rooms} == set()


def test_the_layers_are_drawn_as_they_are_checked() -> None:
    assert f"<!-- generated: layers -->\n{import_layers()}<!-- end -->\n" in read("docs/architecture.md")


def test_what_the_import_rule_forbids_is_what_is_checked() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    forbidden = {one for contract in contracts if contract["type"] == "forbidden" for one in contract["source_modules"]}
    text = section("docs/architecture.md", "The import rule")
    assert {f"skilldelta.{name}" for name in re.findall(r"^- `(\w+)`", text, re.MULTILINE)} >= forbidden


@pytest.mark.parametrize("page", PAGES)
def test_a_module_or_name_of_the_package_that_a_page_mentions_exists(page: str) -> None:
    for name in sorted(
        set(re.findall(r"`(skilldelta(?:\.\w+)+)`", read(page))) - {"skilldelta.toml", "skilldelta.bank"}
    ):
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            module, _, attribute = name.rpartition(".")
            assert hasattr(importlib.import_module(module), attribute), f"{page}: {name} does not exist"


@pytest.mark.parametrize("page", PAGES)
def test_a_path_of_the_repository_that_a_page_mentions_exists(page: str) -> None:
    for path in re.findall(r"`((?:src|tests|docs|benchmarks|docsite|local_model)(?:/[\w.-]+)*/?)`", read(page)):
        assert (ROOT / path).exists(), f"{page}: {path} does not exist"


TERMS = """task skill bundle family suite agent condition execution pair bank panel support target gain threshold familiarity
interval verdict decision-log effective-support radius auroc matched-rate-random noise-floor fold cross-fitting"""


def test_the_glossary_explains_every_term_once() -> None:
    terms = [anchor_on_host(title) for title in headings("docs/glossary.md")]
    assert len(terms) == len(set(terms))
    assert set(TERMS.split()) <= set(terms)


def test_every_term_is_linked_from_a_page_that_uses_it() -> None:
    groups = re.findall(r"^## (.*)$", read("docs/glossary.md"), re.MULTILINE)
    terms = {anchor_on_host(title) for title in headings("docs/glossary.md")[1:] if title not in groups}
    linked = {
        link.partition("#")[2]
        for page in PAGES
        if "glossary" not in page
        for link in links(page)
        if "glossary.md#" in link
    }
    assert terms - linked == set()
