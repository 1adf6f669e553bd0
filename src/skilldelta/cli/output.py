"""What commands print: tables for people, one JSON document for programs, remarks on stderr.

Colours switch off by themselves when the output is not a terminal. With --json nothing but the document
reaches stdout.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli.progress import paused
from skilldelta.cli.standard_streams import has_every_character, readable
from skilldelta.files import jsonable, write_text
from skilldelta.redaction import redacted

if TYPE_CHECKING:
    from rich.console import Group

    from skilldelta.cli.screen import Screen


def console() -> Screen:
    """Stdout for people, with foreign text made harmless. Not a terminal: plain text, as wide as COLUMNS or 120."""
    from skilldelta.cli.screen import Screen

    return Screen()


def note(message: str) -> None:
    """A remark on stderr, out of the way of --json."""
    with paused():
        click.echo(readable(redacted(message)), err=True)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> Group:
    """A plain table under its title; the first `left` columns are words, the others numbers.

    Where the screen is too narrow, long words are shortened, then further columns go into a table of their own.
    """
    from skilldelta.cli.screen import fitted

    return fitted(title, columns, rows, left=left, width=console().width)


def write_json(document: Any, output: Path | None = None) -> None:
    """One JSON document to stdout, or atomically to a file."""
    has_all = output is not None or has_every_character(sys.stdout)
    text = json.dumps(jsonable(document), ensure_ascii=not has_all, indent=2, allow_nan=False)
    if output is None:
        with paused():
            click.echo(text)
    else:
        write_text(output, text + "\n")


def percent(value: float | None, digits: int = 1) -> str:
    """A fraction as a percentage; unknown is a dash."""
    return "–" if value is None or not math.isfinite(value) else f"{100 * value:.{digits}f}%"


def signed(value: float | None, digits: int = 3) -> str:
    """A number with its sign; unknown is a dash."""
    if value is None or not math.isfinite(value):
        return "–"
    return f"{round(value, digits) + 0.0:+.{digits}f}"  # + 0.0 turns a negative zero into zero


def number(value: float | None, digits: int = 0) -> str:
    """A number with thousands separated; unknown is a dash."""
    return "–" if value is None or not math.isfinite(value) else f"{value:,.{digits}f}"


def shorten(text: str, width: int) -> str:
    """One line of a text, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"
