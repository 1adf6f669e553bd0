"""Which skill the words of a task speak of: a ridge regression on words and pairs of neighboring words.

The vector of a long task is an average, which hides the one sentence that names what is to be done. Words keep it. A text
counts three times with the same weight: as a whole, and by its first and its last words, where people say what they want.
Words are hashed to columns, so that the size does not grow with the vocabulary.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from skilldelta.arrays import Flags, Floats, Ints, Vectors

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# 2**15 columns for each reading of a text: collisions are rare among the few hundred words of a task.
_COLUMNS = 2**15
_READINGS = 3

# How many words at either end of a text count as its beginning and its end: two or three sentences.
_EDGE_WORDS = 40

# Words of a very long text that are read at all, half of them at either end.
_MOST_WORDS = 2_000

_WORD = re.compile(r"\w+|[^\w\s]")

# Beside a gram matrix whose diagonal is 1. Values from 0.1 to 1 made little difference.
_RIDGE = 0.3


@dataclass(frozen=True, eq=False)
class WordRegression:
    """A fitted regression of the class (each skill, then *none*) on words. Make it with `WordRegression.fit`."""

    rarity: Floats  # (columns,) the inverse document frequency of each column
    coefficients: Vectors  # (columns, classes)
    constants: Floats  # (classes,)
    without_itself: Floats  # (texts, classes) the score of each text by a regression that never saw it

    @classmethod
    def fit(cls, texts: Sequence[str], targets: Floats, weights: Floats) -> WordRegression:
        """Learn from texts.

        Parameters
        ----------
        texts : sequence of str
            Recorded tasks and prompts of no skill; an empty text says nothing.
        targets : (texts, classes)
            The share of each class in each text.
        weights : (texts,)
            How much each text counts, 1 on average.
        """
        counts = [_columns(text) for text in texts]
        frequency = np.bincount(
            np.concatenate([columns for columns, _ in counts]) if counts else [], minlength=_COLUMNS * _READINGS
        )
        rarity = np.log((1 + len(texts)) / (1 + frequency)) + 1
        rows = _sparse([_unit(columns, values, rarity) for columns, values in counts])
        constants = weights @ targets / len(texts)
        root = np.sqrt(weights)
        gram = (rows @ rows.T).toarray() * root[:, None] * root[None, :]
        inverse = np.linalg.inv(gram + _RIDGE * np.eye(len(texts)))
        dual = inverse @ (root[:, None] * (targets - constants))
        coefficients = np.asarray(rows.T @ (root[:, None] * dual), np.float32)
        # Leave-one-out in closed form: the residual divided by what the inverse keeps of a row.
        without_itself = targets - dual / np.diag(inverse)[:, None] / root[:, None]
        return cls(rarity, coefficients, constants, without_itself)

    def score(self, texts: Sequence[str]) -> Floats:
        """(texts, classes) how much the words of each text speak of each class."""
        result = np.tile(self.constants, (len(texts), 1))
        for i, text in enumerate(texts):
            columns, values = _columns(text)
            if len(columns):
                columns, values = _unit(columns, values, self.rarity)
                result[i] += values @ self.coefficients[columns]
        return result


def class_targets(is_member: Flags, prompts: int) -> tuple[Floats, Floats]:
    """What regressions of the class learn: targets and weights of some tasks, then of prompts of no skill.

    Returns
    -------
    targets : (tasks + prompts, skills + 1)
        A task of two skills is half a task of each; a prompt is one of *none*.
    weights : (tasks + prompts,)
        Every class has about the same weight; a skill with few tasks has a little less than one with many.
    """
    tasks, skills = is_member.shape
    targets = np.zeros((tasks + prompts, skills + 1))
    targets[:tasks, :-1] = is_member / np.maximum(is_member.sum(axis=1, keepdims=True), 1)
    targets[tasks:, -1] = 1.0
    weights = targets @ (1 / (targets.sum(axis=0) + _CLASS_SIZE_SHRINKAGE))
    return targets, weights * len(weights) / weights.sum()


# Texts that a class seems to have besides its own when its weight is set.
_CLASS_SIZE_SHRINKAGE = 2.0


def _columns(text: str) -> tuple[Ints, Floats]:
    """The hashed columns of a text in ascending order, and how often each occurs, on a scale of logarithms."""
    words = [word.lower() for word in _WORD.findall(text)]
    if len(words) > _MOST_WORDS:
        words = words[: _MOST_WORDS // 2] + words[-_MOST_WORDS // 2 :]
    columns: Counter[int] = Counter()
    for reading, part in enumerate((words, words[:_EDGE_WORDS], words[-_EDGE_WORDS:])):
        phrases = part + [f"{left} {right}" for left, right in pairwise(part)]
        columns.update(
            reading * _COLUMNS + crc32(phrase.encode("utf-8", "surrogatepass")) % _COLUMNS for phrase in phrases
        )
    order = sorted(columns)
    return np.array(order, np.int64), np.log1p(np.array([columns[column] for column in order], np.float64))


def _unit(columns: Ints, values: Floats, rarity: Floats) -> tuple[Ints, Floats]:
    """Values weighed by rarity, each reading of the text with the same length, all together with length 1."""
    weighed = values * rarity[columns]
    reading = columns // _COLUMNS
    squares = np.bincount(reading, weighed**2, _READINGS)
    return columns, weighed / np.sqrt(np.maximum(squares, 1e-12) * _READINGS)[reading]


def _sparse(rows: Sequence[tuple[Ints, Floats]]) -> csr_array:
    from scipy.sparse import csr_array  # takes longer to import than a decision; only learning needs it

    ends = np.cumsum([0, *(len(columns) for columns, _ in rows)])
    columns = np.concatenate([columns for columns, _ in rows])
    values = np.concatenate([values for _, values in rows])
    return csr_array((values, columns, ends), shape=(len(rows), _COLUMNS * _READINGS))
