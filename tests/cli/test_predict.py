from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Skilldelta

DOCUMENTED = {
    "action", "gain", "threshold", "reason", "would_change", "fallback", "previous_revision", "agent", "skill", "suite", "family", "estimator", "k", "weighting", "scope",
    "settings_choose", "support", "interval", "basis", "certainty", "carried_over", "neighbors",
}  # fmt: skip


def test_the_json_document_has_exactly_the_documented_keys(skilldelta: Skilldelta, toy_bank: str) -> None:
    found = skilldelta("predict", "--bank", toy_bank, "--skill", "units-skill", "--json", "convert four miles").document
    assert set(found) == DOCUMENTED
    assert set(found["support"]) == {"eligible", "used", "effective", "radius", "familiarity", "other_skills"}
    assert set(found["interval"]) == {"low", "high", "level", "method"}
    assert set(found["neighbors"][0]) == {"task_id", "similarity", "weight", "gain", "y0", "y1", "r0", "r1", "text"}


def test_the_headline_says_how_sure_the_answer_is(skilldelta: Skilldelta, toy_bank: str) -> None:
    asked = ("predict", "--bank", toy_bank, "--skill", "units-skill", "convert four miles")
    certainty = skilldelta(*asked, "--json").document["certainty"]
    assert certainty in ("sure", "leaning", "close to a coin flip")
    assert skilldelta(*asked).out.splitlines()[0].endswith(f"the skill ({certainty})")


def test_an_answer_without_evidence_has_no_certainty(skilldelta: Skilldelta, toy_bank: str) -> None:
    asked = ("predict", "--bank", toy_bank, "--scope", "family", "--family", "new", "--skill", "units-skill", "a text")
    document = skilldelta(*asked, "--json").document
    assert (document["fallback"], document["certainty"], document["basis"]) == (True, None, None)
    assert skilldelta(*asked).out.splitlines()[0] == "Skip the skill (no evidence)"


def test_the_paper_rule_uses_a_skill_whose_neighbors_gained(skilldelta: Skilldelta, toy_bank: str) -> None:
    asked = ("predict", "--bank", toy_bank, "--paper", "--json")
    helped = skilldelta(*asked, "--skill", "units-skill", "convert four miles to metres").document
    harmed = skilldelta(*asked, "--skill", "dates-skill", "what day follows sunday").document
    assert (helped["action"], harmed["action"]) == ("use", "skip")
    assert helped["gain"] > 0 > harmed["gain"]
    assert helped["support"]["eligible"] == helped["support"]["used"] == 4
    assert sum(n["weight"] for n in helped["neighbors"]) == pytest.approx(1)
    assert helped["gain"] == pytest.approx(sum(n["weight"] * n["gain"] for n in helped["neighbors"]))


def test_a_task_of_the_bank_is_left_out_of_its_own_evidence(skilldelta: Skilldelta, toy_bank: str) -> None:
    found = skilldelta(
        "predict", "--bank", toy_bank, "--skill", "units-skill", "--task-id", "units-3", "--json"
    ).document
    assert [n["task_id"] for n in found["neighbors"]].count("units-3") == 0
    assert found["support"]["eligible"] == 3
    assert found["family"] == "units"


def test_flipping_the_targets_own_outcome_changes_nothing(
    skilldelta: Skilldelta, tmp_path: Path, pairs_file: Path
) -> None:
    rows = [json.loads(line) for line in pairs_file.read_text().splitlines()]
    answers = []
    for name, outcome in (("one.bank", [0]), ("other.bank", [1])):
        for row in rows:
            if row["task_id"] == "units-1":
                row["y0"], row["y1"] = outcome, [1 - outcome[0]]
        pairs_file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        skilldelta("import", pairs_file, "--bank", name)
        for paper in ([], ["--paper"]):
            asked = ("predict", "--bank", name, *paper, "--skill", "units-skill", "--task-id", "units-1", "--json")
            answers.append(skilldelta(*asked).out)
    assert answers[:2] == answers[2:]


def test_the_table_for_people_says_why(skilldelta: Skilldelta, toy_bank: str) -> None:
    asked = ("predict", "--bank", toy_bank, "--paper", "--skill", "units-skill", "convert four miles")
    ran = skilldelta(*asked)
    assert ran.code == 0
    assert "Use the skill" in ran.out
    assert "above the threshold 0" in ran.out
    assert "units-0" in ran.out
    assert "It would change with" not in ran.out
    assert "It would change with" in skilldelta(*asked, "--explain").out


def test_a_three_way_gate_abstains_when_the_interval_contains_the_threshold(
    skilldelta: Skilldelta, toy_bank: str
) -> None:
    asked = ("predict", "--bank", toy_bank, "--skill", "units-skill", "--rule", "three_way", "--json", "convert miles")
    found = skilldelta(*asked).document
    assert found["interval"]["low"] <= 0 < found["interval"]["high"]
    assert found["action"] == "abstain"


