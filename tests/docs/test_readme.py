"""The README lists every command and every extra, and claims no more of the paper than the map does."""

from __future__ import annotations

import re
import tomllib

import click

from docs.pages import ROOT, read
from skilldelta.cli.main import COMMANDS, cli


def first_cells(heading: str) -> str:
    """The first column of the table that follows a line."""
    rows = read("README.md").partition(heading)[2].partition("|---")[2].partition("\n\n")[0]
    return "\n".join(line.split("|")[1] for line in rows.splitlines()[1:])


def test_the_table_of_commands_is_complete() -> None:
    named = set(re.findall(r"`([a-z -]+?)(?: --skill| [A-Z]|`)", first_cells("## Commands")))
    assert named == {words for name in COMMANDS for words in spelled(name)}


def spelled(name: str) -> list[str]:
    """A command as it is typed; a group's members instead of the group."""
    command = cli.get_command(click.Context(cli), name)
    return [f"{name} {member}" for member in command.commands] if isinstance(command, click.Group) else [name]


def test_the_table_of_extras_is_complete() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for_users = set(project["optional-dependencies"]) - {"dev", "docs", "browser"}
    assert set(re.findall(r"`([\w-]+)`", first_cells("Extras"))) == for_users


def test_the_readme_says_where_the_papers_plugin_is() -> None:
    text = " ".join(read("README.md").split())
    assert "completely" not in text
    assert "its harness plugin is `plugins/dsh-skilldelta`" in text
