"""The stack's components as people call them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from skilldelta.arrays import Floats

_WORDS: Mapping[str, str] = {
    "nearest_6": "6 nearest tasks",
    "nearest_25": "25 nearest tasks",
    "words_25": "25 nearest by words",
    "shape_25": "25 nearest by shape",
    "vector_ridge": "trend over meaning",
    "word_ridge": "trend over words",
    "shape_ridge": "trend over shape",
    "family": "family mean",
    "skill": "skill mean",
    "suite": "suite mean",
    "zero": "no gain",
    "nearest_families": "similar families",
    "new_family": "what new families show",
}
SMALLEST_SHARE = 0.005
"""A share that would print as 0% is not named."""


def component_words(name: str) -> str:
    """A component by its words; names of other estimators' components stay as they are."""
    return _WORDS.get(name, name)


def shares_in_words(names: Iterable[str], shares: Floats) -> str:
    """What scores are made of on average: the level of the family, and what counted besides."""
    found = sorted(zip(names, shares.tolist(), strict=True), key=lambda part: -part[1])
    parts = [f"{component_words(name)} {share:.0%}" for name, share in found if share >= SMALLEST_SHARE]
    level = f"level of the family {max(0.0, 1 - float(shares.sum())):.0%}"
    return "weights, on average: " + ", ".join([level, *parts])
