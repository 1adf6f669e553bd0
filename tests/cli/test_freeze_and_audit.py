from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.conftest import Skilldelta

TARGETS = [
    {"task_id": "new-1", "text": "convert eight miles to metres", "family": "units", "skill": "units-skill"},
    {"task_id": "new-2", "text": "what day follows tuesday", "family": "dates", "skill": "dates-skill"},
]


@pytest.fixture
def sealed(skilldelta: Skilldelta, toy_bank: str) -> str:
    Path("targets.jsonl").write_text("".join(json.dumps(row) + "\n" for row in TARGETS))
    ran = skilldelta("freeze", "targets.jsonl", "--bank", toy_bank, "--output", "sealed.json")
    assert ran.code == 0
    return ran.out.strip()


def outcomes(skilldelta: Skilldelta, bank: str) -> None:
    rows = [{**row, "agent": "toy", "y0": [0], "y1": [1], "tokens0": [90], "tokens1": [140]} for row in TARGETS]
    Path("outcomes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert skilldelta("import", "outcomes.jsonl", "--bank", bank).code == 0


def test_sealed_predictions_are_evaluated_on_later_outcomes(skilldelta: Skilldelta, toy_bank: str, sealed: str) -> None:
    outcomes(skilldelta, toy_bank)
    ran = skilldelta("audit", "sealed.json", "--bank", toy_bank, "--seal", sealed, "--resamples", 0, "--json")
    assert ran.code == 0, ran.err
    assert ran.document["evaluated"] == 2
    assert ran.document["success"] == 0.5  # used on the first, skipped on the second
    assert ran.document["token_saving"] == pytest.approx(1 - (140 + 90) / 280)


def test_an_audit_after_the_support_changed_is_refused_with_the_reason(
    skilldelta: Skilldelta, toy_bank: str, sealed: str
) -> None:
    outcomes(skilldelta, toy_bank)
    extra = {
        "task_id": "late",
        "text": "convert late miles",
        "family": "units",
        "skill": "units-skill",
        "agent": "toy",
        "y0": [0],
        "y1": [0],
    }
    Path("late.jsonl").write_text(json.dumps(extra) + "\n")
    skilldelta("import", "late.jsonl", "--bank", toy_bank)
    ran = skilldelta("audit", "sealed.json", "--bank", toy_bank)
    assert ran.code == 1
    assert "late" in ran.err
    assert "refused" in ran.err


def test_an_audit_of_an_edited_file_is_refused(skilldelta: Skilldelta, toy_bank: str, sealed: str) -> None:
    outcomes(skilldelta, toy_bank)
    document = Path("sealed.json").read_text()
    Path("sealed.json").write_text(document.replace('"action": "skip"', '"action": "use"', 1))
    ran = skilldelta("audit", "sealed.json", "--bank", toy_bank)
    assert ran.code == 1
    assert "refused" in ran.err


def test_an_audit_against_another_seal_is_refused(skilldelta: Skilldelta, toy_bank: str, sealed: str) -> None:
    outcomes(skilldelta, toy_bank)
    assert skilldelta("audit", "sealed.json", "--bank", toy_bank, "--seal", "0" * 64).code == 1


def test_the_blend_can_be_frozen_and_is_audited_as_the_blend(skilldelta: Skilldelta, toy_bank: str) -> None:
    Path("targets.jsonl").write_text("".join(json.dumps(row) + "\n" for row in TARGETS))
    asked = ("freeze", "targets.jsonl", "--bank", toy_bank, "--output", "blend.json", "--estimator", "blend")
    assert skilldelta(*asked, "--json").document["estimator"] == "blend"
    outcomes(skilldelta, toy_bank)
    ran = skilldelta("audit", "blend.json", "--bank", toy_bank, "--resamples", 0, "--json")
    assert ran.code == 0, ran.err
    assert (ran.document["estimator"], ran.document["evaluated"]) == ("blend", 2)
    shown = skilldelta("audit", "blend.json", "--bank", toy_bank)
    assert "2 of 2 sealed predictions of SkillDelta" in shown.out
    assert "only 2 tasks: intervals say nothing" in shown.err


def test_settings_of_the_paper_and_another_estimator_exclude_each_other(skilldelta: Skilldelta, toy_bank: str) -> None:
    Path("targets.jsonl").write_text(json.dumps(TARGETS[0]) + "\n")
    asked = ("freeze", "targets.jsonl", "--bank", toy_bank, "--output", "s.json", "--estimator", "blend")
    ran = skilldelta(*asked, "--settings", "toolqa")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "settings of the paper's rule, not of blend" in ran.err


def test_a_sealed_file_is_replaced_only_with_overwrite(skilldelta: Skilldelta, toy_bank: str, sealed: str) -> None:
    asked = ("freeze", "targets.jsonl", "--bank", toy_bank, "--output", "sealed.json")
    ran = skilldelta(*asked)
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "sealed.json exists already" in ran.err
    assert "--overwrite" in ran.err
    assert skilldelta(*asked, "--overwrite").code == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"task_id": "a", "text": "b", "skill": "units-skill", "y1": [1]}', "'y1' does not belong to a target"),
        ('{"task_id": "a", "skill": "units-skill"}', "text is missing"),
        ('{"task_id": ', "bad.jsonl:1: not valid JSON"),
        ('{"task_id": "units-0", "text": "b", "skill": "units-skill"}', "already had outcomes in the support"),
        ("", "no targets"),
    ],
)
def test_a_bad_target_file_is_one_line(skilldelta: Skilldelta, toy_bank: str, line: str, message: str) -> None:
    Path("bad.jsonl").write_text(line + "\n")
    ran = skilldelta("freeze", "bad.jsonl", "--bank", toy_bank, "--output", "sealed.json")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert message in ran.err
    assert not Path("sealed.json").exists()


