"""`skilldelta drift` on banks that the command line made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Skilldelta


def write_pairs(path: Path, agent: str, gains: list[int], **more: object) -> None:
    pairs = [
        {"task_id": f"t{i}", "text": f"task number {i}", "family": "f", "skill": "s", "agent": agent, "suite": "own"}
        | {"y0": [int(gain < 0)], "y1": [int(gain > 0)]}
        | more
        for i, gain in enumerate(gains)
    ]
    path.write_text("\n".join(map(json.dumps, pairs)) + "\n")


@pytest.fixture
def updated(skilldelta: Skilldelta, tmp_path: Path) -> Skilldelta:
    """A bank of a model that the skill helped, and of its successor that it does not."""
    write_pairs(tmp_path / "old.jsonl", "old", [1] * 40)
    write_pairs(tmp_path / "new.jsonl", "new", [0] * 30)
    assert skilldelta("import", "old.jsonl", "new.jsonl").code == 0
    return skilldelta


def test_a_skill_that_stopped_helping_the_newer_model_is_named_with_exit_code_1(updated: Skilldelta) -> None:
    ran = updated("drift", "--from", "old", "--to", "new")
    assert ran.code == 1
    assert "stopped helping" in ran.out
    assert "30 tasks were run by both" in ran.err
    document = updated("drift", "--from", "old", "--to", "new", "--json").document
    assert document["skills"][0]["change"] < -0.9


def test_a_model_that_has_run_nothing_is_told_what_settles_it(updated: Skilldelta) -> None:
    ran = updated("drift", "--from", "old", "--to", "brand-new")
    assert ran.code == 0
    assert "not run yet" in ran.out
    assert "more pairs" in ran.out
    assert "brand-new has not run anything yet" in ran.err


def test_the_markdown_is_a_table_alone(updated: Skilldelta) -> None:
    lines = updated("drift", "--from", "old", "--to", "new", "--markdown").out.splitlines()
    assert lines[0].startswith("**From old to new**")
    assert {line.count("|") for line in lines if line.startswith("|")} == {8}


def test_an_edited_skill_is_compared_with_its_version_before(skilldelta: Skilldelta, tmp_path: Path) -> None:
    write_pairs(tmp_path / "v1.jsonl", "me", [1] * 30, skill_digest="a" * 64)
    assert skilldelta("import", "v1.jsonl").code == 0
    assert "no skill has pairs of two versions" in skilldelta("drift", "--skill-change").err
    write_pairs(tmp_path / "v2.jsonl", "me", [0] * 30, skill_digest="b" * 64)
    assert skilldelta("import", "v2.jsonl").code == 0
    ran = skilldelta("drift", "--skill-change")
    assert "stopped helping" in ran.out, ran.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "say what was updated"),
        (("--from", "old"), "say what was updated"),
        (("--from", "old", "--to", "new", "--skill-change"), "say what was updated"),
        (("--from", "old", "--to", "old"), "both sides are old"),
        (("--from", "nobody", "--to", "new"), "nobody"),
        (("--from", "old", "--to", "new", "--skill", "x"), "x"),
        (("--from", "old", "--to", "new", "--suite", "x"), "x"),
    ],
)
def test_what_cannot_be_compared_is_one_line(updated: Skilldelta, words: tuple[str, ...], told: str) -> None:
    ran = updated("drift", *words)
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert told in ran.err
