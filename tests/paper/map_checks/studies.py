"""Rows 26, 36, 37 and 39 to 42: sealed panels, several panels, holdouts, corrections, exclusions, given partitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paper.map_checks import shows
from paper.map_checks.predictor import study
from paper.map_folder import MapFolder

STUDY = "evaluate --paper --shuffles 0"
AUDIT = "audit main.json --bank later.bank"


@shows("26.1")
def sealed_predictions_are_evaluated(found: Any, folder: MapFolder) -> None:
    assert (found["known"], found["targets"], found["evaluated"]) == (48, 12, 12)
    assert found["seal"] == folder.document("freeze targets.jsonl --settings main --output main.json")["seal"]
    assert 0 <= found["auroc"] <= 1
    assert 0 <= found["balanced_accuracy"] <= 1
    assert found["success_gain"] == pytest.approx(found["success"] - found["off"])
    assert found["token_saving"] is not None


@shows("26.2")
def altered_evidence_is_refused(found: Any, folder: MapFolder) -> None:
    assert any("task-00" in change and "altered" in change for change in found["refused"])


@shows("36")
def means_and_wins(found: Any, folder: MapFolder) -> None:
    panels = [panel["policies"]["paper"] for panel in found["panels"]]
    assert (len(panels), found["means"]["panels"]) == (2, 2)
    own = found["means"]["policies"]["paper"]
    assert own["success"]["mean"] == pytest.approx(np.mean([panel["success"] for panel in panels]))
    interval = own["success"]["conditional_interval"]
    assert interval["low"] < own["success"]["mean"] < interval["high"]
    assert own["wins"]["advantage_vs_random"] == sum(panel["advantage_vs_random"] > 0 for panel in panels)


@shows("37")
def ties_edges_and_eligible_pairs(found: Any, folder: MapFolder) -> None:
    for panel in (found["panels"][0], folder.panel(STUDY)):
        counts = panel["counts"]
        assert counts["both_succeed"] + counts["both_fail"] + counts["tie_between"] == counts["tie"]
    structure = found["panels"][0]["structure"]
    assert {structure[f"eligible_{name}"] for name in ("smallest", "median", "largest")} == {7}
    assert (structure["bundles"], structure["edges"]) == (2, 17)


@shows("39.1")
def a_family_is_held_out(found: Any, folder: MapFolder) -> None:
    (panel,) = found["panels"]
    assert any("without its whole family" in note for note in panel["notes"])
    assert "family_mean" not in panel["policies"]
    own = folder.panel("evaluate --scope global --shuffles 0")["policies"]["paper"]
    assert panel["policies"]["paper"]["gain_mae"] != own["gain_mae"]


@shows("39.2")
def risk_and_coverage(found: Any, folder: MapFolder) -> None:
    curve = found["panels"][0]["risk_coverage"]
    coverages = [point["coverage"] for point in curve]
    assert coverages[0] == 1
    assert coverages == sorted(coverages, reverse=True)
    assert coverages[-1] < 1
    assert all(0 <= point["risk"] <= 1 for point in curve)


@shows("40.1")
def actions_once_more(found: Any, folder: MapFolder) -> None:
    again = found["reexecuted"]
    assert (again["tasks"], again["first"], again["again"]) == (12, pytest.approx(found["success"]), 1)
    assert again["difference"] == pytest.approx(1 - found["success"])


@shows("40.2")
def corrections_are_flagged(found: Any, folder: MapFolder) -> None:
    (panel,) = found["panels"]
    (flag,) = panel["corrected"]
    assert (flag["task_id"], flag["original"], flag["corrected"], flag["reason"]) == ("task-01", 0, 1, "misread")
    assert panel["on"] == pytest.approx(folder.panel(STUDY)["on"] + 1 / 3 / 48)


@shows("40.3")
def corrections_of_an_audit(found: Any, folder: MapFolder) -> None:
    (flag,) = found["corrected"]
    assert flag["task_id"] == "task-49"
    raised = (flag["corrected"] - flag["original"]) / 3 / 12
    assert found["on"] == pytest.approx(folder.document(AUDIT)["on"] + raised)


@shows("40.4")
def exclusions_are_named(found: Any, folder: MapFolder) -> None:
    (panel,) = found["panels"]
    assert panel["tasks"] == 47
    assert panel["excluded"] == [{"task_id": "task-02", "reason": "its test case is absent"}]


@shows("41")
def partitions_from_outside(found: Any, folder: MapFolder) -> None:
    test = [np.mean(row["y1"]) for row in study(folder)[32:]]
    for name in ("ridge", "dual_ridge"):
        ridge = found["panels"][0]["policies"][name]
        assert (ridge["tasks"], ridge["always_on"]) == (16, pytest.approx(np.mean(test)))


@shows("42")
def the_cheapest_within_three_points(found: Any, folder: MapFolder) -> None:
    (calibration,) = found["calibrations"]
    assert "3 points" in calibration["goal"]
    (sweep,) = folder.document("sweep threshold")["sweeps"]
    allowed = [point for point in sweep["points"] if point["success"] >= calibration["always_on"] - 0.03 - 1e-9]
    assert calibration["hindsight"]["tokens"] == pytest.approx(min(point["tokens"] for point in allowed))
