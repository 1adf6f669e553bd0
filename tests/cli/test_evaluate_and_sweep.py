from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Skilldelta

METRICS = {
    "success", "use_rate", "tokens", "token_saving", "auroc", "balanced_accuracy", "advantage_vs_random", "within_group",
    "between_group", "gain_mae", "intervals",
}  # fmt: skip


@pytest.fixture
def simulated_bank(skilldelta: Skilldelta) -> str:
    """Sixty tasks in three families with known truth, through the command line."""
    made = (
        "simulate",
        "--tasks",
        60,
        "--families",
        3,
        "--repetitions",
        2,
        "--resamples",
        0,
        "--pairs",
        "sim.jsonl",
        "--json",
    )
    assert skilldelta(*made).code == 0
    assert skilldelta("import", "sim.jsonl", "--bank", "sim.bank").code == 0
    return "sim.bank"


def test_the_json_document_has_every_documented_key(skilldelta: Skilldelta, simulated_bank: str) -> None:
    panel = skilldelta("evaluate", "--bank", simulated_bank, "--resamples", 50, "--json").document["panels"][0]
    assert {"agent", "suite", "tasks", "families", "off", "on", "oracle", "policies"} <= set(panel)
    assert {
        "always_off",
        "always_on",
        "random_matched",
        "paper",
        "with_skill_only",
        "tfidf_knn",
        "family_mean",
    } <= set(panel["policies"])
    for policy in panel["policies"].values():
        assert set(policy) >= METRICS
    found = panel["policies"]["paper"]["intervals"]["success"]
    assert found["low"] <= panel["policies"]["paper"]["success"] <= found["high"]


