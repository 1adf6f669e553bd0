"""Questions for simulated tasks: invented words that tell the family and the latent position.

Lexical controls need text to work with. Tasks of one family share words, tasks near each other share more, and filler
words stand for everything a question says that has no bearing on the gain.
"""

from __future__ import annotations

import numpy as np

from skilldelta.arrays import Floats, Ints

_SYLLABLES = ("ba", "co", "di", "fe", "gu", "ha", "jo", "ki", "lu", "me", "no", "pi", "ra", "su", "te", "vo")
_PLACES = 12  # words along one latent axis
_FILLERS = 200


def synthetic_texts(rng: np.random.Generator, family: Ints, positions: Floats) -> tuple[str, ...]:
    """(n,) one question per task: two family words, two place words per axis, three fillers."""
    n, axes = positions.shape
    fillers = rng.integers(0, _FILLERS, size=(n, 3))
    places = np.minimum((positions * _PLACES).astype(int), _PLACES - 1)
    return tuple(
        " ".join(
            [_word(0, int(family[i])), _word(1, int(family[i]))]
            + [_word(4 + axis, place) for axis in range(axes) for place in (places[i, axis], places[i, axis] + 1)]
            + [_word(2, filler) for filler in fillers[i]]
        )
        for i in range(n)
    )


def _word(kind: int, number: int) -> str:
    """A pronounceable word of its own for each kind and number."""
    syllables = [_SYLLABLES[kind % len(_SYLLABLES)]]
    while True:
        number, rest = divmod(int(number), len(_SYLLABLES))
        syllables.append(_SYLLABLES[rest])
        if number == 0:
            return "".join(syllables) + "n" * (kind // len(_SYLLABLES))
