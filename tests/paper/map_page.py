"""docs/paper-map.md as data: the blocks that prepare a folder, and the rows of its tables."""

from __future__ import annotations

import re
from dataclasses import dataclass

from docs.pages import Block, blocks, read

PAGE = "docs/paper-map.md"

_CELL_END = re.compile(r"(?<!\\)\|")
_COLUMNS = 5


@dataclass(frozen=True)
class Row:
    """One part of the paper."""

    id: str
    paper: str
    code: tuple[str, ...]
    command: str
    claim: str


def preparation() -> list[Block]:
    """The blocks that make a folder in which every command runs."""
    return blocks(PAGE)


def rows() -> list[Row]:
    """Every row of every table; one that lacks a cell is refused."""
    lines = [line for line in read(PAGE).splitlines() if line.startswith("|")]
    return [_row(line) for line in lines if not re.match(r"\|( # \||-)", line)]


def _row(line: str) -> Row:
    cells = [cell.strip() for cell in _CELL_END.split(line)[1:-1]]
    assert len(cells) == _COLUMNS, f"{len(cells)} cells instead of {_COLUMNS}: {line}"
    assert all(cells), f"an empty cell: {line}"
    number, paper, code, command, claim = cells
    (words,) = re.findall(r"`([^`]+)`", command)
    return Row(number, paper, tuple(re.findall(r"`(skilldelta\.[\w.]+)`", code)), words, claim)
