from __future__ import annotations

import pytest

from skilldelta.nouns import plural


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 tasks"), (1, "1 task"), (2, "2 tasks"), (6511, "6,511 tasks"), (1.2, "1 task"), (0.6, "1 task")],
)
def test_a_noun_agrees_with_the_number_that_is_printed(count: float, words: str) -> None:
    assert plural(count, "task") == words


def test_a_noun_may_have_a_plural_of_its_own_and_a_verb() -> None:
    assert plural(1, "family has", "families have") == "1 family has"
    assert plural(3, "family has", "families have") == "3 families have"
