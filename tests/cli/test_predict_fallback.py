"""When routing fails: the configured fallback with its reason, an error without one; and the log of decisions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Skilldelta
from skilldelta.bank import Bank

ASKED = ("predict", "--skill", "units-skill", "--json", "convert four miles")
DEAD = ("--encoder", "openai", "--encoder-url", "http://127.0.0.1:9/v1", "--encoder-model", "none")


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint that refuses is asked again after a pause; not here."""
    monkeypatch.setattr("time.sleep", lambda _: None)


@pytest.mark.parametrize("fallback", ["use", "skip", "abstain"])
def test_an_encoder_that_does_not_answer_gives_the_fallback_and_its_reason(
    skilldelta: Skilldelta, toy_bank: str, fallback: str
) -> None:
    ran = skilldelta(*ASKED, "--bank", toy_bank, *DEAD, "--fallback", fallback)
    assert ran.code == 0, ran.err
    found = ran.document
    assert (found["action"], found["gain"], found["fallback"], found["interval"]) == (fallback, 0.0, True, None)
    assert found["reason"].startswith("routing failed (")
    assert f"the configured fallback is {fallback}" in found["reason"]
    assert (found["agent"], found["skill"]) == ("toy", "units-skill")


def test_without_a_fallback_it_is_one_line_and_exit_code_2(skilldelta: Skilldelta, toy_bank: str) -> None:
    ran = skilldelta(*ASKED, "--bank", toy_bank, *DEAD)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)


def test_the_fallback_of_the_file_and_of_the_environment_is_obeyed(
    skilldelta: Skilldelta, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("broken.bank").write_bytes(b"SQLite format 3\x00" + b"rubbish" * 200)
    Path("skilldelta.toml").write_text('bank = "broken.bank"\nfallback = "use"\n')
    found = skilldelta(*ASKED).document
    assert (found["action"], found["fallback"]) == ("use", True)
    assert "broken.bank" in found["reason"]
    monkeypatch.setenv("SKILLDELTA_FALLBACK", "abstain")
    assert skilldelta(*ASKED).document["action"] == "abstain"
    monkeypatch.setenv("SKILLDELTA_FALLBACK", "panic")
    assert skilldelta(*ASKED).code == 2


@pytest.mark.parametrize("words", [("--k", "0"), ("--agent", "nobody"), ("--threshold", "nan")])
def test_bad_input_is_an_error_whatever_the_fallback(
    skilldelta: Skilldelta, toy_bank: str, words: tuple[str, ...]
) -> None:
    ran = skilldelta(*ASKED, "--bank", toy_bank, "--fallback", "use", *words)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)


def _ids(evidence: Mapping[str, Any]) -> list[str]:
    return [neighbor["task_id"] for neighbor in evidence["neighbors"]]


def test_a_decision_is_recorded_with_what_it_rested_on(skilldelta: Skilldelta, toy_bank: str) -> None:
    first = skilldelta(*ASKED, "--bank", toy_bank, "--paper", "--record").document
    failed = skilldelta(*ASKED, "--bank", toy_bank, *DEAD, "--fallback", "use", "--record").document
    plain = skilldelta(*ASKED, "--bank", toy_bank, "--paper").document
    assert (first["decision_id"], failed["decision_id"]) == (1, 2)
    assert "decision_id" not in plain
    with Bank.open(toy_bank) as bank:
        newest, oldest = bank.decisions()
    assert (oldest.action, oldest.gain, oldest.skill_id) == (first["action"], first["gain"], "units-skill")
    assert _ids(oldest.evidence) == _ids(first)
    assert (newest.action, newest.evidence["neighbors"]) == ("use", [])
    assert "routing failed" in newest.reason
    said = skilldelta(*(word for word in ASKED if word != "--json"), "--bank", toy_bank, "--record")
    assert "recorded as decision 3" in said.err


def test_the_whole_bound_widens_the_papers_band_by_distance_and_residual(skilldelta: Skilldelta, toy_bank: str) -> None:
    """Four neighbors of one run: sqrt(2 log(2/delta) / 4) and, beside it, L rho + eps."""
    asked = (
        "predict",
        "--bank",
        toy_bank,
        "--paper",
        "--level",
        0.05,
        "--skill",
        "units-skill",
        "--json",
        "convert miles",
    )
    plain = skilldelta(*asked).document
    wide = skilldelta(*asked, "--lipschitz", 0.1, "--epsilon", 0.05).document
    added = 0.1 * plain["support"]["radius"] + 0.05
    assert (plain["interval"]["method"], wide["interval"]["method"]) == ("hoeffding", "b_delta")
    assert plain["interval"]["low"] - wide["interval"]["low"] == pytest.approx(added)
    assert wide["gain"] == plain["gain"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--lipschitz", 1), "lipschitz widens the paper's band around the paper's rule; choose the estimator paper"),
        (("--paper", "--epsilon", -1), "epsilon must be a number that is not negative, got -1"),
        (("--paper", "--lipschitz", "nan"), "lipschitz must be a number that is not negative, got nan"),
    ],
)
def test_a_bias_that_belongs_to_another_rule_is_refused(
    skilldelta: Skilldelta, toy_bank: str, words: tuple[object, ...], message: str
) -> None:
    ran = skilldelta(*ASKED, "--bank", toy_bank, *words)
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert message in ran.err
