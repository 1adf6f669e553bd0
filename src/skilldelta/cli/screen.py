"""The screen: text of others is made harmless before it is printed, and tables fit their width.

Imported names and texts may hold control characters, which a terminal obeys, or square brackets, which Rich reads as
markup. Neither survives here.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from rich import box
from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from skilldelta.cli.output import paused, readable

# Columns of an output that is no terminal and has no COLUMNS.
PIPED_WIDTH = 120
# Characters to which a column of words may be shortened.
_SHORTEST_WORDS = 18
# Where not even the words would fit into one table.
_SHORTEST_AT_ALL = 6
# Spaces between two columns, as SIMPLE_HEAD sets them.
_BETWEEN = 3


class Screen(Console):
    """A console without markup that makes every string readable first."""

    def __init__(self) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, soft_wrap=False, width=_columns())

    def print(self, *objects: Any, **options: Any) -> None:
        """As Rich's, for strings and renderables."""
        with paused():
            super().print(*(readable(part) if isinstance(part, str) else part for part in objects), **options)

    def on_broken_pipe(self) -> None:
        """Left to the command line, which ends with 0 where the reader went away (`| head`); Rich exits with 1."""
        self.quiet = True
        raise BrokenPipeError

    def remark(self, text: str, *, indent: int = 2, style: str = "") -> None:
        """A paragraph that keeps its indent where it wraps."""
        self.print(Padding(Text(readable(text)), (0, 0, 0, indent), expand=False), style=style)

    def hanging(self, title: str, text: str, *, indent: int = 2) -> None:
        """A paragraph beside its title, whose further lines stand below its first."""
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(ratio=1)
        grid.add_row(Text(readable(title)), Text(readable(text)))
        self.print(Padding(grid, (0, 0, 0, indent), expand=False))


def _columns() -> int | None:
    """None lets Rich find out, which takes COLUMNS=0 at its word and shows nothing."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns) > 0:
        return None
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPED_WIDTH


def fitted(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], *, left: int, width: int) -> Group:
    """The rows as one table, or as several that repeat the first column, none wider than `width`."""
    cells = [[readable(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, (column, *(row[i] for row in cells)))) for i, column in enumerate(columns)]
    widths = _shortened(widths, left, width)
    tables = [_made(columns, cells, widths, chosen, left) for chosen in _portions(widths, left, width)]
    return Group(Text(readable(title), style="bold"), *tables)


def _shortened(widths: Sequence[int], left: int, width: int) -> list[int]:
    """Word columns made narrower where the whole is too wide, the widest first."""
    shortened = list(widths)
    while _total(shortened) > width and left and max(shortened[:left]) > _SHORTEST_WORDS:
        shortened[shortened.index(max(shortened[:left]))] -= 1
    while _total(shortened[:left]) > width and left and max(shortened[:left]) > _SHORTEST_AT_ALL:
        shortened[shortened.index(max(shortened[:left]))] -= 1
    return shortened


def _portions(widths: Sequence[int], left: int, width: int) -> Iterator[list[int]]:
    """Which columns stand in which table."""
    chosen = list(range(left))
    for column in range(left, len(widths)):
        if len(chosen) > 1 and _total([widths[i] for i in (*chosen, column)]) > width:
            yield chosen
            chosen = list(range(min(left, 1)))
        chosen.append(column)
    yield chosen


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _BETWEEN * (len(widths) - 1) + 2  # SIMPLE_HEAD leaves a space on both sides


def _made(
    columns: Sequence[str], cells: Sequence[Sequence[str]], widths: Sequence[int], chosen: Sequence[int], left: int
) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i in chosen:
        table.add_column(Text(cut(columns[i], widths[i])), justify="left" if i < left else "right", no_wrap=True)
    for row in cells:
        table.add_row(*(Text(cut(row[i], widths[i])) for i in chosen))
    return table


def cut(text: str, width: int) -> str:
    """At most `width` cells, with an ellipsis where something is missing."""
    return text if cell_len(text) <= width else set_cell_size(text, max(width - 1, 1)).rstrip() + "…"
