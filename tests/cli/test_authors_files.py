"""The paper authors' files through the commands: imported vectors, means of several runs, bundles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.conftest import Skilldelta

ENCODER = "imported/small-model/3/l2"


def unit(index: int) -> list[float]:
    vector = [0.1, 0.1, 0.1]
    vector[index % 3] = 1.0
    return vector


@pytest.fixture
def support_bank(skilldelta: Skilldelta, tmp_path: Path) -> str:
    tasks = [
        {"id": f"t{i}", "embedding": [v + i / 100 for v in unit(i)], "d": (1, 0, -1)[i % 3], "family": "sums"}
        for i in range(12)
    ]
    document = {"schema": "skilldelta-support-v1", "embedding_model": "small-model", "tasks": tasks}
    (tmp_path / "support.json").write_text(json.dumps(document))
    assert skilldelta("import", "support.json", "--agent", "ada", "--bank", "a.bank").code == 0
    return "a.bank"


def ask(skilldelta: Skilldelta, bank: str, *words: object) -> Any:
    return skilldelta("predict", "--bank", bank, "--skill", "sums", "--paper", "--encoder", ENCODER, "--json", *words)


def test_a_task_of_the_import_is_predicted_with_its_stored_vector(skilldelta: Skilldelta, support_bank: str) -> None:
    found = ask(skilldelta, support_bank, "--task-id", "t0", "--k", "3").document

    assert [n["task_id"] for n in found["neighbors"]] == ["t3", "t6", "t9"]
    assert (found["action"], found["gain"]) == ("use", pytest.approx(1.0))


@pytest.mark.parametrize("kind", ["json", "npy"])
def test_a_new_text_is_predicted_with_the_vector_that_is_given(
    skilldelta: Skilldelta, support_bank: str, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / f"q.{kind}"
    if kind == "json":
        path.write_text(json.dumps(unit(2)))
    else:
        np.save(path, np.array(unit(2), np.float32))
    found = ask(skilldelta, support_bank, "--k", "3", "--query-vector", path, "A new question").document

    assert {n["task_id"] for n in found["neighbors"]} == {"t2", "t5", "t8"}
    assert (found["action"], found["gain"]) == ("skip", pytest.approx(-1.0))


def test_a_new_text_without_its_vector_is_refused_with_the_option(skilldelta: Skilldelta, support_bank: str) -> None:
    ran = ask(skilldelta, support_bank, "A new question")

    assert ran.code == 2
    assert "--query-vector FILE" in ran.err
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[1, 2]", "the query vector has 2 dimensions, those of"),
        (b"[0, 0, 0]", "is zero"),
        (b"[]", "expected one vector"),
        (b'["a"]', "expected a JSON list of finite numbers"),
        (b"[NaN, 1, 2]", "expected a JSON list of finite numbers"),
        (b"{}", "expected a JSON list of finite numbers"),
        (b"\xff\xfe", "neither JSON nor a NumPy array"),
        (b"\x93NUMPY\x01\x00", "not a readable NumPy array"),
        (b"[[1, 2, 3], [1, 2, 3]]", "expected a JSON list of finite numbers"),
        (
            b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,), }" + b" " * 50,
            "not a readable NumPy array",
        ),
    ],
)
def test_a_bad_query_vector_is_one_line(
    skilldelta: Skilldelta, support_bank: str, tmp_path: Path, content: bytes, said: str
) -> None:
    (tmp_path / "q").write_bytes(content)
    ran = ask(skilldelta, support_bank, "--query-vector", "q", "A new question")

    assert ran.code == 2
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1


def test_vectors_that_the_bank_does_not_have_are_named_with_those_it_has(
    skilldelta: Skilldelta, support_bank: str, tmp_path: Path
) -> None:
    (tmp_path / "q.json").write_text("[1, 0, 0]")
    unknown = skilldelta("predict", "--bank", support_bank, "--skill", "sums", "--encoder", "imported/x/3/l2", "New")
    other = skilldelta("predict", "--bank", support_bank, "--skill", "sums", "--query-vector", "q.json", "New")

    for ran in (unknown, other):
        assert ran.code == 2
        assert f"--encoder {ENCODER}" in ran.err


def test_a_report_is_written_from_imported_vectors(skilldelta: Skilldelta, support_bank: str) -> None:
    pytest.importorskip("vl_convert", reason="figures need skilldelta[report]")
    ran = skilldelta("report", "--bank", support_bank, "--encoder", ENCODER, "--resamples", "0", "--output", "r.html")

    assert ran.code == 0, ran.err
    assert Path("r.html").stat().st_size > 10_000


def panel(tmp_path: Path, y0: float, **columns: int) -> Path:
    rows = [
        {"id": f"t{i}", "family": "sums", "y0": y0, "y1": (1, 0.667, 0.333)[i % 3], "tokens0": 9, "tokens1": 9}
        for i in range(6)
    ]
    path = tmp_path / "panel.json"
    path.write_text(json.dumps({"rows": [{**row, **columns} for row in rows]}))
    return path


def test_a_panel_of_means_of_three_runs_takes_its_count_by_option_and_by_column(
    skilldelta: Skilldelta, tmp_path: Path
) -> None:
    path = panel(tmp_path, 0.667)
    assert skilldelta("import", path, "--agent", "ada", "--repetitions", "3", "--bank", "a.bank").code == 0
    assert skilldelta("import", panel(tmp_path, 0.667, r0=3, r1=3), "--agent", "ada", "--bank", "b.bank").code == 0

    for bank in ("a.bank", "b.bank"):
        pairs = skilldelta("bank", "list", "--bank", bank, "--json").document["pairs"]
        assert {(pair["r0"], pair["r1"]) for pair in pairs} == {(3, 3)}
        assert pairs[0]["y0"] == pytest.approx(2 / 3)
        assert pairs[0]["tokens1"] == 9
    predicted = skilldelta("predict", "--bank", "a.bank", "--skill", "sums", "--paper", "--json", "anything").document
    assert {(n["r0"], n["r1"]) for n in predicted["neighbors"]} == {(3, 3)}


def test_the_counts_of_a_panel_enter_the_papers_bound(skilldelta: Skilldelta, tmp_path: Path) -> None:
    """The paper's check value: six equal weights and three runs per arm leave .640 on either side."""
    skilldelta("import", panel(tmp_path, 0.667), "--agent", "ada", "--repetitions", "3", "--bank", "a.bank")
    asked = ("--skill", "sums", "--paper", "--weighting", "uniform", "--json", "anything")
    interval = skilldelta("predict", "--bank", "a.bank", *asked).document["interval"]

    assert (interval["high"] - interval["low"]) / 2 == pytest.approx(0.640, abs=0.001)


