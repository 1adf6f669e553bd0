"""The documentation site: its pages are staged whole, what is generated is complete, and nothing is loaded from outside.

`make docs` builds it; that its links hold on the site, too, is the strict build's to check.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import skilldelta
from docs.pages import ROOT
from docsite.command_reference import command_reference
from docsite.import_layers import import_layers
from docsite.offline import outside_assets
from docsite.python_reference import python_reference
from docsite.staging import stage
from skilldelta.cli.main import cli


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pages = tmp_path_factory.mktemp("staged") / "docs"
    stage(ROOT, pages)
    return pages


def in_navigation(entries: list[dict[str, Any]]) -> Iterator[str]:
    for entry in entries:
        for value in entry.values():
            yield from in_navigation(value) if isinstance(value, list) else [value]


def test_the_navigation_names_every_page_once(staged: Path) -> None:
    named = list(in_navigation(tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]))
    assert sorted(named) == sorted(path.relative_to(staged).as_posix() for path in staged.rglob("*.md"))


def test_every_generated_region_is_filled_in(staged: Path) -> None:
    for page in staged.rglob("*.md"):
        assert "<!-- generated" not in page.read_text(encoding="utf-8"), page.name
    assert "## skilldelta predict" in (staged / "reference/command-line.md").read_text(encoding="utf-8")


def test_links_of_the_root_lead_to_pages_of_the_site(staged: Path) -> None:
    home = (staged / "index.md").read_text(encoding="utf-8")
    assert "](tutorial.md)" in home
    assert "](how-it-works.svg)" in home
    assert "](docs/" not in home
    for page in staged.rglob("*.md"):
        assert "](../src" not in page.read_text(encoding="utf-8"), f"{page.name} links a file that is not on the site"


def commands_below(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        inner = click.Context(command, info_name=name, parent=context)
        yield inner.command_path, command
        if isinstance(command, click.Group):
            yield from commands_below(command, inner)


def test_the_reference_has_every_command_and_every_option() -> None:
    reference = command_reference()
    sections = dict(re.findall(r"^#{2,3} (skilldelta .*)\n((?:(?!##).*\n?)*)", reference, re.MULTILINE))
    for path, command in commands_below(cli, click.Context(cli, info_name="skilldelta")):
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                assert f"<code>{option.opts[0]}" in sections[path], f"{path} {option.opts[0]}"
    assert "\b" not in reference


def test_every_option_says_what_it_means() -> None:
    silent = [
        f"{path} {option.opts[0]}"
        for path, command in commands_below(cli, click.Context(cli, info_name="skilldelta"))
        for option in command.params
        if isinstance(option, click.Option) and not option.help
    ]
    assert silent == []


def test_the_reference_has_every_public_name() -> None:
    reference = python_reference()
    for name in set(skilldelta.__all__) - {"__version__"}:
        assert f"::: skilldelta.{name}\n" in reference


def test_the_import_rule_is_the_one_that_is_checked() -> None:
    lines = import_layers().splitlines()
    assert lines[2].split() == ["│", "cli", "│"]
    assert any(line.startswith("│ records, errors, ") for line in lines)
    assert any(line.startswith("│ front_matter, ") for line in lines[-4:])  # the lowest layer


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.html", '<script src="https://cdn.example/x.js"></script>'),
        ("a.html", '<link rel="stylesheet" href="//fonts.example/css">'),
        ("a.html", '<img src="http://example.com/x.png">'),
        ("a.html", '<p style="background: url(https://example.com/x.png)">'),
        ("a.css", "@import 'https://fonts.example/css';"),
    ],
)
def test_an_asset_of_another_host_is_found(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert len(outside_assets(tmp_path)) == 1


def test_links_and_local_assets_are_fine(tmp_path: Path) -> None:
    page = '<a href="https://example.com">x</a><link rel="canonical" href="https://example.com"><img src="x.png">'
    (tmp_path / "a.html").write_text(page, encoding="utf-8")
    assert outside_assets(tmp_path) == []