def test_text_can_come_from_stdin(skilldelta: Skilldelta, toy_bank: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    monkeypatch.setattr("sys.stdin", io.StringIO("convert four miles\n"))
    assert skilldelta("predict", "--bank", toy_bank, "--skill", "units-skill", "--json", "-").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--skill", "unit-skill", "x"], "unknown skill 'unit-skill'; did you mean units-skill"),
        (["--skill", "units-skill", "--agent", "toi", "x"], "unknown agent 'toi'; did you mean toy"),
        (["--skill", "units-skill", "--k", "0", "x"], "k must be at least 1, got 0"),
        (["--skill", "units-skill", "--threshold", "nan", "x"], "threshold must be a finite number, got nan"),
        (["--skill", "units-skill", "  "], "the task text is empty"),
        (["--skill", "units-skill"], "no task text"),
        (["x"], "no skill"),
        (["--skill", "units-skill", "--task-id", "nope"], "the bank has no task 'nope'"),
        (["--skill", "units-skill", "--encoder", "word2vec", "x"], "word2vec"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    skilldelta: Skilldelta, toy_bank: str, words: list[str], message: str
) -> None:
    ran = skilldelta("predict", "--bank", toy_bank, *words)
    assert ran.code == 2
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1
    assert message in ran.err


def test_a_bank_that_is_not_there_is_named(skilldelta: Skilldelta) -> None:
    ran = skilldelta("predict", "--bank", "nope.bank", "--skill", "s", "x")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "nope.bank" in ran.err
    assert not Path("nope.bank").exists()


def test_an_explanation_is_added_only_when_asked_for(skilldelta: Skilldelta, toy_bank: str) -> None:
    asked = ("predict", "--bank", toy_bank, "--skill", "units-skill", "--json", "--explain", "convert four miles")
    found = skilldelta(*asked).document
    assert set(found) == DOCUMENTED | {"explanation"}
    assert found["explanation"]["cost"]["tokens"] == pytest.approx(50)
    assert found["explanation"]["chance"] is None  # eight pairs are too few to calibrate


def test_tokens_raise_the_threshold_by_what_they_are_worth(skilldelta: Skilldelta, toy_bank: str) -> None:
    asked = ("predict", "--bank", toy_bank, "--skill", "units-skill", "--json", "convert four miles")
    # Fifty more tokens at 10,000 dollars a million cost half a dollar.
    cheap = skilldelta(*asked[:-1], "--price", 10_000, "--success-worth", 50, asked[-1]).document
    dear = skilldelta(*asked[:-1], "--price", 10_000, "--success-worth", 0.5, asked[-1]).document
    assert cheap["threshold"] == pytest.approx(0.01)
    assert (cheap["action"], dear["action"]) == ("use", "skip")
    assert cheap["gain"] == dear["gain"]
    said = skilldelta(
        *(part for part in asked[:-1] if part != "--json"), "--price", 10, "--success-worth", 5, asked[-1]
    )
    assert "tokens ($" in said.out
    assert "success" in said.out
    refused = skilldelta(*asked[:-1], "--success-worth", 1, asked[-1])
    assert (refused.code, len(refused.err.splitlines())) == (2, 1)


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--estimator", "blend"),
        ("--interval", "exact"),
        ("--success-worth", 1),
        ("--price", 3),
    ],
)
def test_a_flag_that_the_paper_settles_is_refused_beside_it(
    skilldelta: Skilldelta, toy_bank: str, flag: str, value: object
) -> None:
    ran = skilldelta("predict", "--bank", toy_bank, "--paper", flag, value, "--skill", "units-skill", "convert miles")
    assert ran.code == 2
    assert ran.err == f"error: --paper already settles {flag}; leave out {flag}, or --paper\n"


def test_the_paper_goes_before_the_environment_and_the_file(
    skilldelta: Skilldelta, toy_bank: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("predict", "--bank", toy_bank, "--skill", "units-skill", "--json", "convert miles")
    expected = skilldelta(*asked, "--paper").out
    monkeypatch.setenv("SKILLDELTA_THRESHOLD", "0.9")
    Path("skilldelta.toml").write_text("k = 1\n")
    assert skilldelta(*asked, "--paper").out == expected
    Path("skilldelta.toml").write_text("[predict]\npaper = true\n")
    assert skilldelta(*asked).out == expected
    assert skilldelta(*asked, "--k", 3).document["k"] == 3
    refused = skilldelta(*asked, "--interval", "exact").err
    assert "leave out --interval, or paper in skilldelta.toml" in refused


def test_a_scope_of_few_tasks_says_that_it_cannot_tell_what_is_usual(skilldelta: Skilldelta, toy_bank: str) -> None:
    found = skilldelta("predict", "--bank", toy_bank, "--skill", "units-skill", "convert four miles").out
    assert "Too few recorded tasks (4) to say whether the task is like them." in " ".join(found.split())


def test_a_skill_that_was_edited_since_its_runs_is_answered_from_them_at_a_discount(
    skilldelta: Skilldelta, toy_bank: str, tmp_path: Path
) -> None:
    text = "Look up the factor between both units, multiply by it, and keep the digits that were given."
    file = tmp_path / "SKILL.md"
    file.write_text(text)
    assert skilldelta("bank", "add-skill", "units-skill", file, "--bank", toy_bank, "--new-version").code == 0
    asked = ("predict", "--bank", toy_bank, "--skill", "units-skill", "convert four miles", "--skill-file", file)
    same = skilldelta(*asked, "--json").document
    file.write_text(text.replace("digits", "places"))
    edited = skilldelta(*asked, "--json").document
    assert same["carried_over"] is None
    assert 0 < edited["carried_over"]["changed"] < 0.7
    assert 0 < edited["gain"] < same["gain"]
    assert "carried over from version" in " ".join(skilldelta(*asked).out.split())
    paper = skilldelta(*asked, "--paper", "--json").document
    assert (paper["action"], paper["fallback"], paper["carried_over"]) == ("abstain", True, None)
