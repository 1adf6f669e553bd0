"""`skilldelta skills`: verdicts for people and for programs, and what bad input gets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Skilldelta


@pytest.fixture
def gated_bank(skilldelta: Skilldelta, tmp_path: Path) -> str:
    """One skill that helps on dates and harms on units, with repetitions; the baseline was run once more."""
    rows = [
        {
            "task_id": f"{family}-{i}",
            "text": f"{family} question number {i}",
            "family": family,
            "skill": "both",
            "agent": "toy",
            "y0": [y0, y0, y0],
            "y1": [y1, y1],
            "tokens0": [100] * 3,
            "tokens1": [150] * 2,
        }
        for family, y0, y1 in (("dates", 0, 1), ("units", 1, 0))
        for i in range(10)
    ]
    path = tmp_path / "gated.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert skilldelta("import", path, "--bank", "gated.bank").code == 0
    return "gated.bank"


def test_json_has_the_verdict_its_evidence_and_the_harmed_tasks(skilldelta: Skilldelta, gated_bank: str) -> None:
    ran = skilldelta("skills", "--bank", gated_bank, "--json")
    (panel,) = ran.document["panels"]
    (skill,) = panel["skills"]
    assert (ran.code, panel["agent"], panel["tasks"]) == (0, "toy", 20)
    assert (skill["verdict"], skill["reason"]) == ("gate", "harmed families")
    assert skill["sentence"].startswith("gate: harms `units`")
    assert [(one["family"], one["effect"]) for one in skill["families"]] == [("units", "harms"), ("dates", "helps")]
    assert skill["harmed_tasks"] == [f"units-{i}" for i in range(10)]
    assert skill["skipping"]["harmed_families"] == {
        "tasks": 10,
        "success": 0.5,
        "tokens": 25.0,
        "token_share": pytest.approx(1 / 6),
    }
    assert [sorted(group["tasks"]) for group in skill["neighbor_groups"]] == [[f"units-{i}" for i in range(10)]]


def test_people_see_a_table_that_fits_80_columns_and_a_sentence_per_skill(
    skilldelta: Skilldelta, gated_bank: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ran = skilldelta("skills", "--bank", gated_bank, "--skill", "both")
    assert ran.code == 0
    assert max(map(len, ran.out.splitlines())) <= 80
    words = " ".join(ran.out.split())
    assert "both: gate: harms `units`" in words
    assert "units-0" in words
    assert "false-discovery rate 5% over all families" in words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--skill", "bth"], "unknown skill 'bth'; did you mean both?"),
        (["--skill", "zzz"], "unknown skill 'zzz'; the only one is both"),
        (["--resamples", "0"], "--resamples 0 leaves no interval to judge by"),
        (["--margin", "2"], "margin must be at least 0 and below 1"),
        (["--bank", "none.bank"], "none.bank"),
    ],
)
def test_bad_input_gets_one_line(skilldelta: Skilldelta, gated_bank: str, words: list[str], said: str) -> None:
    ran = skilldelta("skills", "--bank", gated_bank, *words)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert said in ran.err


def test_the_first_line_counts_the_verdicts_and_skills_are_sorted_as_asked(
    skilldelta: Skilldelta, gated_bank: str
) -> None:
    ran = skilldelta("skills", "--bank", gated_bank, "--sort", "name", "--top", 1)
    assert ran.out.splitlines()[0] == "1 skill: gate 1"
    document = skilldelta("skills", "--bank", gated_bank, "--json").document
    assert document["summary"] == "1 skill: gate 1"
    (skill,) = document["panels"][0]["skills"]
    assert skill["certainty"] == "sure"
    assert 0 <= skill["corrected"]["helps"] <= 1
    assert skill["corrected"]["low"] <= skill["corrected"]["gain"] <= skill["corrected"]["high"]
