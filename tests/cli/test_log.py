"""`skilldelta log`: the decision log, and what it leaves out when asked."""

from __future__ import annotations

import pytest

from .conftest import Skilldelta


@pytest.fixture
def logged(skilldelta: Skilldelta, toy_bank: str) -> str:
    """A bank with two decisions, the first of which has an outcome."""
    ask = ("predict", "--bank", toy_bank, "--skill", "units-skill", "--record", "--threshold")
    assert skilldelta(*ask, "-1", "convert four miles").code == 0
    assert skilldelta(*ask, "1", "convert five miles").code == 0
    assert skilldelta("record", "1", "--success", "1", "--bank", toy_bank).code == 0
    return toy_bank


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        ((), [2, 1]),
        (("--action", "use"), [1]),
        (("--skill", "units-skill", "--action", "skip"), [2]),
        (("--outcome", "recorded"), [1]),
        (("--outcome", "missing"), [2]),
        (("--search", "below the threshold"), [2]),
        (("--source", "claude-code"), []),
        (("--limit", "1"), [2]),
    ],
)
def test_filters_choose_decisions(skilldelta: Skilldelta, logged: str, words: tuple[str, ...], ids: list[int]) -> None:
    document = skilldelta("log", "--bank", logged, *words, "--json").document
    assert [row["decision_id"] for row in document["decisions"]] == ids


def test_people_read_points_and_the_outcome_and_programs_read_fractions(skilldelta: Skilldelta, logged: str) -> None:
    row = skilldelta("log", "--bank", logged, "--action", "use", "--json").document["decisions"][0]
    assert (row["success"], row["outcomes"], row["threshold"]) == (1.0, 1, -1.0)
    line = next(line for line in skilldelta("log", "--bank", logged).out.splitlines() if " use " in line)
    assert "100%" in line
    assert f"{100 * row['gain']:+.1f}" in line


def test_an_empty_log_says_what_writes_into_it(skilldelta: Skilldelta, toy_bank: str) -> None:
    ran = skilldelta("log", "--bank", toy_bank)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err.startswith("no such decision in the last 7 days")
