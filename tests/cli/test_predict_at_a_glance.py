"""What a person sees of a prediction, line by line."""

from __future__ import annotations

import json

import pytest

from .conftest import Skilldelta, pair_rows

WIDTH = 80
FURTHER = ("Made of", "Evidence:", "It is predicted to", "It would change with", "weight", "runs")


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(WIDTH))


def asked(skilldelta: Skilldelta, bank: str, *words: object) -> list[str]:
    ran = skilldelta("predict", "--bank", bank, *words)
    assert (ran.code, ran.err) == (0, "")
    lines = [line.rstrip() for line in ran.out.splitlines()]
    assert max(map(len, lines)) <= WIDTH
    return lines


def test_verdict_reason_drawing_and_nearest_tasks_come_first_and_alone(skilldelta: Skilldelta, toy_bank: str) -> None:
    lines = asked(skilldelta, toy_bank, "--skill", "units-skill", "--paper", "convert four miles")
    assert lines[0] == "Use the skill (leaning)"
    assert lines[1] == "Predicted gain +0.799 from 4 of 4 eligible pairs is above the threshold 0."
    assert lines[2].startswith("-1 ")
    assert lines[2].endswith(" +1")
    assert lines[3].startswith("● gain +0.799   ├━┤ 95% ")
    assert lines[4].startswith("Too few recorded tasks (4)")
    assert lines[5] == "Nearest tasks with paired executions"
    assert not any(word in line for word in FURTHER for line in lines)


def test_the_rest_follows_on_request(skilldelta: Skilldelta, toy_bank: str) -> None:
    text = "\n".join(asked(skilldelta, toy_bank, "--skill", "units-skill", "--explain", "convert four miles"))
    for word in FURTHER:
        assert word in text


def test_without_evidence_nothing_is_drawn_and_the_remedy_is_named(skilldelta: Skilldelta, toy_bank: str) -> None:
    for explain in ([], ["--explain"]):
        words = ("--skill", "units-skill", "--family", "nowhere", "--paper", *explain, "convert four miles")
        assert asked(skilldelta, toy_bank, *words) == [
            "Skip the skill (no evidence)",
            "No eligible support.",
            "It would change with any paired execution in scope.",
        ]


def test_an_abstention_says_what_would_settle_it(skilldelta: Skilldelta, toy_bank: str) -> None:
    lines = asked(skilldelta, toy_bank, "--skill", "units-skill", "--rule", "three_way", "convert four miles")
    assert lines[0] == "Abstain: the evidence does not settle it (leaning)"
    assert any(line.startswith("It would change with more or nearer paired executions") for line in lines)


def test_a_cost_that_decided_is_part_of_the_reason(skilldelta: Skilldelta, toy_bank: str) -> None:
    prices = ("--price", 10_000, "--success-worth", 0.5)
    lines = asked(skilldelta, toy_bank, "--skill", "units-skill", *prices, "convert four miles")
    assert lines[0] == "Skip the skill (sure)"
    assert any(line.startswith("The skill adds about 50 tokens ($0.5)") for line in lines)
    assert "◆ threshold 1" in lines[3] or "│ threshold 1" in lines[3]


def test_one_neighbor_is_enough_for_an_answer(skilldelta: Skilldelta, tmp_path: object) -> None:
    from pathlib import Path

    Path("one.jsonl").write_text(json.dumps(pair_rows()[0]) + "\n")
    assert skilldelta("import", "one.jsonl", "--bank", "one.bank").code == 0
    for paper in ([], ["--paper"]):
        lines = asked(skilldelta, "one.bank", "--skill", "units-skill", *paper, "convert four miles")
        assert lines[2].startswith("-1 ")
        assert sum(line.startswith(" units-") for line in lines) == 1


def test_an_unlike_task_is_said_to_be_one_once(skilldelta: Skilldelta) -> None:
    from pathlib import Path

    rows = [
        {**pair_rows()[0], "task_id": f"t{i}", "text": f"convert {i} miles to metres", "family": "units"}
        for i in range(12)
    ]
    Path("many.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert skilldelta("import", "many.jsonl", "--bank", "many.bank").code == 0
    lines = asked(skilldelta, "many.bank", "--skill", "units-skill", "--explain", "refactor this React component")
    text = " ".join(lines)
    assert lines[0] == "Skip the skill (close to a coin flip)"
    assert text.count("unlike the recorded ones") == 1
    assert "It would change with paired executions of tasks like this one" in text


def test_a_family_that_nobody_recorded_is_said(skilldelta: Skilldelta, toy_bank: str) -> None:
    """A misspelled family must not pass for the right one."""
    told = "No pair of this skill is of family unitz: pairs of its other families inform."
    words = ("--skill", "units-skill", "convert four miles")
    assert told in asked(skilldelta, toy_bank, "--family", "unitz", *words)
    assert not any("of family" in line for line in asked(skilldelta, toy_bank, "--family", "units", *words))


def test_a_threshold_beyond_every_gain_is_refused(skilldelta: Skilldelta, toy_bank: str) -> None:
    for threshold in ("1e300", "2", "-1.01"):
        ran = skilldelta("predict", "--bank", toy_bank, "--skill", "units-skill", "--threshold", threshold, "a mile")
        assert (ran.code, ran.out) == (2, "")
        assert "threshold must lie between -1 and 1, as gains do" in ran.err
    ran = skilldelta("predict", "--bank", toy_bank, "--skill", "units-skill", "--threshold", "1", "convert a mile")
    assert ran.out.startswith("Skip the skill")
