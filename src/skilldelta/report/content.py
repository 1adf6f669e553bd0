"""What a report is made of, before it is HTML: plots, figures and tables.

A figure is its plots, the plain words below them and the same numbers as a table. Nothing here draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# A Vega-Lite specification with roles for colors (see `palette`).
Spec = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Plot:
    """One picture. `name` is its file name as an image, without folder and ending."""

    name: str
    spec: Spec
    title: str
    """What is drawn and in which unit; also what a person who cannot see the picture is told."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What a table shows. Numbers sort by their value, an unknown one last; words sort by themselves."""

    text: str
    value: float | None = None
    tone: str = ""
    """A policy's name, or `good` or `bad`."""
    link: str = ""
    """The id of the place in the page that the cell leads to."""


@dataclass(frozen=True, slots=True)
class Column:
    """A heading. Numbers stand right, words left."""

    title: str
    numeric: bool = True
    meaning: str = ""


def columns(*titles: str, words: int = 1) -> list[Column]:
    """Headings of which the first `words` stand above words, the others above numbers."""
    return [Column(title, numeric=place >= words) for place, title in enumerate(titles)]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows that can be sorted by any column."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, slots=True)
class Figure:
    """One question, answered by plots, words and numbers. `plots` is empty where there is nothing to draw."""

    name: str
    title: str
    words: Sequence[str]
    plots: Sequence[Plot] = ()
    table: Table | None = None
