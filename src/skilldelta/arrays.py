"""Arrays: types by what they hold, records of columns, what a Support takes as columns, and when two numbers are equal.

Shapes stand beside the fields that have them. Averages of equal gains differ in their last digits, by the weights and by
the order of a sum. Every comparison of a score with a threshold goes through `exceeds`, in a decision as in an
evaluation, so that the two cannot disagree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from typing import Any, Required, Self, TypedDict, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skilldelta.errors import InputError
from skilldelta.nouns import plural

Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# Where there are many: counts of draws, rows of neighbors.
SmallInts = NDArray[np.int32]
Strings = NDArray[np.str_]
Vectors = NDArray[np.float32]

_DECIMALS = 12
# Differences up to this are rounding error.
ROUNDING = 10.0**-_DECIMALS


class ArrayRecord:
    """A frozen dataclass whose array fields run over the same rows, so that all of them change together."""

    __slots__ = ()

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The array fields by name."""
        held = ((field.name, getattr(self, field.name)) for field in fields(self))  # type: ignore[arg-type]
        return {name: value for name, value in held if isinstance(value, np.ndarray)}

    def each(self, change: Callable[..., NDArray[Any]], *others: Self) -> Self:
        """The record with every array changed; `change` also gets the same array of the other records."""
        changed = {n: change(array, *(getattr(other, n) for other in others)) for n, array in self.arrays.items()}
        return replace(self, **changed)  # type: ignore[type-var]


class PanelLabels(TypedDict, total=False):
    """What a Support knows about its rows besides numbers."""

    texts: Sequence[str]
    encoder: str
    agent: str
    suite: str


class GivenColumns(PanelLabels, total=False):
    """The columns of a Support as callers have them, one entry per task."""

    task_ids: Required[Sequence[str] | Strings]
    families: Sequence[str] | Strings | None
    skills: Sequence[str] | Strings | None
    vectors: Required[ArrayLike]
    y0: Required[ArrayLike]
    y1: Required[ArrayLike]
    r0: ArrayLike | None
    r1: ArrayLike | None
    tokens0: ArrayLike | None
    tokens1: ArrayLike | None


_WORDS, _SUCCESSES, _REPETITIONS = ("task_ids", "families", "skills"), ("y0", "y1"), ("r0", "r1")
_TOKENS = ("tokens0", "tokens1")


def checked_columns(columns_given: GivenColumns) -> dict[str, Any]:
    """The fields of a Support; vectors are normalized, absent repetitions are one, absent tokens unknown."""
    n = len(columns_given["task_ids"])
    columns: dict[str, Any] = {"texts": (), **{name: [""] * n for name in _WORDS}}
    columns |= {name: np.ones(n) for name in _REPETITIONS} | {name: np.full(n, np.nan) for name in _TOKENS}
    columns |= {name: value for name, value in columns_given.items() if value is not None}
    columns |= {name: np.asarray(columns[name], np.str_) for name in _WORDS}
    columns["vectors"] = unit_rows(columns["vectors"])
    columns |= {name: np.asarray(columns[name], np.float64) for name in _SUCCESSES + _TOKENS}
    columns |= {name: np.asarray(columns[name], np.int64) for name in _REPETITIONS}
    columns["texts"] = tuple(columns["texts"])
    _check(columns, n)
    return columns


def _check(columns: dict[str, Any], n: int) -> None:
    for name in (*_WORDS, "vectors", *_SUCCESSES, *_REPETITIONS, *_TOKENS):
        if len(columns[name]) != n:
            rows = plural(len(columns[name]), "row")
            raise InputError(f"{name} has {rows} for {plural(n, 'task')}; give one row per task")
    if columns["texts"] and len(columns["texts"]) != n:
        rows = plural(len(columns["texts"]), "row")
        raise InputError(f"texts has {rows} for {plural(n, 'task')}; give one row per task, or none")
    for name in _SUCCESSES:
        allowed = (columns[name] >= 0) & (columns[name] <= 1)
        if not allowed.all():
            raise InputError(f"{name} must lie in [0, 1], got {columns[name][~allowed][0]}")
    for name in _REPETITIONS:
        if (columns[name] < 1).any():
            raise InputError(f"{name} must be at least 1 for every pair, got {columns[name].min()}")


# Rows that are scaled at once: in double precision, a whole matrix would take three times its memory.
_ROWS_AT_ONCE = 16_384


def unit_rows(vectors: ArrayLike) -> Vectors:
    """Rows scaled to length 1 as contiguous float32; a zero, non-finite or ragged row is refused."""
    try:
        raw = vectors if isinstance(vectors, np.ndarray) else np.asarray(vectors, dtype=np.float64)
    except ValueError as error:
        raise InputError(f"vectors have unequal dimensions ({error}); encode all texts with one encoder") from None
    if raw.ndim != 2:
        raise InputError(f"vectors must be a matrix with one row per task, got shape {raw.shape}")
    scaled = np.empty(raw.shape, np.float32)
    for start in range(0, len(raw), _ROWS_AT_ONCE):
        rows = np.asarray(raw[start : start + _ROWS_AT_ONCE], np.float64)
        if not np.isfinite(rows).all():
            row = start + int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
            raise InputError(f"vector {row} has a value that is not finite; encode its text again")
        lengths = np.sqrt(np.vecdot(rows, rows))
        if not lengths.all():
            row = start + int(np.flatnonzero(lengths == 0)[0])
            raise InputError(f"vector {row} is zero and has no direction; encode a text that is not empty")
        scaled[start : start + len(rows)] = rows / lengths[:, None]
    return scaled


def tie_rounding(values: Floats) -> Floats:
    """Values with their rounding error removed: averages of equal gains must tie whatever their weights."""
    rounded: Floats = np.round(values, _DECIMALS)
    return rounded


@overload
def exceeds(score: float, threshold: float) -> bool: ...
@overload
def exceeds(score: Floats, threshold: float | Floats) -> Flags: ...
def exceeds(score: float | Floats, threshold: float | Floats) -> bool | Flags:
    """Whether a score is above a threshold by more than rounding error; equality is not enough, and NaN never is."""
    with np.errstate(over="ignore"):  # a threshold too large to be rounded is above every score all the same
        above = np.round(score, _DECIMALS) > np.round(threshold, _DECIMALS)
    return above if isinstance(above, np.ndarray) else bool(above)
