"""Which tasks are held out together while weights are learned.

A fold is a hash of the task id: every row of a task falls into one fold, and a new task moves no other task.
"""

from __future__ import annotations

import zlib

import numpy as np

from skilldelta.arrays import Ints, Strings

FOLDS = 10


def fold_of(task_id: str) -> int:
    """The fold of one task."""
    return zlib.crc32(task_id.encode("utf-8", "surrogatepass")) % FOLDS


def folds_of(task_ids: Strings) -> Ints:
    """(n,) the fold of every row."""
    return np.fromiter((fold_of(str(task_id)) for task_id in task_ids), np.int64, len(task_ids))


def hash_order(task_ids: Strings) -> Ints:
    """(n,) rows in an order that neither outcomes nor record order decide, for samples of a large support."""
    keys = np.fromiter((zlib.crc32(f"order:{task_id}".encode()) for task_id in task_ids), np.int64, len(task_ids))
    return np.argsort(keys, kind="stable")
