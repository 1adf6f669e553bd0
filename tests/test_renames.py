"""Old names of estimators, scopes, intervals and rules are understood, and a warning names the new one."""

from __future__ import annotations

import warnings

import pytest

from skilldelta.gate import Gate
from skilldelta.renames import RenamedWarning, estimator_name


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"estimator": "skilldelta"}, {"estimator": "paper"}),
        ({"estimator": "stack"}, {"estimator": "blend"}),
        ({"scope": "auto"}, {"scope": "skill-family"}),
        ({"scope": "paper"}, {"scope": "family"}),
        ({"interval": "stack"}, {"interval": "blend"}),
    ],
)
def test_an_old_name_is_understood_and_noted(old: dict[str, str], new: dict[str, str]) -> None:
    with pytest.warns(RenamedWarning, match=f"is now called {next(iter(new.values()))}"):
        gate = Gate.from_settings(old)
    assert gate == Gate.from_settings(new)


def test_other_spellings_are_understood_without_a_word() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Gate.from_settings({"rule": "three_way"}).rule == "three-way"
        assert Gate.from_settings({"interval": "empirical-bernstein"}).interval == "empirical_bernstein"
        assert estimator_name("family-mean") == "family_mean"
        assert Gate.from_settings({"estimator": "paper", "scope": "family"}).estimator == "paper"
