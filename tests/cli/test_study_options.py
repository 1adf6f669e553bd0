"""Verdicts, means, nulls, holdouts, exclusions, corrections and re-execution from the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Skilldelta, pair_rows
from cli.test_freeze_and_audit import TARGETS, outcomes


def _write(path: str, rows: list[dict[str, Any]]) -> None:
    Path(path).write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def two_panels(skilldelta: Skilldelta) -> str:
    for seed in (1, 2):
        made = ("simulate", "--tasks", 40, "--families", 2, "--seed", seed, "--resamples", 0, "--json")
        assert skilldelta(*made, "--pairs", f"{seed}.jsonl").code == 0
        asked = ("import", f"{seed}.jsonl", "--bank", "two.bank", "--agent", f"agent-{seed}")
        rows = [json.loads(line) for line in Path(f"{seed}.jsonl").read_text().splitlines()]
        _write(f"{seed}.jsonl", [{**row, "agent": f"agent-{seed}", "suite": f"suite-{seed}"} for row in rows])
        assert skilldelta(*asked).code == 0
    return "two.bank"


def test_the_verdict_is_the_first_line_and_a_key(skilldelta: Skilldelta, two_panels: str) -> None:
    asked = ("evaluate", "--bank", two_panels, "--agent", "agent-1", "--resamples", 100)
    found = skilldelta(*asked, "--json").document["panels"][0]["verdict"]
    assert found["verdict"] in ("better", "equivalent", "worse", "too small to tell")
    assert (found["policy"], found["tasks"], found["margin"]) == ("blend", 40, 0.02)
    shown = " ".join(skilldelta(*asked).out.split("SkillDelta: ")[-1].split())
    words = {"better": "Better", "worse": "Worse", "equivalent": "Equivalent"}
    assert shown.startswith(words.get(found["verdict"], "Too small to tell"))
    everything = skilldelta(*asked, "--margin", 0.9, "--json").document["panels"][0]["verdict"]
    assert everything["verdict"] == "equivalent"


def test_an_evaluation_starts_with_its_verdict_and_three_rows_and_the_rest_is_on_request(
    skilldelta: Skilldelta, two_panels: str
) -> None:
    asked = ("evaluate", "--bank", two_panels, "--agent", "agent-1", "--resamples", 50, "--shuffles", 0)
    brief, everything = skilldelta(*asked).out, skilldelta(*asked, "--all").out
    assert brief.startswith("SkillDelta: ")
    assert [name for name in ("Always off", "Always on", "Family mean", "AUROC") if name in brief] == [
        "Always off",
        "Always on",
    ]
    assert everything.startswith("SkillDelta: ")
    assert "Family mean" in everything
    assert "AUROC" in everything


def test_a_panel_of_few_tasks_shows_no_auroc(skilldelta: Skilldelta, toy_bank: str) -> None:
    asked = ("evaluate", "--bank", toy_bank, "--resamples", 20, "--shuffles", 0)
    assert "AUROC" not in skilldelta(*asked, "--all").out
    panel = skilldelta(*asked, "--json").document["panels"][0]
    assert panel["policies"]["paper"]["auroc"] is not None  # JSON stays leave-one-task-out and raw
    assert set(panel["repeated_folds"]["policies"]) == {"paper", "family_mean", "blend"}
    assert panel["oracle_corrected"] is None or panel["oracle_corrected"] <= panel["oracle"]


def test_a_margin_beyond_every_difference_is_one_line(skilldelta: Skilldelta, toy_bank: str) -> None:
    ran = skilldelta("evaluate", "--bank", toy_bank, "--margin", 2)
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "0.02 is 2 points" in ran.err


def test_one_pair_has_no_verdict(skilldelta: Skilldelta, pairs_file: Path) -> None:
    pairs_file.write_text(pairs_file.read_text().splitlines(keepends=True)[0])
    skilldelta("import", pairs_file, "--bank", "one.bank")
    assert "No verdict: one pair" in skilldelta("evaluate", "--bank", "one.bank", "--resamples", 20).out
    found = skilldelta("evaluate", "--bank", "one.bank", "--resamples", 20, "--json").document["panels"][0]
    assert found["verdict"] is None


def test_several_panels_have_means_with_intervals_and_win_counts(skilldelta: Skilldelta, two_panels: str) -> None:
    asked = ("evaluate", "--bank", two_panels, "--resamples", 60)
    document = skilldelta(*asked, "--json").document
    means, panels = document["means"], document["panels"]
    assert means["panels"] == 2
    own = means["policies"]["paper"]
    assert own["success"]["mean"] == pytest.approx(sum(p["policies"]["paper"]["success"] for p in panels) / 2)
    assert own["success"]["interval"]["low"] < own["success"]["mean"] < own["success"]["interval"]["high"]
    assert own["wins"]["success_vs_always_on"] == sum(
        panel["policies"]["paper"]["success_vs_always_on"] > 0 for panel in panels
    )
    assert "auroc_vs_with_skill_only" in own["wins"]
    shown = skilldelta(*asked, "--all").out
    assert "Mean over 2 panels of equal weight" in shown
    assert f"{own['wins']['advantage_vs_random']}/2" in shown


def test_counts_structure_and_points_are_in_the_document(skilldelta: Skilldelta, toy_bank: str) -> None:
    panel = skilldelta("evaluate", "--bank", toy_bank, "--resamples", 0, "--json").document["panels"][0]
    # Units: three helped, one solved in both arms. Dates: two harmed, two failed in both.
    assert panel["counts"] == {
        "pairs": 8, "help": 3, "harm": 2, "tie": 3, "both_succeed": 1, "both_fail": 2, "tie_between": 0,
    }  # fmt: skip
    assert [one["both_fail"] for one in panel["by_family"]] == [0, 2]
    assert panel["structure"]["eligible_median"] == 3
    assert (panel["structure"]["bundles"], panel["structure"]["edges"]) == (0, 8)
    on = panel["policies"]["always_on"]
    assert (on["success_gain"], on["success_vs_always_on"], on["always_on"]) == (1 / 8, 0, 0.5)


def test_bundles_and_their_edges_are_counted(skilldelta: Skilldelta, tmp_path: Path) -> None:
    rows = [{**row, "skill": "a+b+c" if i % 2 else "a+b"} for i, row in enumerate(pair_rows())]
    _write("bundles.jsonl", rows)
    assert skilldelta("import", "bundles.jsonl", "--bank", "bundles.bank").code == 0
    found = skilldelta("evaluate", "--bank", "bundles.bank", "--resamples", 0, "--json").document["panels"][0]
    assert (found["structure"]["bundles"], found["structure"]["edges"]) == (2, 4 * 2 + 4 * 3)


def test_shuffles_can_be_switched_off(skilldelta: Skilldelta, toy_bank: str) -> None:
    asked = ("evaluate", "--bank", toy_bank, "--resamples", 0, "--json")
    with_null, without = (skilldelta(*asked, "--shuffles", n).document["panels"][0]["policies"] for n in (19, 0))
    assert with_null["paper"]["null"]["across"]["shuffles"] == 19
    assert with_null["paper"]["null"]["across"]["auroc"]["p"] >= 1 / 20
    assert without["paper"]["null"] is None


def test_a_family_can_be_held_out(skilldelta: Skilldelta, toy_bank: str) -> None:
    asked = ("evaluate", "--bank", toy_bank, "--resamples", 0, "--holdout", "family")
    panel = skilldelta(*asked, "--scope", "global", "--json").document["panels"][0]
    assert any("without its whole family" in note for note in panel["notes"])
    # Every dates task learns from units alone, where the mean gain is positive, and the other way round.
    assert panel["policies"]["paper"]["use_rate"] == 0.5
    ran = skilldelta(*asked, "--scope", "family")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert "skill or global" in ran.err


def test_excluded_tasks_are_named_with_their_reason(skilldelta: Skilldelta, toy_bank: str) -> None:
    Path("gone.tsv").write_text("dates-1\tits test case is absent\n")
    asked = ("evaluate", "--bank", toy_bank, "--resamples", 0, "--exclude", "units-3", "--exclude-file", "gone.tsv")
    ran = skilldelta(*asked, "--json")
    assert ran.document["panels"][0]["tasks"] == 6
    assert ran.document["panels"][0]["excluded"] == [
        {"task_id": "units-3", "reason": "named on the command line"},
        {"task_id": "dates-1", "reason": "its test case is absent"},
    ]
    assert "2 tasks are excluded by name" in ran.err
    assert "dates-1 (its test case is absent)" in ran.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--exclude", "units-33"), "units-3"),
        (("--exclude", "units-3", "--exclude", "units-3"), "excluded twice"),
        (("--exclude-file", "missing.tsv"), "missing.tsv"),
        (("--corrections", "bad.jsonl"), "condition must be use or skip"),
        (("--corrections", "nobody.jsonl"), "'nobody' of the corrections has no pair"),
    ],
)
def test_names_that_fit_nothing_are_one_line(
    skilldelta: Skilldelta, toy_bank: str, words: tuple[str, ...], message: str
) -> None:
    _write("bad.jsonl", [{"task_id": "units-0", "condition": "on", "success": 1}])
    _write("nobody.jsonl", [{"task_id": "nobody", "condition": "use", "success": 1}])
    ran = skilldelta("evaluate", "--bank", toy_bank, "--resamples", 0, *words)
    assert (ran.code, len(ran.err.splitlines())) == (2, 1), ran.err
    assert message in ran.err


def test_corrected_records_count_as_corrected_and_are_flagged(skilldelta: Skilldelta, toy_bank: str) -> None:
    _write("fix.jsonl", [{"task_id": "dates-0", "condition": "use", "success": 1, "reason": "the grader misread it"}])
    asked = ("evaluate", "--bank", toy_bank, "--resamples", 0, "--json")
    before, ran = skilldelta(*asked).document["panels"][0], skilldelta(*asked, "--corrections", "fix.jsonl")
    after = ran.document["panels"][0]
    assert (before["on"], after["on"]) == (4 / 8, 5 / 8)
    (flag,) = after["corrected"]
    assert (flag["task_id"], flag["original"], flag["corrected"]) == ("dates-0", 0, 1)
    assert "dates-0 (use: 0 counts as 1, the grader misread it)" in ran.err
    assert before["corrected"] == []
    assert skilldelta(*asked).document["panels"][0]["on"] == 4 / 8  # the bank keeps the original


def test_exclusions_are_sealed_and_stay_out_of_the_audit(skilldelta: Skilldelta, toy_bank: str) -> None:
    _write("targets.jsonl", TARGETS)
    asked = ("freeze", "targets.jsonl", "--bank", toy_bank, "--output", "sealed.json", "--exclude", "units-3")
    assert skilldelta(*asked, "--json").document["excluded"][0]["task_id"] == "units-3"
    outcomes(skilldelta, toy_bank)
    ran = skilldelta("audit", "sealed.json", "--bank", toy_bank, "--resamples", 0, "--json")
    assert ran.code == 0, ran.err
    assert ran.document["known"] == 7
    assert ran.document["excluded"] == [{"task_id": "units-3", "reason": "named on the command line"}]


def test_an_audit_headlines_the_comparison_with_always_on(skilldelta: Skilldelta, toy_bank: str) -> None:
    _write("targets.jsonl", TARGETS)
    assert skilldelta("freeze", "targets.jsonl", "--bank", toy_bank, "--output", "sealed.json").code == 0
    outcomes(skilldelta, toy_bank)
    asked = ("audit", "sealed.json", "--bank", toy_bank, "--resamples", 50)
    shown = skilldelta(*asked).out
    assert " ".join(shown.split()).startswith("Not enough evidence against always using the skill: -50.0 points (95%:")
    found = skilldelta(*asked, "--json").document
    assert found["success_vs_always_on"] == -0.5
    assert found["verdict"]["verdict"] == "not enough evidence"
    assert found["intervals"]["success_vs_always_on"]["low"] == -1


def test_an_audit_flags_corrected_outcomes_and_leaves_the_sealed_evidence(
    skilldelta: Skilldelta, toy_bank: str
) -> None:
    _write("targets.jsonl", TARGETS)
    assert skilldelta("freeze", "targets.jsonl", "--bank", toy_bank, "--output", "sealed.json").code == 0
    outcomes(skilldelta, toy_bank)
    fixes = [("new-2", "skip"), ("units-0", "skip")]
    _write("fix.jsonl", [{"task_id": task, "condition": arm, "success": 1} for task, arm in fixes])
    asked = ("audit", "sealed.json", "--bank", toy_bank, "--resamples", 0, "--json")
    ran = skilldelta(*asked, "--corrections", "fix.jsonl")
    assert ran.code == 0, ran.err
    assert ran.document["success"] == 1.0  # was 0.5: the skipped second target had failed
    assert [one["task_id"] for one in ran.document["corrected"]] == ["new-2", "units-0"]


def test_frozen_actions_are_compared_with_a_second_execution(skilldelta: Skilldelta, toy_bank: str) -> None:
    _write("targets.jsonl", TARGETS)
    assert skilldelta("freeze", "targets.jsonl", "--bank", toy_bank, "--output", "sealed.json").code == 0
    outcomes(skilldelta, toy_bank)
    rows = [{**row, "agent": "toy", "y0": [1], "y1": [1], "tokens0": [90], "tokens1": [140]} for row in TARGETS]
    _write("again.jsonl", rows)
    assert skilldelta("import", "again.jsonl", "--bank", "again.bank").code == 0
    asked = ("audit", "sealed.json", "--bank", toy_bank, "--reexecuted", "again.bank", "--resamples", 50)
    found = skilldelta(*asked, "--json").document["reexecuted"]
    # First used and solved, then skipped and failed; the second time both arms of both are solved.
    assert (found["first"], found["again"], found["difference"]) == (0.5, 1.0, 0.5)
    assert (found["same"], found["same_off"], found["same_on"]) == (0.5, 0.0, 1.0)
    assert "The same actions on 2 tasks executed again" in skilldelta(*asked).out
    ran = skilldelta("audit", "sealed.json", "--bank", toy_bank, "--reexecuted", "nowhere.bank")
    assert ran.code == 2
