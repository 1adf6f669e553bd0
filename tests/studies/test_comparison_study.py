"""Sides of a comparison and what joins them: arms, agents, versions, other texts, runs that do not count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from skilldelta.bank import Bank, Batch
from skilldelta.errors import InputError
from skilldelta.records import Agent, Condition, Execution, Skill, Status, Task
from skilldelta.studies import (
    ArmChoice,
    ComparedSides,
    ComparisonSettings,
    bank_runs,
    both_arms,
    compare_sides,
    compared_to_dict,
    one_side,
    read_runs,
)

from .conftest import TOY, trips


def log(path: Path, outcomes: dict[str, Any], **said: Any) -> Path:
    """A file of one arm: task ids to a success, or to a row of its own."""
    rows = [
        {"task_id": task, "text": f"question {task}", **said, **(one if isinstance(one, dict) else {"success": one})}
        for task, one in outcomes.items()
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def of_files(a: Path, b: Path, settings: ComparisonSettings | None = None) -> ComparedSides:
    sides = [
        one_side(read_runs(a, stands_for="skip")),
        one_side(read_runs(b, stands_for="use")),
    ]
    return compare_sides(sides[0], sides[1], settings or ComparisonSettings(resamples=200))


def test_two_files_that_name_neither_agent_nor_arm_are_compared(tmp_path: Path) -> None:
    a = log(tmp_path / "a.jsonl", {"t1": 0, "t2": 1, "t3": 1})
    b = log(tmp_path / "b.jsonl", {"t1": 1, "t2": 1, "t4": 1})
    found = of_files(a, b)
    assert [one.task_id for one in found.comparison.differences] == ["t1", "t2"]
    assert found.unpaired_by_reason == {"only in A": 1, "only in B": 1}


def test_an_error_is_never_a_failure(tmp_path: Path) -> None:
    a = log(tmp_path / "a.jsonl", {"t1": 1, "t2": 1})
    error = {"success": None, "status": "transport_error"}
    b = log(tmp_path / "b.jsonl", {"t1": 1, "t2": error})
    found = of_files(a, b)
    assert found.comparison.worse == 0
    assert found.unpaired_by_reason == {"no counted run in B": 1}
    assert (found.uncounted_a, found.uncounted_b) == ({}, {"transport_error": 1})
    assert found.warnings == ("1 of 2 runs of b.jsonl are not counted; the comparison is about the others only",)


def test_another_text_under_the_same_id_is_another_task_unless_told(tmp_path: Path) -> None:
    a = log(tmp_path / "a.jsonl", {"t1": 1, "t2": 0})
    b = log(tmp_path / "b.jsonl", {"t1": 1, "t2": {"success": 1, "text": "something else"}})
    assert of_files(a, b).unpaired_by_reason == {"another text under the same id": 1}
    assert of_files(a, b, ComparisonSettings(resamples=0, allow_changed_tasks=True)).comparison.better == 1


def test_nothing_in_common_is_one_line_with_the_reasons(tmp_path: Path) -> None:
    a, b = log(tmp_path / "a.jsonl", {"t1": 1}), log(tmp_path / "b.jsonl", {"t2": 1})
    with pytest.raises(InputError, match="share no task with counted runs \\(1 task only in A, 1 task only in B\\)"):
        of_files(a, b)


def test_another_agent_in_the_other_arm_is_said(tmp_path: Path) -> None:
    a = log(tmp_path / "a.jsonl", {"t1": 1}, agent="small")
    b = log(tmp_path / "b.jsonl", {"t1": 1}, agent="large")
    assert of_files(a, b).warnings == ("A was run by small, B by large: the difference mixes the agent with the skill",)


def test_several_agents_on_one_side_are_refused(tmp_path: Path) -> None:
    rows = {"t1": {"success": 1, "agent": "small"}, "t2": {"success": 1, "agent": "large"}}
    recorded = read_runs(log(tmp_path / "a.jsonl", rows), stands_for="use")
    with pytest.raises(InputError, match="2 agents, which are never pooled; say --agent large or small"):
        one_side(recorded)
    assert list(one_side(recorded, ArmChoice(agent="small")).runs) == [("default", "t1")]
    with pytest.raises(InputError, match="no run fits agent 'nobody'"):
        one_side(recorded, ArmChoice(agent="nobody"))


def run(
    task: str,
    condition: Condition,
    success: float | None,
    *,
    skill: str = "s",
    digest: str = "",
    repetition: int = 0,
    agent: Agent = TOY,
    status: Status = "completed",
) -> Execution:
    return Execution(agent, "trips", task, condition, repetition, success, skill, digest, status=status)


def bank_of(tmp_path: Path, executions: list[Execution], skills: list[Skill] | None = None) -> Bank:
    tasks = [Task(one, f"question {one}", "f", "trips") for one in dict.fromkeys(e.task_id for e in executions)]
    bank = Bank.open(tmp_path / "sides.bank", create=True)
    bank.add(Batch(tasks=tasks, skills=skills or [], executions=executions))
    return bank


def test_the_arms_of_a_bank_pair_each_task_with_the_baseline_of_its_skill(tmp_path: Path) -> None:
    executions = [
        run("t1", "use", 1),
        run("t1", "skip", 1),
        run("t1", "skip", 0, skill=""),
        run("t2", "use", 1),
        run("t2", "skip", 0, skill=""),
        run("t3", "skip", 0, skill=""),
    ]
    with bank_of(tmp_path, executions) as bank:
        found = compare_sides(*both_arms(bank_runs(bank)))
        assert [(one.task_id, one.a) for one in found.comparison.differences] == [("t1", 1.0), ("t2", 0.0)]
        assert found.unpaired_by_reason == {"only in A": 1}
        only = compare_sides(*both_arms(bank_runs(bank), ArmChoice(skill="s")))
        assert only.unpaired_by_reason == {}  # nobody said that t3 is about this skill


def test_a_task_with_two_skills_asks_which(tmp_path: Path) -> None:
    executions = [run("t1", "use", 1), run("t1", "use", 1, skill="other"), run("t1", "skip", 0, skill="")]
    with bank_of(tmp_path, executions) as bank:
        with pytest.raises(InputError, match="'t1' was run with 2 skills; say --skill other or s"):
            both_arms(bank_runs(bank))
        assert len(both_arms(bank_runs(bank), ArmChoice(skill="other"))[1].runs) == 1


def test_two_versions_of_a_skill_are_two_sides(tmp_path: Path) -> None:
    old, new = Skill.from_text("s", "first"), Skill.from_text("s", "second")
    executions = [
        run(f"t{i}", "use", success, digest=version.digest)
        for version, success in ((old, 0), (new, 1))
        for i in range(3)
    ]
    with bank_of(tmp_path, executions, [old, new]) as bank:
        sides = [one_side(bank_runs(bank), ArmChoice(skill=f"s@{one.digest[:8]}")) for one in (old, new)]
        assert compare_sides(sides[0], sides[1]).comparison.better == 3
        current = one_side(bank_runs(bank), ArmChoice(skill="s"))
        assert {one.skill_digest for runs in current.runs.values() for one in runs} == {new.digest}
        with pytest.raises(InputError, match="names 0 versions; say --skill s@"):
            one_side(bank_runs(bank), ArmChoice(skill="s@ffff"))


def test_two_agents_of_a_bank_are_two_sides(tmp_path: Path) -> None:
    other = Agent("other", "second")
    with Bank.open(tmp_path / "agents.bank", create=True) as bank:
        bank.add(trips())
        bank.add(trips(other))
        sides = [
            one_side(bank_runs(bank, ArmChoice(agent=name)), ArmChoice(agent=name, condition="skip"))
            for name in ("toy", "other")
        ]
    found = compare_sides(sides[0], sides[1])
    assert (found.comparison.mean.tasks, found.comparison.same) == (8, 8)


def test_a_missing_arm_is_one_line(tmp_path: Path) -> None:
    recorded = read_runs(log(tmp_path / "a.jsonl", {"t1": 1}), stands_for="use")
    with pytest.raises(InputError, match=r"a\.jsonl: no run without the skill; name a second source"):
        both_arms(recorded)
    with pytest.raises(InputError, match="no run without the skill; choose the other --condition"):
        one_side(recorded, ArmChoice(condition="skip"))


@pytest.mark.parametrize("folder", ["sample_agent_skill_eval", "bbh_cot"])
def test_real_files_give_what_scipy_gives(shared_data: Path, folder: str) -> None:
    path = shared_data / folder / "pairs.jsonl"
    found = compare_sides(*both_arms(read_runs(path)))
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("{")]
    gains = [sum(r["y1"]) / len(r["y1"]) - sum(r["y0"]) / len(r["y0"]) for r in rows if r.get("y0") and r.get("y1")]
    wins, losses = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    document = compared_to_dict(found)
    assert document["tasks"] == len(gains)
    assert document["difference"] == pytest.approx(sum(gains) / len(gains))
    assert document["tests"]["sign_test"]["p"] == pytest.approx(stats.binomtest(wins, wins + losses).pvalue)
    assert document["tests"]["mcnemar"]["p"] == pytest.approx(stats.binomtest(wins, wins + losses).pvalue)
    theirs = stats.bootstrap(
        (gains,), stats.tmean, vectorized=False, n_resamples=500, method="percentile", random_state=1
    )
    interval, ends = document["interval"], theirs.confidence_interval
    assert interval["low"] == pytest.approx(ends.low, abs=0.01)
    assert interval["high"] == pytest.approx(ends.high, abs=0.04)
