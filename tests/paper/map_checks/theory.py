"""Rows 8 to 14, and 38: the bound, the gates it allows, and what the rates promise."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from docs.pages import read
from paper.map_checks import shows
from paper.map_folder import MapFolder

BAND = "predict --paper --weighting uniform --task-id task-00 --skill skill-00"
SIMULATED = "simulate --tasks 60 --families 4 --repetitions 3 --theory"


def half_width(found: Any) -> float:
    """Of a band that [-1, 1] cuts on one side at most."""
    ends = found["interval"]["low"], found["interval"]["high"]
    return float(max(found["gain"] - ends[0], ends[1] - found["gain"]))


@shows("8.1")
def one_execution(found: Any, folder: MapFolder) -> None:
    assert (found["support"]["used"], found["neighbors"][0]["r0"]) == (6, 1)
    assert half_width(found) == pytest.approx(1.109, abs=5e-4)


@shows("8.2")
def three_executions(found: Any, folder: MapFolder) -> None:
    assert (found["support"]["used"], found["neighbors"][0]["r0"]) == (6, 3)
    assert half_width(found) == pytest.approx(0.640, abs=5e-4)


@shows("8.3")
def the_bias_term(found: Any, folder: MapFolder) -> None:
    wider = half_width(found) - half_width(folder.document(BAND))
    assert wider == pytest.approx(0.5 * found["support"]["radius"] + 0.1)
    assert found["support"]["effective"] == pytest.approx(6)


@shows("9")
def decisions_and_regret(found: Any, folder: MapFolder) -> None:
    theory = found["theory"]
    assert theory["targets"] == 60
    assert 0 < theory["disagreement"] <= theory["disagreement_bound"]
    assert 0 < theory["regret"]["regret"] <= theory["regret"]["error"]


@shows("10.1")
def the_three_way_gate_abstains(found: Any, folder: MapFolder) -> None:
    assert found["interval"]["low"] == pytest.approx(-0.109, abs=0.01)
    assert (found["gain"], found["action"]) == (1.0, "abstain")


@shows("10.2")
def the_conservative_rule_asks_the_lower_end(found: Any, folder: MapFolder) -> None:
    assert (found["interval"]["low"] > found["threshold"], found["action"]) == (True, "use")
    at_zero = "predict --paper --rule conservative --task-id t0 --skill units --bank solved.bank"
    assert folder.document(at_zero)["action"] == "skip"


@shows("10.3")
def the_band_covers(found: Any, folder: MapFolder) -> None:
    theory = found["theory"]
    assert theory["covered"] >= 1 - theory["delta"]
    assert theory["acted_wrongly"] <= theory["delta"] == 0.05


@shows("11")
def regret_error_bound(found: Any, folder: MapFolder) -> None:
    regret, margin = found["theory"]["regret"], found["theory"]["margin"]
    assert regret["regret"] <= regret["error"] <= regret["bound"]
    assert margin["split"] == pytest.approx(min(1, 0.05 + margin["badly_covered"] + margin["hard_to_call"]))
    assert found["theory"]["disagreement"] <= margin["split"]


@shows("12")
def the_rate_is_the_formula(found: Any, folder: MapFolder) -> None:
    rate, smoothness, r = found["theory"]["rate"], 2.0, 3
    noise = math.sqrt(2 * math.log(2 / 0.05) / (rate["k"] * r))
    assert rate["rate"] == pytest.approx(
        smoothness * (2 * rate["k"] / (rate["mass"] * rate["n"])) ** (1 / rate["dimension"]) + noise
    )
    assert rate["kept"] >= 1 - rate["failure"]
    assert rate["best_k"] > 0


@shows("13")
def the_value_of_sealed_actions(found: Any, folder: MapFolder) -> None:
    after = [json.loads(line) for line in (folder.path / "outcomes.jsonl").read_text(encoding="utf-8").splitlines()]
    made = json.loads((folder.path / "main.json").read_text(encoding="utf-8"))["predictions"]
    arms = {one["task_id"]: "1" if one["action"] == "use" else "0" for one in made}
    assert set(arms.values()) == {"0", "1"}
    for name, column in (("success", "y"), ("tokens", "tokens")):
        assert found[name] == pytest.approx(np.mean([np.mean(row[column + arms[row["task_id"]]]) for row in after]))


@shows("14")
def unlike_tasks_are_no_estimates(found: Any, folder: MapFolder) -> None:
    assert found["action"] == "skip"
    assert found["support"]["familiarity"] < 0.01
    assert "unlike" in found["reason"]
    assert "the sign is not identified" in read("docs/limits.md")


@shows("38")
def consequences_of_the_bound(found: Any, folder: MapFolder) -> None:
    theory, plain = found["theory"], folder.document(SIMULATED)["theory"]
    assert theory["rate"]["failure"] == pytest.approx(0.05 + math.exp(-6 / 4))
    margin = plain["margin"]
    assert margin["consequence"] <= min(1, 0.05 + margin["constant"] * 2)
    assert margin["consequence"] >= plain["disagreement"]
    assert theory["regret"]["regret"] != plain["regret"]["regret"]
