"""`bank add-skill`: the text beside the evidence, and what it makes possible."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Skilldelta, pair_rows
from skilldelta.records import text_digest

SKILL = "---\nname: units-skill\ndescription: units\n---\n\nConvert miles, yards and inches to metres and feet.\n"
BODY = "Convert miles, yards and inches to metres and feet."


@pytest.fixture
def skill_folder(tmp_path: Path) -> Path:
    (tmp_path / "units-skill").mkdir()
    (tmp_path / "units-skill" / "SKILL.md").write_text(SKILL)
    return tmp_path / "units-skill"


def test_with_every_skills_text_evaluate_has_the_relevance_policy(
    skilldelta: Skilldelta, toy_bank: str, skill_folder: Path, tmp_path: Path
) -> None:
    asked = ("evaluate", "--bank", toy_bank, "--resamples", "0", "--json")
    assert "relevance" not in skilldelta(*asked).document["panels"][0]["policies"]
    (tmp_path / "dates.txt").write_text("Count days and months from a given day.")
    for name, path in (("units-skill", skill_folder), ("dates-skill", tmp_path / "dates.txt")):
        ran = skilldelta("bank", "add-skill", name, path, "--bank", toy_bank)
        assert ran.code == 0
        assert "it is the version of 8 recorded executions" in ran.out

    panel = skilldelta(*asked).document["panels"][0]
    assert panel["tasks"] == 8  # executions without a digest stay usable
    assert 0 <= panel["policies"]["relevance"]["success"] <= 1


def test_the_digest_is_that_of_the_text_below_the_front_matter(
    skilldelta: Skilldelta, toy_bank: str, skill_folder: Path
) -> None:
    asked = ("bank", "add-skill", "units-skill", skill_folder / "SKILL.md", "--bank", toy_bank, "--json")
    first, second = skilldelta(*asked).document, skilldelta(*asked).document

    assert first["digest"] == text_digest(BODY)
    assert (first["is_new"], first["executions"], first["stale"]) == (True, 8, 0)
    assert (second["is_new"], second["executions"]) == (False, 8)


def test_the_digest_is_the_one_that_collect_records(skill_folder: Path) -> None:
    from skilldelta.bank.skill_versions import read_skill_text
    from skilldelta.collect.suite import read_skill

    assert read_skill_text(skill_folder) == read_skill(skill_folder / "SKILL.md").text


def test_a_text_that_would_make_evidence_stale_must_be_meant_so(
    skilldelta: Skilldelta, toy_bank: str, skill_folder: Path, tmp_path: Path
) -> None:
    skilldelta("bank", "add-skill", "units-skill", skill_folder, "--bank", toy_bank)
    (tmp_path / "new.md").write_text("Another text.")
    asked = ("bank", "add-skill", "units-skill", "new.md", "--bank", toy_bank)
    refused = skilldelta(*asked)
    assert refused.code == 2
    assert "8 executions of 'units-skill' were recorded with another text" in refused.err
    assert "--new-version" in refused.err
    assert len(skilldelta("bank", "list", "--bank", toy_bank, "--json").document["pairs"]) == 8

    assert "8 executions of other versions are stale" in skilldelta(*asked, "--new-version").out
    assert len(skilldelta("bank", "list", "--bank", toy_bank, "--json").document["pairs"]) == 4


def test_the_version_that_executions_name_is_recognized(
    skilldelta: Skilldelta, skill_folder: Path, tmp_path: Path
) -> None:
    rows = [{**row, "skill_digest": text_digest(BODY)} for row in pair_rows()[:4]]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    skilldelta("import", "pairs.jsonl", "--bank", "my.bank")

    assert (
        "version of 8 recorded" in skilldelta("bank", "add-skill", "units-skill", skill_folder, "--bank", "my.bank").out
    )


def test_a_name_that_no_execution_has_is_pointed_out(skilldelta: Skilldelta, toy_bank: str, skill_folder: Path) -> None:
    ran = skilldelta("bank", "add-skill", "unit-skill", skill_folder, "--bank", toy_bank)

    assert ran.code == 0
    assert "no recorded execution names this skill yet; did you mean units-skill" in ran.out


def test_bad_paths_are_one_line(skilldelta: Skilldelta, toy_bank: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "bare.md").write_text("---\nname: x\n---\n \n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for path, said in (
        ("absent", "there is no such file"),
        ("empty", "no SKILL.md in this folder"),
        ("bare.md", "the skill has no text"),
        ("binary", "not UTF-8"),
    ):
        ran = skilldelta("bank", "add-skill", "units-skill", path, "--bank", toy_bank)
        assert ran.code == 2
        assert said in ran.err
        assert len(ran.err.splitlines()) == 1


def test_a_name_that_a_terminal_would_obey_is_spelled_out(
    skilldelta: Skilldelta, toy_bank: str, tmp_path: Path
) -> None:
    (tmp_path / "skill.md").write_text("Add.")
    ran = skilldelta("bank", "add-skill", "x\x1b[2J", "skill.md", "--bank", toy_bank)
    assert ran.code == 0
    assert "\x1b" not in ran.out