def test_the_noise_floor_is_the_spread_between_repetitions(skilldelta: Skilldelta, tmp_path: Path) -> None:
    row = {"text": "t", "family": "f", "skill": "s", "agent": "g"}
    rows = [
        {**row, "task_id": "a", "y0": [0, 1], "y1": [1, 1]},
        {**row, "task_id": "b", "text": "u", "y0": [0], "y1": [1]},
    ]
    (tmp_path / "twice.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows))
    skilldelta("import", "twice.jsonl", "--bank", "twice.bank")
    ran = skilldelta("evaluate", "--bank", "twice.bank", "--resamples", 0, "--json")
    # Task a differed once without the skill and never with it; task b was run once in each arm.
    assert ran.document["panels"][0]["noise_floor"] == {
        "sd0": pytest.approx(0.5**0.5), "sd1": 0, "expected_abs_gain": 0.5, "tasks": 1,
    }  # fmt: skip
    assert "noise floor: two runs" in skilldelta("evaluate", "--bank", "twice.bank", "--resamples", 0, "--all").out


def test_constant_policies_are_the_recorded_arms(skilldelta: Skilldelta, toy_bank: str) -> None:
    panel = skilldelta("evaluate", "--bank", toy_bank, "--paper", "--resamples", 0, "--json").document["panels"][0]
    assert (panel["off"], panel["on"]) == (3 / 8, 4 / 8)
    assert panel["policies"]["always_off"]["tokens"] == 100
    assert panel["policies"]["always_on"]["tokens"] == 150
    assert panel["oracle"] == 6 / 8


def test_the_papers_rule_is_evaluated_in_its_main_setting_or_as_flags_say(
    skilldelta: Skilldelta, simulated_bank: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("evaluate", "--bank", simulated_bank, "--resamples", 0, "--json")
    monkeypatch.setenv("SKILLDELTA_THRESHOLD", "0.9")
    main, strict, few = (
        skilldelta(*asked, "--paper", *flags).document["panels"][0]["policies"]["paper"]
        for flags in ((), ("--threshold", 0.2), ("--k", 1))
    )
    assert (main["threshold"], strict["threshold"], few["threshold"]) == (0.0, 0.2, 0.0)
    assert main["use_rate"] > strict["use_rate"]
    assert main["gain_mae"] != few["gain_mae"]


def test_the_same_seed_gives_the_same_intervals_and_another_does_not(
    skilldelta: Skilldelta, simulated_bank: str
) -> None:
    asked = ("evaluate", "--bank", simulated_bank, "--resamples", 50, "--json", "--seed")
    one, again, other = (skilldelta(*asked, seed).out for seed in (1, 1, 2))
    assert one == again != other


def test_a_bank_without_a_complete_pair_says_what_to_do(skilldelta: Skilldelta, tmp_path: Path) -> None:
    row = {"task_id": "a", "text": "b", "skill": "s", "agent": "g", "y0": [1], "y1": []}
    (tmp_path / "one.jsonl").write_text(json.dumps(row) + "\n")
    assert skilldelta("import", "one.jsonl", "--bank", "one.bank").code == 0
    ran = skilldelta("evaluate", "--bank", "one.bank")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "no complete pair" in ran.err


def test_a_task_that_lacks_an_arm_is_named_and_left_out(skilldelta: Skilldelta, pairs_file: Path) -> None:
    row = {
        "task_id": "half",
        "text": "half a pair",
        "family": "units",
        "skill": "units-skill",
        "agent": "toy",
        "y0": [1],
        "y1": [],
    }
    pairs_file.write_text(pairs_file.read_text() + json.dumps(row) + "\n")
    skilldelta("import", pairs_file, "--bank", "toy.bank")
    ran = skilldelta("evaluate", "--bank", "toy.bank", "--resamples", 0, "--json")
    assert ran.document["panels"][0]["tasks"] == 8
    assert "1 task lacks an arm and is left out: half" in ran.err


def test_an_evaluation_of_two_pairs_says_that_its_intervals_say_nothing(
    skilldelta: Skilldelta, pairs_file: Path
) -> None:
    pairs_file.write_text("".join(pairs_file.read_text().splitlines(keepends=True)[:2]))
    skilldelta("import", pairs_file, "--bank", "two.bank")
    assert "only 2 tasks: intervals say nothing" in skilldelta("evaluate", "--bank", "two.bank", "--resamples", 20).out
    found = skilldelta("evaluate", "--bank", "two.bank", "--resamples", 20, "--json").document["panels"][0]
    assert "only 2 tasks: intervals say nothing" in found["notes"]


def test_intervals_that_refit_stand_beside_the_others_on_request(skilldelta: Skilldelta, toy_bank: str) -> None:
    asked = ("evaluate", "--bank", toy_bank, "--resamples", 20)
    plain = skilldelta(*asked, "--json").document["panels"][0]
    ran = skilldelta(*asked, "--refit-intervals", "--json")
    assert "refitting scores every policy 9 times" in ran.err
    found = ran.document["panels"][0]
    ends = found["policies"]["paper"].pop("refitted_intervals")["success"]
    assert 0 <= ends["low"] <= found["policies"]["paper"]["success"] <= ends["high"] <= 1
    assert found["policies"]["paper"] == plain["policies"]["paper"]
    assert "95%: refitted" in skilldelta(*asked, "--refit-intervals", "--all").out


def test_one_task_cannot_be_refitted_and_the_evaluation_goes_on(skilldelta: Skilldelta, pairs_file: Path) -> None:
    pairs_file.write_text(pairs_file.read_text().splitlines(keepends=True)[0])
    skilldelta("import", pairs_file, "--bank", "one.bank")
    ran = skilldelta("evaluate", "--bank", "one.bank", "--resamples", 20, "--refit-intervals")
    assert ran.code == 0
    assert "one task cannot be refitted without itself" in ran.err


def test_a_threshold_sweep_runs_from_always_on_to_always_off(skilldelta: Skilldelta, toy_bank: str) -> None:
    sweep = skilldelta("sweep", "threshold", "--bank", toy_bank, "--json").document["sweeps"][0]
    points = sweep["points"]
    assert (points[0]["use_rate"], points[-1]["use_rate"]) == (1, 0)
    assert points[0]["success"] == 0.5
    assert points[-1]["success"] == 0.375
    assert points[sweep["default"]]["threshold"] == 0
    assert points[sweep["best"]]["success"] == max(point["success"] for point in points)
    assert "best in hindsight" in skilldelta("sweep", "threshold", "--bank", toy_bank).out


def test_evidence_curves_cover_support_neighbors_and_repetitions(skilldelta: Skilldelta, simulated_bank: str) -> None:
    curves = skilldelta("sweep", "evidence", "--bank", simulated_bank, "--json").document["sweeps"][0]["curves"]
    assert [curve["axis"] for curve in curves] == ["support", "neighbors", "repetitions"]
    assert curves[2]["amounts"] == [1, 2]
    assert curves[2]["gain_mae"][1] < curves[2]["gain_mae"][0]
    assert all(curve["targets"] == 60 for curve in curves)


def test_simulate_shows_the_guarantees_against_the_truth(skilldelta: Skilldelta) -> None:
    found = skilldelta("simulate", "--tasks", 80, "--families", 4, "--resamples", 0, "--json").document
    assert found["theory"]["covered"] >= 0.95
    assert found["theory"]["regret"]["regret"] <= found["theory"]["regret"]["error"]
    ran = skilldelta("simulate", "--tasks", -3)
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "-3" in ran.err
