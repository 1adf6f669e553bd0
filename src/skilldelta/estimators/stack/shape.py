"""The shape of a question: how long it is and what it is made of, which no direction of a vector tells.

Long questions, many numbers or many options often decide whether a procedure pays. Encoders and TF-IDF divide length
out; these few counts put it back.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats

FEATURES = ("characters", "words", "digits", "distinct words", "punctuation", "lines")
_DIGIT = re.compile(r"\d")
_MARK = re.compile(r"[^\w\s]")
_SMALLEST_SPREAD = 0.05  # on the log scale: a count that hardly varies is no evidence


@dataclass(frozen=True, slots=True)
class Shape:
    """Log counts on the scale of the suite's questions."""

    centre: Floats  # (6,)
    spread: Floats  # (6,)

    @classmethod
    def learn(cls, texts: Sequence[str]) -> Shape:
        """Centre and spread of the given texts, which hold no outcome."""
        counts = _counts(texts)
        return cls(counts.mean(axis=0), np.maximum(counts.std(axis=0), _SMALLEST_SPREAD))

    def rows(self, texts: Sequence[str]) -> Floats:
        """(n, 6) standardised log counts."""
        scaled: Floats = (_counts(texts) - self.centre) / self.spread
        return scaled


def _counts(texts: Sequence[str]) -> Floats:
    return np.log1p(np.array([_count(text) for text in texts], np.float64).reshape(len(texts), len(FEATURES)))


def _count(text: str) -> tuple[int, int, int, int, int, int]:
    words = text.lower().split()
    digits = len(_DIGIT.findall(text))
    marks = len(_MARK.findall(text))
    return len(text), len(words), digits, len(set(words)), marks, text.count("\n")
