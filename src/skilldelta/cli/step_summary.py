"""Markdown for a pull request, and for the summary that GitHub shows on the page of a workflow run."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import click

from skilldelta.cli.output import note
from skilldelta.errors import InputError
from skilldelta.files import check_destination, write_text
from skilldelta.redaction import without_known_secrets

_VARIABLE = "GITHUB_STEP_SUMMARY"


step_summary_option = click.option(
    "--step-summary",
    is_flag=True,
    help=f"Also add the Markdown to the file that {_VARIABLE} names, in GitHub Actions.",
)


def write_markdown(options: Mapping[str, Any], make: Callable[[], str]) -> None:
    """The Markdown of a command to the file of --markdown and to the step summary, where either was asked for."""
    path: Path | None = options["markdown"]
    if path or options["step_summary"]:
        text = make()
        if path:
            write_text(path, text, errors="replace")
            note(f"wrote {path}")
        if options["step_summary"]:
            _add_to_step_summary(text)


def _add_to_step_summary(text: str) -> None:
    """Append, because other steps write to the same file."""
    path = os.environ.get(_VARIABLE)
    if not path:
        raise InputError(f"--step-summary needs {_VARIABLE}, which GitHub Actions sets; leave the option out elsewhere")
    check_destination(Path(path))
    with open(path, "a", encoding="utf-8", errors="replace") as file:
        file.write(without_known_secrets(text) + "\n")