def test_the_whole_gate_is_sealed_and_applied(skilldelta: Skilldelta, toy_bank: str) -> None:
    Path("targets.jsonl").write_text("".join(json.dumps(row) + "\n" for row in TARGETS))
    freeze = ("freeze", "targets.jsonl", "--bank", toy_bank, "--output", "gate.json")
    gate = ("--rule", "three-way", "--interval", "exact", "--level", 0.9, "--familiarity-limit", 0.2)
    ran = skilldelta(*freeze, *gate)
    assert ran.code == 0, ran.err
    sealed = json.loads(Path("gate.json").read_text())
    settings = {name: sealed["settings"][name] for name in ("rule", "interval", "level", "familiarity_limit")}
    assert settings == {"rule": "three-way", "interval": "exact", "level": 0.9, "familiarity_limit": 0.2}
    for row, prediction in zip(TARGETS, sealed["predictions"], strict=True):
        asked = (row["text"], "--skill", row["skill"], "--family", row["family"], "--scope", "family")
        answer = skilldelta(
            "predict", *asked, "--estimator", "paper", "--task-id", row["task_id"], *gate, "--bank", toy_bank, "--json"
        )
        assert prediction["action"] == answer.document["action"]
        assert prediction["gain"] == pytest.approx(answer.document["gain"])
    outcomes(skilldelta, toy_bank)
    assert skilldelta("audit", "gate.json", "--bank", toy_bank, "--resamples", 0).code == 0


def test_an_audit_refuses_another_rule_than_the_sealed_one(skilldelta: Skilldelta, toy_bank: str) -> None:
    from dataclasses import replace

    from skilldelta.evaluation.prospective.seal import read_sealed, seal, write_sealed

    Path("targets.jsonl").write_text("".join(json.dumps(row) + "\n" for row in TARGETS))
    assert (
        skilldelta(
            "freeze",
            "targets.jsonl",
            "--bank",
            toy_bank,
            "--output",
            "a.json",
            "--rule",
            "three-way",
            "--interval",
            "exact",
        ).code
        == 0
    )
    panel = read_sealed(Path("a.json"))
    assert {item.action for item in panel.predictions} == {"abstain"}
    used = [replace(item, action="use") for item in panel.predictions]
    # Its hashes are made anew, so that only the repeated decision can show the change.
    write_sealed(seal(panel.settings, panel.support, panel.targets, used, created=panel.created), Path("b.json"))
    outcomes(skilldelta, toy_bank)
    ran = skilldelta("audit", "b.json", "--bank", toy_bank, "--resamples", 0)
    assert (ran.code, "different prediction" in ran.err) == (1, True)


def test_a_named_gate_is_frozen(skilldelta: Skilldelta, toy_bank: str) -> None:
    Path("targets.jsonl").write_text("".join(json.dumps(row) + "\n" for row in TARGETS))
    Path("skilldelta.toml").write_text('[gates.careful]\nestimator = "blend"\nrule = "conservative"\nthreshold = 0.3\n')
    ran = skilldelta("freeze", "targets.jsonl", "--bank", toy_bank, "--output", "named.json", "--gate", "careful")
    assert ran.code == 0, ran.err
    settings = json.loads(Path("named.json").read_text())["settings"]
    assert (settings["estimator"], settings["rule"], settings["threshold"]) == ("blend", "conservative", 0.3)
