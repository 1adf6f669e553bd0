"""Data frames of tasks: pandas, polars or any frame that narwhals knows, read into plain columns.

Neither pandas nor polars is needed; whoever brings a frame has its library.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from skilldelta.arrays import Floats
from skilldelta.errors import InputError

_TEXT_COLUMNS = ("text", "question")


@dataclass(frozen=True, slots=True)
class TaskTable:
    """The columns of a frame that predictions use; names that the frame lacks are empty strings."""

    texts: tuple[str, ...]  # (n,)
    families: tuple[str, ...]  # (n,)
    skills: tuple[str, ...]  # (n,)
    task_ids: tuple[str, ...]  # (n,)
    gains: Floats | None  # (n,) y1 - y0, where the frame has both

    @classmethod
    def of(cls, frame: Any) -> TaskTable | None:
        """The frame's tasks; None where it is no frame, or one of numbers without a text column."""
        table = nw.from_native(frame, eager_only=True, pass_through=True)
        if not isinstance(table, nw.DataFrame):
            return None
        text = next((name for name in _TEXT_COLUMNS if name in table.columns), None)
        if text is None:
            return None
        texts = _words(table, text)
        for row, words in enumerate(texts):
            if not words.strip():
                raise InputError(f"row {row} has no {text}; give every task its question, or leave the row out")
        blank = ("",) * len(texts)
        named = {
            name: _words(table, name) if name in table.columns else blank for name in ("family", "skill", "task_id")
        }
        return cls(texts, named["family"], named["skill"], named["task_id"], _gains(table))


def _words(table: Any, name: str) -> tuple[str, ...]:
    """A column as strings; a missing cell is an empty string."""
    return tuple("" if value is None or value != value else str(value) for value in table[name].to_list())


def _gains(table: Any) -> Floats | None:
    if not {"y0", "y1"} <= set(table.columns):
        return None
    return _means(table["y1"].to_list(), "y1") - _means(table["y0"].to_list(), "y0")


def _means(cells: Sequence[Any], name: str) -> Floats:
    """One success per row: a number, or the mean of a list of repetitions."""
    found = np.empty(len(cells))
    for row, cell in enumerate(cells):
        try:
            values = np.asarray(cell, np.float64)
            found[row] = values.mean() if values.size else np.nan
        except (TypeError, ValueError):
            raise InputError(f"{name} of row {row} is {cell!r}; give a success in [0, 1], or a list of them") from None
        if not 0 <= found[row] <= 1:  # NaN, an empty list, fails the comparison
            raise InputError(
                f"{name} of row {row} is {cell!r}; give a success in [0, 1], and leave out tasks that lack an arm"
            )
    return found
