"""The summary that GitHub shows on the page of a workflow run: a file that steps add Markdown to."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from skilldelta.errors import InputError
from skilldelta.files import check_destination
from skilldelta.redaction import without_known_secrets

F = TypeVar("F", bound=Callable[..., Any])

_VARIABLE = "GITHUB_STEP_SUMMARY"


def step_summary_option(function: F) -> F:
    """--step-summary."""
    return click.option(
        "--step-summary",
        is_flag=True,
        help=f"Also add the Markdown to the file that {_VARIABLE} names, in GitHub Actions.",
    )(function)


def add_to_step_summary(asked: bool, text: str) -> None:
    """Append to the summary where that was asked for; other steps write to the same file."""
    if not asked:
        return
    path = os.environ.get(_VARIABLE)
    if not path:
        raise InputError(f"--step-summary needs {_VARIABLE}, which GitHub Actions sets; leave the option out elsewhere")
    check_destination(Path(path))
    with open(path, "a", encoding="utf-8", errors="replace") as file:
        file.write(without_known_secrets(text) + "\n")