def test_the_curves_that_a_panel_of_means_allows_are_drawn(skilldelta: Skilldelta, tmp_path: Path) -> None:
    skilldelta("import", panel(tmp_path, 0.667), "--agent", "ada", "--bank", "one.bank")
    skilldelta("import", panel(tmp_path, 0.667), "--agent", "ada", "--repetitions", "3", "--bank", "three.bank")
    one = skilldelta("sweep", "evidence", "--bank", "one.bank", "--json")
    three = skilldelta("sweep", "evidence", "--bank", "three.bank", "--json")

    assert (one.code, three.code) == (0, 0)
    assert [curve["axis"] for curve in one.document["sweeps"][0]["curves"]] == ["support", "neighbors"]
    assert "no curve over repetitions" in one.err
    assert "--repetitions" in one.document["sweeps"][0]["missing"]["repetitions"]
    assert [curve["axis"] for curve in three.document["sweeps"][0]["curves"]] == ["support", "neighbors", "repetitions"]
    assert three.document["sweeps"][0]["curves"][2]["amounts"] == [1, 2, 3]


def test_a_panel_that_allows_no_curve_is_refused(skilldelta: Skilldelta, tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("id,text,y0,y1\nt1,Two?,0,1\n")
    skilldelta("import", "one.csv", "--agent", "ada", "--skill", "adding", "--bank", "one.bank")
    ran = skilldelta("sweep", "evidence", "--bank", "one.bank")

    assert ran.code == 2
    assert "has 2 tasks or more" in ran.err


def test_a_bundle_is_asked_for_in_any_order_and_keeps_its_focal_family(skilldelta: Skilldelta, tmp_path: Path) -> None:
    base = {"instance_id": "q1", "dataset": "bigcode", "requested_model": "big", "valid": True, "repetition": 0}
    runs = [
        {**base, "instance_id": f"q{i}", "arm": arm, "correct": arm != "no_skill", "focal_skill_id": "csv", **skills}
        for i in range(3)
        for arm, skills in (
            ("no_skill", {"gold_skill_id": ["csv", "a"]}),
            ("all_gold_skills", {"gold_skill_id": ["a", "csv"][:: (-1) ** i]}),
        )
    ]
    (tmp_path / "runs.jsonl").write_text("".join(json.dumps(run) + "\n" for run in runs))
    assert skilldelta("import", "runs.jsonl", "--bank", "a.bank").code == 0
    pairs = skilldelta("bank", "list", "--bank", "a.bank", "--json").document["pairs"]

    assert {(pair["skill_id"], pair["family"]) for pair in pairs} == {("a+csv", "csv")}
    found = skilldelta("predict", "--bank", "a.bank", "--skill", "csv+a", "--json", "anything").document
    assert (found["skill"], found["support"]["eligible"]) == ("a+csv", 3)
    assert skilldelta("bank", "list", "--bank", "a.bank", "--skill", "csv+a", "--json").document["pairs"] == pairs


def test_evaluate_takes_a_partition_for_both_ridge_controls(skilldelta: Skilldelta, tmp_path: Path) -> None:
    rows = ["id,text,family,y0,y1,tokens0,tokens1"]
    rows += [f"t{i},question number {i} of {i % 4},f,{i % 2},{(i // 2) % 2},10,2{i % 7}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    names = ("train", "train", "validation", "test")
    parts = [f"t{i},{names[i % 4]}" for i in range(40)]
    (tmp_path / "parts.csv").write_text("\n".join(["task_id,split", *parts]) + "\n")
    skilldelta("import", "t.csv", "--agent", "ada", "--skill", "s", "--bank", "a.bank")
    asked = ("evaluate", "--bank", "a.bank", "--resamples", "0", "--json", "--partition")
    policies = skilldelta(*asked, "parts.csv").document["panels"][0]["policies"]

    for name in ("ridge", "dual_ridge"):
        assert "evaluated on its supplied test split of 10 of 40 pairs" in policies[name]["notes"][0]
    (tmp_path / "parts.csv").write_text("task_id,split\nt0,maybe\n")
    refused = skilldelta(*asked, "parts.csv")
    assert refused.code == 2
    assert "parts.csv:2: split must be train, validation or test, got 'maybe'" in refused.err
