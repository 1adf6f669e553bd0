"""A gate is named once in skilldelta.toml and chosen by that name wherever something is decided or judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Skilldelta
from skilldelta.cli.hook import command
from skilldelta.errors import InputError

CAREFUL = """
[gates.careful]
estimator = "paper"
k = 2
threshold = 0.25
rule = "three-way"
"""


@pytest.fixture
def careful(toy_bank: str) -> str:
    Path("skilldelta.toml").write_text(CAREFUL, encoding="utf-8")
    return toy_bank


def asked(skilldelta: Skilldelta, bank: str, *words: Any) -> dict[str, Any]:
    ran = skilldelta("predict", "--bank", bank, "--skill", "units-skill", "--json", *words, "convert four miles")
    assert ran.code == 0, ran.err
    return dict(ran.document)


def test_a_named_gate_decides_as_its_settings_would(skilldelta: Skilldelta, careful: str) -> None:
    flags = ("--estimator", "paper", "--k", 2, "--threshold", 0.25, "--rule", "three-way")
    assert asked(skilldelta, careful, "--gate", "careful") == asked(skilldelta, careful, *flags)
    assert asked(skilldelta, careful)["estimator"] == "blend"


def test_a_flag_goes_before_the_named_gate_and_that_before_the_environment(
    skilldelta: Skilldelta, careful: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLDELTA_THRESHOLD", "0.9")
    answer = asked(skilldelta, careful, "--gate", "careful", "--k", 3)
    assert (answer["k"], answer["threshold"]) == (3, 0.25)


def test_the_named_gate_is_the_row_that_evaluate_judges(skilldelta: Skilldelta, careful: str) -> None:
    words = ("evaluate", "--bank", careful, "--gate", "careful", "--resamples", 0, "--shuffles", 0, "--json")
    (panel,) = skilldelta(*words).document["panels"]
    assert panel["gate"] == "paper"
    assert panel["policies"]["paper"]["threshold"] == 0.25
    assert isinstance(panel["policies"]["paper"]["abstained"], int)


def test_an_unknown_gate_and_an_unknown_setting_are_refused_in_one_line(skilldelta: Skilldelta, careful: str) -> None:
    words = ("predict", "--bank", careful, "--skill", "units-skill")
    ran = skilldelta(*words, "--gate", "carefull", "x")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "did you mean careful" in ran.err
    Path("skilldelta.toml").write_text("[gates.careful]\nthresold = 1\n", encoding="utf-8")
    ran = skilldelta(*words, "x")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "gates.careful" in ran.err
    assert "threshold" in ran.err


def test_a_hook_takes_a_named_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "skilldelta.toml").write_text(CAREFUL, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SKILLDELTA_THRESHOLD", "0.9")
    options = command.make_context("hook", ["codex", "--gate", "careful", "--k", "3"]).params
    assert {name: options[name] for name in ("estimator", "k", "threshold", "rule")} == {
        "estimator": "paper",
        "k": 3,
        "threshold": 0.25,
        "rule": "three-way",
    }
    with pytest.raises(InputError, match="unknown gate 'bold'"):
        command.make_context("hook", ["codex", "--gate", "bold"])
