"""`skilldelta check`: exit codes, baselines, JUnit XML and Markdown, from a bank and from files."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cli.conftest import Skilldelta


def write_pairs(path: Path, gains: dict[str, tuple[int, int, int]], agent: str = "toy") -> Path:
    """Per skill how many tasks it helps, harms, and leaves as they are."""
    rows = [
        {
            "task_id": f"{skill}-{i}",
            "text": f"{skill} question {i}",
            "skill": skill,
            "agent": agent,
            "y0": [y0],
            "y1": [y1],
        }
        for skill, counts in gains.items()
        for i, (y0, y1) in enumerate(
            outcome for outcome, count in zip(((0, 1), (1, 0), (1, 1)), counts, strict=True) for _ in range(count)
        )
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


GOOD, BAD, OPEN = (15, 0, 15), (0, 15, 15), (5, 4, 21)


@pytest.mark.parametrize(
    ("gains", "words", "code", "outcome"),
    [
        ({"a": GOOD}, [], 0, "pass"),
        ({"a": GOOD, "b": BAD}, [], 1, "fail"),
        ({"a": GOOD}, ["--min-gain", "0.8"], 1, "fail"),
        ({"a": GOOD, "b": OPEN}, [], 0, "not enough evidence"),
        ({"a": GOOD, "b": OPEN}, ["--on-too-little", "fail"], 1, "not enough evidence"),
        ({"a": GOOD, "b": OPEN}, ["--on-too-little", "78"], 78, "not enough evidence"),
        ({"a": GOOD, "b": OPEN}, ["--skill", "a", "--on-too-little", "fail"], 0, "pass"),
        ({"a": BAD, "b": OPEN}, ["--on-too-little", "78"], 1, "fail"),
    ],
)
def test_the_exit_code_is_the_outcome(
    skilldelta: Skilldelta,
    tmp_path: Path,
    gains: dict[str, tuple[int, int, int]],
    words: list[str],
    code: int,
    outcome: str,
) -> None:
    ran = skilldelta("check", write_pairs(tmp_path / "pairs.jsonl", gains), *words, "--json")
    assert (ran.code, ran.document["outcome"]) == (code, outcome)


def test_a_bank_and_its_files_give_the_same(skilldelta: Skilldelta, tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "pairs.jsonl", {"a": GOOD, "b": OPEN})
    assert skilldelta("import", path, "--bank", "b.bank").code == 0
    assert skilldelta("check", path, "--json").document == skilldelta("check", "--bank", "b.bank", "--json").document


def test_two_files_of_one_arm_each(skilldelta: Skilldelta, tmp_path: Path) -> None:
    for name, success in (("off", 0), ("on", 1)):
        rows = [{"task_id": f"t{i}", "text": f"question {i}", "success": success} for i in range(20)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ran = skilldelta("check", "--without", "off.jsonl", "--with", "on.jsonl", "--skill", "sums", "--json")
    assert (ran.code, ran.document["skills"][0]["skill"]) == (0, "sums")
    assert ran.document["skills"][0]["checks"][0]["value"] == 1.0
    turned = skilldelta("check", "--without", "on.jsonl", "--with", "off.jsonl")
    assert turned.code == 1


def test_what_got_worse_than_the_baseline_fails(skilldelta: Skilldelta, tmp_path: Path) -> None:
    before = write_pairs(tmp_path / "before.jsonl", {"a": (40, 0, 20), "gone": GOOD})
    assert skilldelta("check", before, "--write-baseline", "baseline.json").code == 0
    same = skilldelta("check", before, "--baseline", "baseline.json", "--skill", "a", "--json")
    assert (same.code, same.document["outcome"]) == (0, "pass")
    worse = write_pairs(tmp_path / "after.jsonl", {"a": (15, 0, 45), "new": GOOD})
    ran = skilldelta("check", worse, "--baseline", "baseline.json", "--json")
    found = {one["skill"]: one for one in ran.document["skills"]}
    assert ran.code == 1
    assert [(one["rule"], one["outcome"]) for one in found["a"]["checks"]] == [("gain", "pass"), ("baseline", "fail")]
    assert found["new"]["remarks"] == ["not in the baseline yet"]
    assert found["gone"]["outcome"] == "not enough evidence"
    assert found["gone"]["remarks"] == ["in the baseline, and not among the results"]


def test_a_changed_task_is_not_held_against_its_former_self(skilldelta: Skilldelta, tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "pairs.jsonl", {"a": GOOD})
    assert skilldelta("check", path, "--write-baseline", "baseline.json").code == 0
    path.write_text(path.read_text().replace("question", "changed question"))
    (skill,) = skilldelta("check", path, "--baseline", "baseline.json", "--json").document["skills"]
    assert skill["checks"][1]["tasks"] == 0
    assert skill["remarks"] == ["30 of 30 tasks of the baseline are gone or changed"]


def test_junit_and_markdown_hold_hostile_names_harmlessly(skilldelta: Skilldelta, tmp_path: Path) -> None:
    name = "a\x08</testcase><x>&\"' `|` @someone"
    path = write_pairs(tmp_path / "pairs.jsonl", {name: BAD, "b": OPEN, "c": GOOD})
    ran = skilldelta("check", path, "--junit", "junit.xml", "--markdown", "summary.md")
    assert ran.code == 1
    root = ElementTree.parse("junit.xml").getroot()
    (suite,) = root
    assert suite.attrib == {"name": "skilldelta check", "tests": "3", "failures": "1", "errors": "0", "skipped": "1"}
    assert [child.tag for case in suite for child in case] == ["failure", "skipped", "system-out"]
    summary = Path("summary.md").read_text(encoding="utf-8")
    assert summary.startswith("### Skills: A skill does not hold")
    (row,) = [line for line in summary.splitlines() if line.startswith("| ``a")]
    assert row.count("\\|") == 1
    assert "❌ does not hold" in row


def test_missing_evidence_can_fail_in_junit_too(skilldelta: Skilldelta, tmp_path: Path) -> None:
    path = write_pairs(tmp_path / "pairs.jsonl", {"b": OPEN})
    assert skilldelta("check", path, "--junit", "junit.xml", "--on-too-little", "fail").code == 1
    assert ElementTree.parse("junit.xml").getroot().attrib["failures"] == "1"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["pairs.jsonl", "--on-too-little", "perhaps"], "--on-too-little is pass, fail or an exit code from 0 to 125"),
        (["pairs.jsonl", "--on-too-little", "300"], "--on-too-little is pass, fail or an exit code"),
        (["pairs.jsonl", "--min-gain", "5"], "the least gain must be from -1 to 1"),
        (["pairs.jsonl", "--skill", "aa"], "unknown skill 'aa'; did you mean a?"),
        (["pairs.jsonl", "pairs.jsonl"], "stands in two sources"),
        (["--without", "pairs.jsonl"], "--without and --with go together"),
        (["--without", "pairs.jsonl", "--with", "pairs.jsonl"], "holds both arms"),
        (["pairs.jsonl", "--baseline", "pairs.jsonl"], "not valid JSON"),
        (["pairs.jsonl", "--baseline", "other.json"], "no baseline; write one with"),
        (["pairs.jsonl", "--baseline", "damaged.json"], "the gain must be a number from -1 to 1"),
        (["none.jsonl"], "there is no such file"),
        (["pairs.jsonl", "--junit", "pairs.jsonl"], "pairs.jsonl"),
    ],
)
def test_bad_input_gets_one_line_and_writes_nothing(
    skilldelta: Skilldelta, tmp_path: Path, words: list[str], said: str
) -> None:
    write_pairs(tmp_path / "pairs.jsonl", {"a": GOOD})
    (tmp_path / "other.json").write_text("{}")
    skills = [{"agent": "toy", "suite": "default", "skill": "a", "tasks": {"t": {"gain": "high"}}}]
    (tmp_path / "damaged.json").write_text(
        json.dumps({"format": "skilldelta-baseline", "version": 1, "skills": skills})
    )
    before = sorted(path.name for path in tmp_path.iterdir())
    ran = skilldelta("check", *words, *([] if "--junit" in words else ["--junit", "junit.xml"]))
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1), ran
    assert said in ran.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before
