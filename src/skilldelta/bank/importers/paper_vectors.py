"""The vectors that the paper authors' files bring with them, filed under the texts of their tasks.

They are stored under a name that begins with "imported/". No encoder that makes vectors has such a name, so imported
vectors never meet others.
"""

from __future__ import annotations

import hashlib
import math
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skilldelta.arrays import Vectors, unit_rows
from skilldelta.bank.batch import TextVector
from skilldelta.errors import InputError, shown
from skilldelta.records import Task, text_digest

# Bytes of one array of an NPZ: 700,000 vectors of 384 numbers.
MOST_BYTES = 1 << 30
_ROWS_AT_ONCE = 8192
_SAME = 0.999  # cosine above which two vectors of one text are one vector that a service made twice


def load_npz(path: Path) -> dict[str, NDArray[np.float32]]:
    """The unit vectors of an embeddings NPZ (`ids`, `vectors`) by id."""
    _check_sizes(path)
    try:
        # Opened here, because np.load leaves a file open when it finds it damaged.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            ids, vectors = archive["ids"], archive["vectors"]
    except Exception as error:  # numpy raises whatever its zip, header and type parsers raise
        raise _unreadable(path, error) from None
    if ids.ndim != 1 or vectors.ndim != 2 or len(ids) != len(vectors) or not vectors.size:
        raise InputError(f"{path}: ids {ids.shape} and vectors {vectors.shape} do not match; give one row per id")
    if vectors.dtype.kind not in "fiu" or ids.dtype.kind not in "Uiu":
        raise InputError(f"{path}: ids must be strings and vectors numbers, got {ids.dtype} and {vectors.dtype}")
    by_id = dict(zip(map(str, ids.tolist()), unit_matrix(path, vectors), strict=True))
    if len(by_id) < len(ids):
        raise InputError(f"{path}: {len(ids) - len(by_id)} ids stand twice; give each vector an id of its own")
    return by_id


def _check_sizes(path: Path) -> None:
    """Refuse by the arrays' own headers, before anything is unpacked: a few megabytes of zeros may claim gigabytes."""
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {name: _unpacked_size(archive, f"{name}.npy") for name in ("ids", "vectors")}
    except Exception as error:
        raise _unreadable(path, error) from None
    for name, size in sizes.items():
        if size > MOST_BYTES:
            raise InputError(f"{path}: {name} unpacks to {size / 2**30:,.1f} GiB, the limit is 1 GiB; split the panel")


def _unpacked_size(archive: zipfile.ZipFile, member: str) -> int:
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
    return math.prod(shape) * dtype.itemsize


def _unreadable(path: Path, error: Exception) -> InputError:
    reason = " ".join(str(error).split())[:120]
    return InputError(f'{path}: cannot read "ids" and "vectors" ({reason}); write them with numpy.savez')


def unit_matrix(path: Path, rows: NDArray[np.generic] | Sequence[Sequence[float]]) -> Vectors:
    """Unit rows; zero and non-finite ones are refused with the file's name."""
    blocks = []
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        raw = np.asarray(rows[start : start + _ROWS_AT_ONCE], np.float64)
        largest = np.abs(raw).max(axis=1, keepdims=True)
        try:
            # Scaled first, so that squares of extreme values neither overflow nor vanish.
            blocks.append(unit_rows(raw / np.where((largest > 0) & np.isfinite(largest), largest, 1.0)))
        except InputError as error:
            row = re.search(r"(?<=vector )\d+", str(error))
            message = str(error) if row is None else str(error).replace(row[0], str(start + int(row[0])), 1)
            raise InputError(f"{path}: {message}") from None
    return np.concatenate(blocks)


def text_vectors(path: Path, tasks: Sequence[Task], vectors: Vectors, *, model: str = "") -> list[TextVector]:
    """The vector of each task's text. Without a model's name, a digest of the vectors tells two files apart."""
    name = model or hashlib.sha256(np.ascontiguousarray(vectors).tobytes()).hexdigest()[:12]
    encoder = f"imported/{name}/{vectors.shape[1]}/l2"
    by_text: dict[str, int] = {}
    for row, task in enumerate(tasks):
        first = by_text.setdefault(task.text, row)
        if float(vectors[first] @ vectors[row]) < _SAME:
            raise InputError(
                f"{path}: the tasks {shown(tasks[first].task_id)} and {shown(task.task_id)} have one text and two "
                "vectors; encode both again"
            )
    return [TextVector(encoder, text_digest(text), vectors[row]) for text, row in by_text.items()]
