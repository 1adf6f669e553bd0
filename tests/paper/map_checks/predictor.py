"""Rows 1 to 7: the problem, Algorithm 1 and its settings."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from paper.map_checks import shows
from paper.map_folder import MapFolder
from skilldelta.encoders import load_encoder

PREDICT = "predict --paper --task-id task-00 --skill skill-00"


def study(folder: MapFolder) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder.path / "study.jsonl").read_text(encoding="utf-8").splitlines()]


def family_of_task_00(folder: MapFolder) -> set[str]:
    return {row["task_id"] for row in study(folder) if row["family"] == "family-00"} - {"task-00"}


@shows("1")
def gains_are_differences_of_means(found: Any, folder: MapFolder) -> None:
    first = found["pairs"][0]
    assert (first["y0"], first["y1"], first["r0"], first["r1"], first["gain"]) == (0.5, 1.0, 2, 3, 0.5)
    assert all(pair["gain"] == pair["y1"] - pair["y0"] for pair in found["pairs"])


@shows("2.1")
def scopes_differ(found: Any, folder: MapFolder) -> None:
    own = folder.document(PREDICT)
    assert (found["scope"], found["support"]["eligible"]) == ("global", 47)
    assert (own["scope"], own["support"]["eligible"]) == ("family", 11)


@shows("2.2")
def a_bundle_is_one_skill_in_any_order(found: Any, folder: MapFolder) -> None:
    structure = found["panels"][0]["structure"]
    assert (structure["bundles"], structure["edges"]) == (2, 3 + 7 * 2)
    pairs = folder.document("bank list --bank bundles.bank")["pairs"]
    assert [pair["skill_id"] for pair in pairs] == ["a+b+c", *["a+b"] * 7]
    assert {pair["family"] for pair in pairs} == {"units"}


@shows("2.3")
def bundles_of_a_benchmark(found: Any, folder: MapFolder) -> None:
    assert (found["tasks"], found["bundles"], found["edges"]) == (8, 5, 18)
    assert found["families"] == {"lib_0": 3, "lib_1": 3, "lib_2": 2}


@shows("3")
def vectors_are_of_the_question_alone(found: Any, folder: MapFolder) -> None:
    panel = exported(folder)
    vectors, ids = panel["vectors"], panel["task_id"].tolist()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)
    texts = {row["task_id"]: row["text"] for row in study(folder)}
    encoded = load_encoder("wordllama").encode([texts[name] for name in ids])
    assert np.abs(vectors - encoded).max() < 1e-6


@shows("4.1")
def the_nearest_of_the_family_without_the_target(found: Any, folder: MapFolder) -> None:
    neighbors = found["neighbors"]
    assert len(neighbors) == 6
    assert {one["task_id"] for one in neighbors} < family_of_task_00(folder)
    similarities = [one["similarity"] for one in neighbors]
    assert similarities == sorted(similarities, reverse=True)
    clipped = np.maximum(similarities, 0)
    assert [one["weight"] for one in neighbors] == pytest.approx(clipped / clipped.sum())


@shows("4.2")
def zero_cosines_weigh_the_same_and_equality_skips(found: Any, folder: MapFolder) -> None:
    assert [one["task_id"] for one in found["neighbors"]] == ["up", "level", "down"]
    assert [one["weight"] for one in found["neighbors"]] == [1 / 3] * 3
    assert (found["gain"], found["action"], found["fallback"]) == (0.0, "skip", False)


@shows("4.3")
def no_support_is_a_fallback(found: Any, folder: MapFolder) -> None:
    assert (found["gain"], found["action"], found["fallback"]) == (0.0, "skip", True)
    assert found["neighbors"] == []


@shows("4.4")
def a_gain_at_the_threshold_skips(found: Any, folder: MapFolder) -> None:
    assert (found["gain"], found["threshold"], found["action"]) == (1.0, 1.0, "skip")
    below = folder.document("predict --paper --task-id t0 --skill units --bank solved.bank --threshold 0.999")
    assert below["action"] == "use"


@shows("5")
def the_worked_example(found: Any, folder: MapFolder) -> None:
    assert [one["weight"] for one in found["neighbors"]] == pytest.approx([0.5, 0.3, 0.2], abs=1e-6)
    assert (found["gain"], found["action"]) == (pytest.approx(0.3, abs=1e-6), "use")
    arms = [sum(one["weight"] * one[arm] for one in found["neighbors"]) for arm in ("y0", "y1")]
    assert found["gain"] == pytest.approx(arms[1] - arms[0])


@shows("6")
def predictions_trace_to_records_and_records_join(found: Any, folder: MapFolder) -> None:
    assert found["gain"] == pytest.approx(sum(one["weight"] * one["gain"] for one in found["neighbors"]))
    assert found["support"]["eligible"] == folder.document(PREDICT)["support"]["eligible"] + 3


@shows("7.1")
def main_settings(found: Any, folder: MapFolder) -> None:
    settings = sealed(folder, "main")
    assert (settings["scope"], settings["k"], settings["weighting"]) == ("family", 6, "cosine")
    assert (settings["label"], settings["threshold"]) == ("gain", 0)


@shows("7.2")
def three_neighbors(found: Any, folder: MapFolder) -> None:
    three, six = found["panels"][0], folder.panel("evaluate --paper --shuffles 0")
    assert three["policies"]["paper"]["gain_mae"] != six["policies"]["paper"]["gain_mae"]
    assert three["policies"]["family_mean"]["gain_mae"] == six["policies"]["family_mean"]["gain_mae"]


@shows("7.3")
def uniform_weights(found: Any, folder: MapFolder) -> None:
    assert found["gain"] == pytest.approx(np.mean([one["gain"] for one in found["neighbors"]]))
    assert [one["weight"] for one in found["neighbors"]] == pytest.approx([1 / 6] * 6)


@shows("7.4")
def toolqa(found: Any, folder: MapFolder) -> None:
    assert (sealed(folder, "toolqa")["k"], sealed(folder, "toolqa")["threshold"]) == (3, 0.25)


@shows("7.5")
def medcalc(found: Any, folder: MapFolder) -> None:
    assert (sealed(folder, "medcalc")["k"], sealed(folder, "medcalc")["threshold"]) == (3, 150 / 440)


@shows("7.6")
def bigcode_scale(found: Any, folder: MapFolder) -> None:
    assert (sealed(folder, "scale")["k"], sealed(folder, "scale")["threshold"]) == (None, 0.105)
    assert {len(one["neighbors"]) for one in document(folder, "scale")["predictions"]} == {12}


@shows("7.7")
def bigcode_natural(found: Any, folder: MapFolder) -> None:
    settings = sealed(folder, "natural")
    assert (settings["k"], settings["elsewhere"], settings["threshold"]) == (None, 240, -0.0258794)


@shows("7.8")
def prevalence(found: Any, folder: MapFolder) -> None:
    positive = [np.mean(row["y1"]) > np.mean(row["y0"]) for row in study(folder)]
    assert sealed(folder, "prevalence")["threshold"] == pytest.approx(np.mean(positive))


@shows("7.9")
def balanced_accuracy(found: Any, folder: MapFolder) -> None:
    from sklearn.metrics import balanced_accuracy_score

    scores, gains = leave_one_out(folder)
    threshold = sealed(folder, "balanced")["threshold"]
    own = balanced_accuracy_score(gains > 0, scores > threshold)
    for other in [-1.0, *scores.tolist()]:
        value = balanced_accuracy_score(gains > 0, scores > other)
        assert value < own + 1e-12
        assert value < own - 1e-12 or (scores > other).sum() >= (scores > threshold).sum()


def leave_one_out(folder: MapFolder) -> tuple[Any, Any]:
    """Algorithm 1 by hand for every task of the study from the exported arrays, and the observed gains."""
    panel = exported(folder)
    gains, cosines = panel["y1"] - panel["y0"], panel["vectors"] @ panel["vectors"].T
    np.fill_diagonal(cosines, -np.inf)
    cosines[panel["family"][:, None] != panel["family"]] = -np.inf
    nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :6]
    weights = np.maximum(np.take_along_axis(cosines, nearest, axis=1), 0).astype(np.float64)
    return (weights * gains[nearest]).sum(axis=1) / weights.sum(axis=1), gains


def exported(folder: MapFolder) -> dict[str, Any]:
    assert folder.ran("bank export --format npz --output panel.npz").code == 0
    with np.load(folder.path / "panel.npz", allow_pickle=False) as panel:
        return dict(panel)


def document(folder: MapFolder, name: str) -> Any:
    return json.loads((folder.path / f"{name}.json").read_text(encoding="utf-8"))


def sealed(folder: MapFolder, name: str) -> Any:
    return document(folder, name)["settings"]
