"""The screen: text of others is made harmless before it is printed, and tables fit their width.

Imported names and texts may hold control characters, which a terminal obeys, or square brackets, which Rich reads as
markup. Neither survives here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from skilldelta.cli.readable import readable

PIPED_WIDTH = 120
"""Columns of an output that is no terminal and has no COLUMNS."""
_SHORTEST_WORDS = 18
"""Characters to which a column of words may be shortened."""
_BETWEEN = 3
"""Spaces between two columns, as SIMPLE_HEAD sets them."""


class Screen(Console):
    """A console without markup that makes every string readable first."""

    def __init__(self) -> None:
        wide = None if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdigit() else PIPED_WIDTH
        super().__init__(highlight=False, markup=False, emoji=False, soft_wrap=False, width=wide)

    def print(self, *objects: Any, **options: Any) -> None:
        """As Rich's, for strings and renderables."""
        super().print(*(readable(one) if isinstance(one, str) else one for one in objects), **options)


def fitted(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: int, width: int) -> Group:
    """The rows as one table, or as several that repeat the first `left` columns, none wider than `width`."""
    cells = [[readable(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, (column, *(row[i] for row in cells)))) for i, column in enumerate(columns)]
    widths = _shortened(widths, left, width)
    tables = [_made(columns, cells, widths, chosen, left) for chosen in _portions(widths, left, width)]
    return Group(Text(readable(title), style="bold"), *tables)


def _shortened(widths: Sequence[int], left: int, width: int) -> list[int]:
    """Word columns made narrower where the whole is too wide, the widest first."""
    found = list(widths)
    while _total(found) > width and left and max(found[:left]) > _SHORTEST_WORDS:
        widest = max(range(left), key=lambda i: found[i])
        found[widest] -= 1
    return found


def _portions(widths: Sequence[int], left: int, width: int) -> Iterator[list[int]]:
    """Which columns stand in which table."""
    first, rest = list(range(left)), list(range(left, len(widths)))
    chosen = list(first)
    for column in rest:
        if len(chosen) > left and _total([widths[i] for i in (*chosen, column)]) > width:
            yield chosen
            chosen = list(first)
        chosen.append(column)
    yield chosen


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _BETWEEN * (len(widths) - 1) + 2  # SIMPLE_HEAD leaves a space on both sides


def _made(
    columns: Sequence[str], cells: Sequence[Sequence[str]], widths: Sequence[int], chosen: Sequence[int], left: int
) -> Table:
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i in chosen:
        made.add_column(Text(_cut(columns[i], widths[i])), justify="left" if i < left else "right", no_wrap=True)
    for row in cells:
        made.add_row(*(Text(_cut(row[i], widths[i])) for i in chosen))
    return made


def _cut(text: str, width: int) -> str:
    """At most `width` cells, with an ellipsis where something is missing."""
    return text if cell_len(text) <= width else set_cell_size(text, max(width - 1, 1)).rstrip() + "…"
