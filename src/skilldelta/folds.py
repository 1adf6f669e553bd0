"""Folds of a panel's tasks, for values that must not have seen the outcome they are judged by.

A fold is a hash of the task id: every row of a task falls into one fold, and a new task moves no other.
"""

from __future__ import annotations

import hashlib

import numpy as np

from skilldelta.arrays import Ints, Strings
from skilldelta.errors import InputError

FOLDS = 5


def held_out_folds(task_ids: Strings, folds: int = FOLDS) -> Ints:
    """(n,) the fold of every row; with few tasks a fold may be empty."""
    if folds < 2:
        raise InputError(f"folds must be at least 2, got {folds}")
    # Cryptographic, so that these folds have nothing to do with those an estimator may use inside.
    digests = (hashlib.blake2b(str(task_id).encode("utf-8", "surrogatepass"), digest_size=8) for task_id in task_ids)
    return np.fromiter((int.from_bytes(d.digest()) % folds for d in digests), np.int64, len(task_ids))
