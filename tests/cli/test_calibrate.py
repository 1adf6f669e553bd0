"""`skilldelta calibrate` on a small bank."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Skilldelta

QUICK = ("--resamples", 20)


@pytest.mark.parametrize(
    "goal",
    [
        ("--use-rate", 0.5),
        ("--token-budget", 130),
        ("--margin", 0.01),
        ("--best-value",),
        ("--best-value", "--success-worth", 2, "--price", 10),
    ],
    ids=lambda goal: " ".join(map(str, goal)),
)
def test_every_goal_gives_a_threshold_and_a_held_out_value(
    skilldelta: Skilldelta, toy_bank: str, goal: tuple[object, ...]
) -> None:
    found = skilldelta("calibrate", "--bank", toy_bank, *goal, *QUICK, "--json").document["calibrations"][0]
    assert -1 <= found["threshold"] <= 1
    assert found["pairs"] == 8
    held = found["held_out"]
    assert 0 <= held["success"] <= 1
    assert 100 <= held["tokens"] <= 150
    assert 0 <= held["coverage"] <= 1
    assert held["intervals"]["success"]["low"] <= held["success"] <= held["intervals"]["success"]["high"]
    assert (found["always_on"], found["always_off"]) == (0.5, 0.375)


def test_a_calibration_on_few_tasks_warns_of_its_intervals(skilldelta: Skilldelta, toy_bank: str) -> None:
    ran = skilldelta("calibrate", "--bank", toy_bank, "--best-value", *QUICK, "--json")
    warning = "only 8 tasks: intervals are too narrow to be trusted"
    assert ran.document["calibrations"][0]["notes"] == [warning]
    assert warning in ran.err
    assert "only" not in skilldelta("calibrate", "--bank", toy_bank, "--best-value", "--resamples", 0).err


def test_dear_tokens_must_be_worth_their_gain(skilldelta: Skilldelta, toy_bank: str) -> None:
    asked = ("calibrate", "--bank", toy_bank, "--best-value", *QUICK)
    dear = skilldelta(*asked, "--success-worth", 0.001, "--price", 1000)
    assert "less the cost of its tokens is larger" in dear.out
    dear_use, free_use = (
        skilldelta(*asked, *price, "--json").document["calibrations"][0]["hindsight"]["use_rate"]
        for price in (("--success-worth", 0.001, "--price", 1000), ())
    )
    assert dear_use == 0 < free_use


def test_in_hindsight_the_deployed_threshold_keeps_the_goal(skilldelta: Skilldelta, toy_bank: str) -> None:
    asked = ("calibrate", "--bank", toy_bank, *QUICK, "--json")
    assert skilldelta(*asked, "--use-rate", 0.3).document["calibrations"][0]["hindsight"]["use_rate"] <= 0.3
    assert skilldelta(*asked, "--token-budget", 120).document["calibrations"][0]["hindsight"]["tokens"] <= 120


def test_people_see_the_threshold_the_value_and_the_wrong_cases(skilldelta: Skilldelta, toy_bank: str) -> None:
    out = skilldelta("calibrate", "--bank", toy_bank, "--use-rate", 1, *QUICK).out
    assert "held out" in out
    assert "Threshold: -1" in out
    assert "The goal was met on held-out tasks; on resampled panels it was met in 100% of cases." in out
    assert "Where it was wrong" in out
    assert "dates-0" in out
    assert "used, harmed" in out
    assert (
        "Where it was wrong"
        not in skilldelta("calibrate", "--bank", toy_bank, "--use-rate", 1, *QUICK, "--show", 0).out
    )


def test_wrong_cases_are_tasks_whose_other_arm_was_better(skilldelta: Skilldelta, toy_bank: str) -> None:
    found = skilldelta("calibrate", "--bank", toy_bank, "--use-rate", 1, *QUICK, "--json").document["calibrations"][0]
    assert {(case["task_id"], case["action"], case["loss"]) for case in found["wrong"]} == {
        ("dates-0", "use", 1),
        ("dates-1", "use", 1),
    }


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "exactly one goal"),
        (("--use-rate", 0.5, "--margin", 0.01), "got --use-rate and --margin"),
        (("--use-rate", 0.5, "--price", 3), "--price belongs to --best-value"),
        (("--use-rate", 1.5), "use rate must lie in [0, 1], got 1.5"),
        (("--token-budget", "nan"), "token budget must be a finite number above 0, got nan"),
        (("--margin", 2), "margin must lie in [0, 1], got 2.0"),
        (("--best-value", "--price", 3), "give both or none"),
        (("--best-value", "--price", 3, "--success-worth", 0), "more than 0 dollars, got 0"),
    ],
)
def test_a_goal_that_makes_no_sense_is_refused_before_the_bank_is_opened(
    skilldelta: Skilldelta, words: tuple[object, ...], told: str
) -> None:
    ran = skilldelta("calibrate", "--bank", "absent.bank", *words)
    assert (ran.code, len(ran.err.splitlines()), ran.out) == (2, 1, "")
    assert told in ran.err


def test_a_goal_that_this_bank_cannot_serve_is_one_line(skilldelta: Skilldelta, toy_bank: str) -> None:
    for words, told in (
        (("--token-budget", 50), "the cheapest policy needs 100 tokens"),
        (("--best-value", "--estimator", "always_on"), "always_on has no scores"),
        (("--best-value", "--estimator", "blent"), "did you mean blend"),
    ):
        ran = skilldelta("calibrate", "--bank", toy_bank, *words)
        assert (ran.code, len(ran.err.splitlines()), ran.out) == (2, 1, "")
        assert told in ran.err


def test_the_document_goes_to_a_file_and_is_the_same_for_the_same_seed(
    skilldelta: Skilldelta, toy_bank: str, tmp_path: Path
) -> None:
    asked = ("calibrate", "--bank", toy_bank, "--best-value", *QUICK, "--seed", 3)
    ran = skilldelta(*asked, "--output", "found.json")
    assert (ran.code, ran.out) == (0, "")
    assert json.loads((tmp_path / "found.json").read_text()) == skilldelta(*asked, "--json").document


def test_any_estimator_with_scores_can_be_calibrated(skilldelta: Skilldelta, toy_bank: str) -> None:
    asked = ("calibrate", "--bank", toy_bank, "--best-value", *QUICK, "--json", "--estimator", "family_mean")
    assert skilldelta(*asked).document["calibrations"][0]["estimator"] == "family_mean"
