"""Whose evidence answers: the task's own family first, one suite at a time, and settings that do what they say."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cli.conftest import Skilldelta
from skilldelta import load_encoder


def import_rows(skilldelta: Skilldelta, rows: list[dict[str, object]], bank: str = "b.bank") -> str:
    Path("rows.jsonl").write_text("\n".join(json.dumps({"agent": "g", **row}) for row in rows), encoding="utf-8")
    ran = skilldelta("import", "rows.jsonl", "--bank", bank)
    assert ran.code == 0, ran.err
    return bank


@pytest.fixture
def one_skill_bank(skilldelta: Skilldelta) -> str:
    """One skill for two families that it helps and harms; the harmed one has texts much like the helped one's."""
    rows: list[dict[str, object]] = [
        {"task_id": f"{family}-{i}", "text": f"add {i} apples and {i + 1} pears", "family": family, "skill": "cot", **y}
        for family, y in (("helped", {"y0": [0], "y1": [1]}), ("harmed", {"y0": [1], "y1": [0]}))
        for i in range(5)
    ]
    return import_rows(skilldelta, rows)


@pytest.fixture
def two_suites(skilldelta: Skilldelta) -> str:
    """The same skill and family name in two suites, with opposite effects."""
    rows: list[dict[str, object]] = [
        {"suite": suite, "task_id": f"t{i}", "text": f"add {i} and {i + 2}", "family": "sums", "skill": "cot", **y}
        for suite, y in (("old", {"y0": [0], "y1": [1]}), ("new", {"y0": [1], "y1": [0]}))
        for i in range(5)
    ]
    rows.append(
        {"suite": "new", "task_id": "own", "text": "sort", "family": "f", "skill": "only-new", "y0": [0], "y1": [1]}
    )
    return import_rows(skilldelta, rows)


@pytest.mark.parametrize("text", [[], ["add 3 apples and 4 pears"]])
def test_a_recorded_task_is_answered_from_its_own_family(
    skilldelta: Skilldelta, one_skill_bank: str, text: list[str]
) -> None:
    asked = ("predict", "--paper", "--bank", one_skill_bank, "--skill", "cot", "--json", "--task-id", "harmed-3", *text)
    found = skilldelta(*asked).document
    assert (found["scope"], found["family"]) == ("family", "harmed")
    assert (found["action"], found["gain"], found["support"]["eligible"]) == ("skip", -1.0, 4)


def test_bbh_under_one_skill_gives_the_papers_answer(skilldelta: Skilldelta, shared_data: Path) -> None:
    """A plain computation of Algorithm 1 beside the command; all families together would say use."""
    rows = [json.loads(line) for line in (shared_data / "bbh_cot" / "pairs.jsonl").read_text().splitlines()]
    bank = import_rows(skilldelta, [{**row, "skill": "cot"} for row in rows])
    asked = ("predict", "--paper", "--bank", bank, "--skill", "cot", "--json", "--task-id", "bbh/causal_judgement/040")
    family = [row for row in rows if row["family"] == "causal_judgement"]
    vectors = load_encoder().encode([row["question"] for row in family]).astype(np.float64)
    target = next(i for i, row in enumerate(family) if row["task_id"].endswith("/040"))
    cosines = vectors @ vectors[target]
    cosines[target] = -np.inf
    near = np.argsort(-cosines, kind="stable")[:6]
    gains = np.array([np.mean(row["y1"]) - np.mean(row["y0"]) for row in family])
    found = skilldelta(*asked).document
    assert found["gain"] == pytest.approx(float(cosines[near] @ gains[near] / cosines[near].sum()), abs=1e-6)
    assert (found["action"], skilldelta(*asked, "--scope", "skill").document["action"]) == ("skip", "use")


