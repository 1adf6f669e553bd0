"""Equality skips, and no support skips, in every command that compares a score with a threshold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Skilldelta

THIRD = repr(1 / 3)


def write_pairs(path: Path, rows: list[dict[str, object]]) -> None:
    shared = {"agent": "g", "suite": "s", "skill": "k"}
    path.write_text("\n".join(json.dumps({**shared, **row}) for row in rows), encoding="utf-8")


@pytest.fixture
def bank_of_thirds(skilldelta: Skilldelta, tmp_path: Path) -> str:
    """Every gain is 1/3, as are all averages but for their last digit; cosines differ, and so do weights."""
    texts = [f"count the {thing} in box {i}" for i, thing in enumerate(["red apples", "old coins", "tall trees"] * 4)]
    rows: list[dict[str, object]] = [
        {
            "task_id": f"t{i}",
            "text": text,
            "family": "f",
            "y0": [0, 1, 0],
            "y1": [1, 0, 1],
        }
        for i, text in enumerate(texts)
    ]
    write_pairs(tmp_path / "thirds.jsonl", rows)
    assert skilldelta("import", "thirds.jsonl", "--bank", "thirds.bank").code == 0
    return "thirds.bank"


@pytest.fixture
def bank_with_a_lonely_task(skilldelta: Skilldelta, tmp_path: Path) -> str:
    """Three tasks of one family, and one that is alone in its own."""
    rows: list[dict[str, object]] = [
        {"task_id": f"t{i}", "text": f"add {i} and {i + 1}", "family": "sums", "y0": [0], "y1": [1]} for i in range(3)
    ]
    rows.append(
        {"task_id": "alone", "text": "name a river", "family": "rivers", "skill": "other", "y0": [1], "y1": [0]}
    )
    write_pairs(tmp_path / "lonely.jsonl", rows)
    assert skilldelta("import", "lonely.jsonl", "--bank", "lonely.bank").code == 0
    return "lonely.bank"


@pytest.mark.parametrize("policy", ["paper", "tfidf_knn", "family_mean"])
def test_evaluate_and_sweep_skip_where_every_prediction_equals_the_threshold(
    skilldelta: Skilldelta, bank_of_thirds: str, policy: str
) -> None:
    shared = ("--bank", bank_of_thirds, "--threshold", THIRD, "--json")
    panel = skilldelta("evaluate", *shared, "--resamples", 0).document["panels"][0]
    assert panel["policies"][policy]["use_rate"] == 0.0
    swept = skilldelta("sweep", "threshold", *shared, "--estimator", policy).document["sweeps"][0]
    assert swept["points"][swept["default"]]["use_rate"] == 0.0


def test_predict_and_a_sealed_panel_skip_there_too(skilldelta: Skilldelta, bank_of_thirds: str, tmp_path: Path) -> None:
    for text in ("count the red apples in box 40", "count the old coins in box 7"):
        asked = ("predict", "--bank", bank_of_thirds, "--skill", "k", "--estimator", "paper", text)
        answer = skilldelta(*asked, "--threshold", THIRD, "--json").document
        assert answer["action"] == "skip"
        assert "equal to the threshold" in answer["reason"]
    target = {"task_id": "new", "text": "count the tall trees in box 3", "family": "f", "skill": "k"}
    (tmp_path / "targets.jsonl").write_text(json.dumps(target), encoding="utf-8")
    sealed = ("freeze", "targets.jsonl", "--output", "sealed.json", "--bank", bank_of_thirds, "--threshold", THIRD)
    assert skilldelta(*sealed, "--json").document["use"] == 0


def test_a_calibrated_threshold_uses_none_of_tied_tasks_rather_than_some(
    skilldelta: Skilldelta, bank_of_thirds: str
) -> None:
    asked = ("calibrate", "--bank", bank_of_thirds, "--estimator", "paper", "--use-rate", 0.5, "--json")
    found = skilldelta(*asked, "--resamples", 0).document["calibrations"][0]
    assert (found["hindsight"]["use_rate"], found["held_out"]["use_rate"]) == (0.0, 0.0)


@pytest.mark.parametrize("policy", ["paper", "tfidf_knn", "family_mean"])
def test_a_task_without_support_is_skipped_at_a_negative_threshold(
    skilldelta: Skilldelta, bank_with_a_lonely_task: str, policy: str
) -> None:
    shared = ("--bank", bank_with_a_lonely_task, "--threshold", "-0.05", "--json")
    panel = skilldelta("evaluate", *shared, "--resamples", 0).document["panels"][0]
    assert panel["policies"][policy]["use_rate"] == pytest.approx(3 / 4)
    swept = skilldelta("sweep", "threshold", *shared, "--estimator", policy).document["sweeps"][0]
    assert swept["points"][swept["default"]]["use_rate"] == pytest.approx(3 / 4)
    assert [point["use_rate"] for point in swept["points"]] == [1.0, 0.75, 0.0]
    assert swept["points"][0]["threshold"] is None, "no threshold makes always-on here; it is listed all the same"


def test_no_calibrated_threshold_promises_the_skill_on_a_task_without_support(
    skilldelta: Skilldelta, bank_with_a_lonely_task: str
) -> None:
    asked = ("calibrate", "--bank", bank_with_a_lonely_task, "--estimator", "paper", "--use-rate", 1, "--json")
    found = skilldelta(*asked, "--resamples", 0).document["calibrations"][0]
    assert (found["threshold"], found["hindsight"]["use_rate"]) == (0.0, 0.75)
    assert found["held_out"]["use_rate"] <= 0.75
