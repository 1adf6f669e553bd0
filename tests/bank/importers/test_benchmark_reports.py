"""Reports of public benchmarks: what is an outcome, what is an arm, what is missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from skilldelta.bank.importers import Defaults, Reading, read_any
from skilldelta.errors import InputError

from .layouts import write_tree

ME = Defaults(agent="me", skill="adding")


def pairs(reading: Reading) -> list[tuple[str, float, float, int, int]]:
    return [(pair.task_id, pair.y0, pair.y1, pair.r0, pair.r1) for pair in reading.pairing().pairs]


def terminal(task: str, resolved: bool | None, mode: str = "unset") -> dict[str, Any]:
    return {
        "task_id": task,
        "trial_name": f"{task}.1-of-1",
        "instruction": f"Do {task}.",
        "is_resolved": resolved,
        "failure_mode": mode,
        "total_input_tokens": 100,
        "total_output_tokens": 20,
    }


def test_terminal_bench_counts_the_agents_own_failures_and_leaves_out_the_harness(tmp_path: Path) -> None:
    rows = [terminal("a", True), terminal("b", False, "agent_timeout"), terminal("c", None, "unknown_agent_error")]
    base = [terminal("a", False), terminal("b", False), terminal("c", True)]
    write_tree(tmp_path, {"with-skill/results.json": {"results": rows}, "no-skill/results.json": {"results": base}})
    reading = read_any(tmp_path, ME)
    assert pairs(reading) == [("a", 0.0, 1.0, 1, 1), ("b", 0.0, 0.0, 1, 1)]
    assert {run.tokens for run in reading.executions} == {120}
    assert [task.text for task in reading.tasks] == ["Do a.", "Do b.", "Do c."]


def test_the_skillsbench_registry_has_scores_from_0_to_100_and_counts_of_trials(tmp_path: Path) -> None:
    def row(condition: str, score: float, passed: int) -> dict[str, Any]:
        return {
            "task": "t",
            "model": "m",
            "harness": "h",
            "condition": condition,
            "score": score,
            "trials": 3,
            "passCount": passed,
        }

    write_tree(tmp_path, {"registry.json": [row("No Skills", 33.3, 1), row("With Skills", 50.0, 1)]})
    reading = read_any(tmp_path / "registry.json")
    ((task, y0, y1, r0, r1),) = pairs(reading)
    assert (task, y1, r0, r1) == ("t", 0.5, 3, 3)
    assert y0 == pytest.approx(1 / 3)
    assert {run.agent.name for run in reading.executions} == {"h@m"}


def test_pass_at_1_is_a_score_and_no_arm(tmp_path: Path) -> None:
    rows = [{"question_id": "q", "question_content": "Sort.", "graded_list": [True, False], "pass@1": 0.5}]
    write_tree(tmp_path, {"with_skill/eval_all.json": rows, "baseline/eval_all.json": rows})
    assert pairs(read_any(tmp_path, ME)) == [("q", 0.5, 0.5, 2, 2)]


def test_swe_bench_reports_and_tau_bench_and_lm_eval_are_one_arm_a_file(tmp_path: Path) -> None:
    swe = {"submitted_ids": ["a", "b", "c"], "resolved_ids": ["a"], "unresolved_ids": ["b"], "error_ids": ["c"]}
    write_tree(tmp_path / "swe", {"with_skill.json": swe, "without_skill.json": {**swe, "resolved_ids": []}})
    assert pairs(read_any(tmp_path / "swe", ME)) == [("a", 0.0, 1.0, 1, 1), ("b", 0.0, 0.0, 1, 1)]

    tau = [{"task_id": 3, "reward": 1.0, "trial": 0, "traj": [], "info": {"task": {"instruction": "Book it."}}}]
    write_tree(tmp_path / "tau", {"skill_on/run.json": tau, "skill_off/run.json": [{**tau[0], "reward": 0.0}]})
    assert pairs(read_any(tmp_path / "tau", ME)) == [("task-3", 0.0, 1.0, 1, 1)]

    sample = {"doc_id": 0, "doc": {"question": "2+2?"}, "filtered_resps": ["4"], "exact_match": 1.0}
    lines = {
        f"{arm}/samples_gsm8k_2026-01-01.jsonl": json.dumps(sample) + "\n" for arm in ("with_skill", "without_skill")
    }
    write_tree(tmp_path / "lm", lines)
    assert pairs(read_any(tmp_path / "lm", ME)) == [("gsm8k-0", 1.0, 1.0, 1, 1)]


def test_a_file_that_does_not_name_its_arm_is_asked_about(tmp_path: Path) -> None:
    write_tree(tmp_path, {"monday/results.json": {"results": [terminal("a", True)]}})
    with pytest.raises(InputError, match="--arm monday=use"):
        read_any(tmp_path, ME)