def test_families_of_one_name_in_two_suites_are_never_pooled(skilldelta: Skilldelta, two_suites: str) -> None:
    for estimator in ("paper", "blend"):
        asked = ("predict", "--bank", two_suites, "--skill", "cot", "--estimator", estimator, "--json", "add 9 and 8")
        answers = {suite: skilldelta(*asked, "--suite", suite).document for suite in ("old", "new")}
        assert (answers["old"]["action"], answers["new"]["action"]) == ("use", "skip")
        assert (answers["old"]["suite"], answers["old"]["support"]["eligible"]) == ("old", 5)
        assert answers["old"]["gain"] > 0 > answers["new"]["gain"]


def test_a_question_that_two_suites_could_answer_is_answered_from_the_default_one(
    skilldelta: Skilldelta, two_suites: str
) -> None:
    asked = ("predict", "--bank", two_suites, "--skill", "cot", "--json", "add 9 and 8")
    assert skilldelta(*asked).document["suite"] == "old"
    assert skilldelta("bank", "use", "--suite", "new", "--bank", two_suites).code == 0
    assert skilldelta(*asked).document["suite"] == "new"
    wrong = skilldelta("predict", "--bank", two_suites, "--skill", "cot", "--suite", "nwe", "add 9 and 8")
    assert (wrong.code, wrong.err) == (2, "error: unknown suite 'nwe'; did you mean new?\n")


def test_a_skill_or_a_task_of_one_suite_needs_no_suite(skilldelta: Skilldelta, two_suites: str) -> None:
    by_skill = skilldelta("predict", "--bank", two_suites, "--skill", "only-new", "--json", "sort it").document
    by_task = skilldelta("predict", "--bank", two_suites, "--skill", "cot", "--task-id", "own", "--json").document
    assert (by_skill["suite"], by_task["suite"]) == ("new", "new")


@pytest.mark.parametrize(
    ("flags", "key", "value", "words"),
    [
        (("--k", 3), "k", 3, "The paper's rule with k = 3."),
        (("--weighting", "uniform"), "weighting", "uniform", "The paper's rule with uniform weights."),
        (("--scope", "skill"), "scope", "skill", "The paper's rule with scope skill."),
        (("--threshold", 0.25), "threshold", 0.25, "threshold 0.25"),
    ],
)
def test_the_paper_rule_takes_other_settings_under_its_own_name(
    skilldelta: Skilldelta, one_skill_bank: str, flags: tuple[object, ...], key: str, value: object, words: str
) -> None:
    asked = ("predict", "--paper", "--bank", one_skill_bank, "--skill", "cot", "--task-id", "helped-2", *flags)
    found = skilldelta(*asked, "--json").document
    assert (found[key], found["estimator"], found["settings_choose"]) == (value, "paper", "gain")
    assert found["interval"]["method"] == "hoeffding"
    assert words in " ".join(skilldelta(*asked).out.split())
    if key == "k":
        assert found["support"]["used"] == 3


def test_under_the_blend_the_settings_choose_the_pairs_shown_and_say_so(
    skilldelta: Skilldelta, one_skill_bank: str
) -> None:
    asked = ("predict", "--bank", one_skill_bank, "--skill", "cot", "add 7 apples and 8 pears")
    plain = skilldelta(*asked, "--json").document
    fewer = skilldelta(*asked, "--k", 2, "--weighting", "uniform", "--scope", "global", "--json").document
    assert (len(plain["neighbors"]), len(fewer["neighbors"])) == (6, 2)
    assert {n["weight"] for n in fewer["neighbors"]} == {0.5}
    assert fewer["gain"] == plain["gain"]
    assert (plain["settings_choose"], fewer["scope"]) == ("neighbors", "global")
    said = " ".join(skilldelta(*asked, "--k", 2).out.split())
    assert "K = 2: for the pairs shown and bounded; the gain is the blend's, from all pairs." in said


@pytest.mark.parametrize("command", [("sweep", "threshold"), ("calibrate", "--margin", "0")])
def test_a_flag_without_a_say_is_refused(skilldelta: Skilldelta, one_skill_bank: str, command: tuple[str, ...]) -> None:
    ran = skilldelta(*command, "--bank", one_skill_bank, "--k", 3)
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "--k has no say in the scores of blend; leave it out" in ran.err
