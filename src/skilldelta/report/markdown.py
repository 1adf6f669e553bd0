"""Markdown for a pull request: names that come from others are shown as code, so that they neither format anything nor notify anyone."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Characters of a name in a table.
_LONGEST_NAME = 120


def code(text: str) -> str:
    """A name as inline code, on one line; no backtick in it ends the code, and no bar ends the cell."""
    line = _one_line(text)
    line = line if len(line) <= _LONGEST_NAME else f"{line[: _LONGEST_NAME - 1]}…"
    fence = "`" * (max((len(run) for run in re.findall(r"`+", line)), default=0) + 1)
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}".replace("|", "\\|")


def plain(text: str) -> str:
    """A sentence that may hold names from others: nothing in it is markup, a link, or a mention."""
    escaped = re.sub(r"([\\`*_{}\[\]<>|#~])", r"\\\1", _one_line(text))
    return escaped.replace("@", "@\u200b").replace("://", ":\u200b//")


def _one_line(text: str) -> str:
    return " ".join("".join(character if character.isprintable() else " " for character in text).split())


def pipe_table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """A table whose first `left` columns are words and whose others are numbers; cells are Markdown already."""
    rule = ["---" if i < left else "---:" for i in range(len(columns))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (columns, rule, *rows)) + "\n"


def details(summary: str, body: str) -> str:
    """A part that opens on a click."""
    return f"<details><summary>{summary}</summary>\n\n{body}\n</details>\n"
