"""The views a stack has of a task: its vector, its words, its shape. No outcome is an argument here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats, Vectors
from skilldelta.estimators.stack.inner_folds import hash_order
from skilldelta.estimators.stack.shape import Shape
from skilldelta.estimators.stack.words import Words
from skilldelta.support import Support

_LARGEST = 256
"""Slopes are fitted on at most so many directions of the vectors; the rest hardly varies."""


@dataclass(frozen=True, slots=True, eq=False)
class Lens:
    """How a text and its vector become features, learned from the support's texts and vectors."""

    projection: Vectors | None  # (dim, 256), None where vectors are short enough as they are
    words: Words | None
    shape: Shape | None

    @classmethod
    def learn(cls, support: Support) -> tuple[Lens, Views]:
        """A lens, and the support's own rows seen through it. Texts may be absent: then vectors are the only view."""
        words = Words.learn(support.texts, hash_order(support.task_ids)) if support.texts else None
        lens = cls(
            projection=_main_directions(support.vectors),
            words=words[0] if words else None,
            shape=Shape.learn(support.texts) if support.texts else None,
        )
        return lens, lens._views(support, words[1] if words else None)

    def views(self, support: Support) -> Views:
        """Every row of another support seen through this lens."""
        return self._views(support, self.words.rows(support.texts) if self.words and support.texts else None)

    def grown(self, views: Views, before: Support, support: Support) -> Views:
        """The views of a support that has grown: only what is new is looked at, where old rows are still the first."""
        n = len(before)
        same = (support.task_ids[:n] == before.task_ids).all() if len(support) >= n else False
        if not same or bool(support.texts) != bool(before.texts) or support.texts[:n] != before.texts:
            return self.views(support)
        return views.joined(self.views(support.rows(np.arange(n, len(support)))), support.vectors)

    def _views(self, support: Support, words: Vectors | None) -> Views:
        return Views(
            vectors=support.vectors,
            slopes=self.project(support.vectors),
            words=words,
            shape=self.shape.rows(support.texts) if self.shape and support.texts else None,
        )

    def project(self, vectors: Vectors) -> Vectors:
        """Vectors on their main directions."""
        return vectors if self.projection is None else vectors @ self.projection


@dataclass(frozen=True, slots=True, eq=False)
class Views:
    """Features of rows, one row per task; words and shape are None without texts."""

    vectors: Vectors  # (n, dim)
    slopes: Vectors  # (n, <= 256)
    words: Vectors | None  # (n, <= 128), rows of length 1 or 0
    shape: Floats | None  # (n, 6)

    def __len__(self) -> int:
        return len(self.vectors)

    def joined(self, more: Views, vectors: Vectors) -> Views:
        """These rows and more; `vectors` are those of all rows."""
        return Views(
            vectors=vectors,
            slopes=np.concatenate([self.slopes, more.slopes]),
            words=None if self.words is None or more.words is None else np.concatenate([self.words, more.words]),
            shape=None if self.shape is None or more.shape is None else np.concatenate([self.shape, more.shape]),
        )


def _main_directions(vectors: Vectors) -> Vectors | None:
    if vectors.shape[1] <= _LARGEST:
        return None
    centred = vectors - vectors.mean(axis=0)
    _, directions = np.linalg.eigh(centred.T @ centred)
    return np.ascontiguousarray(directions[:, -_LARGEST:], np.float32)
