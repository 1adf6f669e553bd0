"""Result files in the layouts of other tools, small enough to check by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

SKILL_MD = "---\nname: adding\ndescription: adds numbers\n---\nAdd from the right.\n"


def write_tree(root: Path, files: Mapping[str, Any]) -> Path:
    """Files below a folder: objects and lists as JSON, texts and bytes as they are."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, dict | list):
            content = json.dumps(content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def grading(*marks: bool, **more: Any) -> dict[str, Any]:
    """What skill-creator's grader leaves: an expectation per mark, and a summary."""
    return {
        "expectations": [{"text": f"e{i}", "passed": mark, "evidence": ""} for i, mark in enumerate(marks)],
        "summary": {"passed": sum(marks), "failed": len(marks) - sum(marks), "total": len(marks)},
        "execution_metrics": {"output_chars": 12450, "total_tool_calls": 3},
        "timing": {"total_duration_seconds": 9.5},
        **more,
    }


def workspace() -> dict[str, Any]:
    """Two evals, two runs per arm, the skill beside; eval 0 is helped, eval 1 is not."""
    files: dict[str, Any] = {"adding/SKILL.md": SKILL_MD}
    outcomes = {
        ("eval-sum", "with_skill"): [(True, True), (True, False)],
        ("eval-sum", "without_skill"): [(False, False), (True, False)],
        ("eval-carry", "with_skill"): [(True, True), (True, True)],
        ("eval-carry", "without_skill"): [(True, True), (True, True)],
    }
    base = "adding-workspace/iteration-1"
    for number, name in enumerate(("eval-sum", "eval-carry")):
        files[f"{base}/{name}/eval_metadata.json"] = {
            "eval_id": number,
            "eval_name": name.removeprefix("eval-"),
            "prompt": f"Please do the {name.removeprefix('eval-')}.",
        }
    for (name, arm), runs in outcomes.items():
        for run, marks in enumerate(runs, start=1):
            folder = f"{base}/{name}/{arm}/run-{run}"
            files[f"{folder}/grading.json"] = grading(*marks)
            files[f"{folder}/timing.json"] = {
                "total_tokens": 84852,
                "duration_ms": 23332,
                "total_duration_seconds": 23.3,
            }
            files[f"{folder}/outputs/answer.txt"] = "42"
    files[f"{base}/benchmark.json"] = {
        "metadata": {"skill_name": "adding", "executor_model": "<model-name>", "runs_per_configuration": 3},
        "runs": [],
    }
    return files


def harbor_trial(task: str, trial: str, *, skills: Any = (), reward: Any = 1.0, **more: Any) -> dict[str, Any]:
    """A trial's result.json; `skills=None` leaves the key out, as old files do."""
    agent: dict[str, Any] = {"name": "claude-code", "model_name": "anthropic/m1"}
    if skills is not None:
        agent["skills"] = list(skills)
    return {
        "id": "0",
        "task_name": task,
        "trial_name": trial,
        "task_checksum": f"c-{task}",
        "config": {"agent": agent},
        "agent_info": {
            "name": "claude-code",
            "version": "1",
            "model_info": {"name": "m1", "provider": "anthropic"},
        },
        "agent_result": {"n_input_tokens": 100, "n_cache_tokens": 60, "n_output_tokens": 20, "cost_usd": 0.5},
        "verifier_result": {"rewards": {"reward": reward}},
        "exception_info": None,
        "started_at": "2026-05-01T10:00:00Z",
        "agent_execution": {"started_at": "2026-05-01T10:00:00Z", "finished_at": "2026-05-01T10:00:30Z"},
        **more,
    }


def harbor_jobs() -> dict[str, Any]:
    """Two jobs of two tasks; the lock says which skill was given."""
    lock = {"skills": [{"name": "adding", "source": "/s/adding", "digest": "sha256:feed"}]}
    trajectory = {"schema_version": "ATIF-v1.4", "steps": [{"source": "user", "message": "Add the numbers."}]}
    return {
        "jobs/on/config.json": {},
        "jobs/on/result.json": {"id": "j", "stats": {"n_completed_trials": 2}},
        "jobs/on/sum__abcdefg/result.json": harbor_trial("sum", "sum__abcdefg", skills=["/s/adding"]),
        "jobs/on/sum__abcdefg/lock.json": lock,
        "jobs/on/sum__abcdefg/agent/trajectory.json": trajectory,
        "jobs/on/carry__abcdefg/result.json": harbor_trial("carry", "carry__abcdefg", skills=["/s/adding"]),
        "jobs/on/carry__abcdefg/lock.json": lock,
        "jobs/off/result.json": {"id": "k", "stats": {}},
        "jobs/off/sum__hijklmn/result.json": harbor_trial("sum", "sum__hijklmn", reward=0.0),
        "jobs/off/carry__hijklmn/result.json": harbor_trial("carry", "carry__hijklmn", reward=1),
    }


def promptfoo_row(index: int, label: str, *, success: bool, question: str = "1+1?", **more: Any) -> dict[str, Any]:
    """One EvaluateResult."""
    return {
        "id": f"r{index}{label}",
        "promptIdx": 0,
        "testIdx": index,
        "testCase": {"description": "sum", "vars": {"question": question}, "assert": []},
        "promptId": "p",
        "provider": {"id": "anthropic:messages:m1", "label": label},
        "prompt": {"raw": question, "label": "prompt"},
        "vars": {"question": question},
        "response": {"output": "2", "tokenUsage": {"prompt": 10, "completion": 5, "total": 15}, "cost": 0.01},
        "error": None if success else "Expected output to contain 2",
        "failureReason": 0 if success else 1,
        "success": success,
        "score": 1 if success else 0,
        "latencyMs": 1500,
        "gradingResult": {"pass": success, "score": float(success), "componentResults": []},
        "tokenUsage": {"prompt": 10, "completion": 5, "total": 15, "assertions": {"total": 900}},
        **more,
    }


def promptfoo() -> dict[str, Any]:
    """Two tests with two repeats in two arms: four test indexes."""
    rows = []
    for index, (question, on, off) in enumerate(
        [("1+1?", True, False), ("2+2?", True, True), ("1+1?", True, False), ("2+2?", False, True)]
    ):
        rows.append(promptfoo_row(index, "with-skill", success=on, question=question))
        rows.append(promptfoo_row(index, "without-skill", success=off, question=question))
    results = {"version": 3, "timestamp": "t", "results": rows, "prompts": [], "stats": {}}
    return {"evalId": "eval-1", "results": results, "config": {}}


def skillevaluation(**more: Any) -> dict[str, Any]:
    """A results.json with two cases."""

    def arm(passed: bool, **more: Any) -> dict[str, Any]:
        known = {"passed": passed, "task_attempted": True, "errored": False, "duration_ms": 800, "total_tokens": 120}
        return {**known, **more}

    return {
        "format": "skillevaluation/test-run-result@v1",
        "skill": {"name": "adding"},
        "runner": {"name": "skillevaluation", "version": "0.8.0", "adapter": "cli", "adapter_identity": "cli:m1"},
        "pass_rate": {"with_skill": 1.0, "without_skill": 0.5, "delta_pts": 50},
        "cases": [
            {"case_name": "sum", "outcome": "flip_to_pass", "with_skill": arm(True), "without_skill": arm(False)},
            {"case_name": "carry", "outcome": "pass_kept", "with_skill": arm(True), "without_skill": arm(True)},
        ],
        **more,
    }


def skill_evals() -> dict[str, Any]:
    """A run tree of agent-skill-evals: the task passes in both arms, the skill is not loaded."""
    files: dict[str, Any] = {
        "adding/SKILL.md": SKILL_MD,
        "adding/evals/eval.yaml": "cases:\n- id: sum\n  task:\n    user_prompt: Add the numbers.\n",
    }
    for condition, loaded in (("no_skill", True), ("with_skill", False), ("with_distractors", True)):
        folder = f"adding/evals/runs/r1/sum/{condition}/trial-0001"
        files[f"{folder}/trace.json"] = {
            "schema_version": 1,
            "run_id": "r1",
            "case_id": "sum",
            "condition": condition,
            "trial": 1,
            "skill_id": "adding",
            "skill_version": "1",
            "model": "m1",
            "agent_harness": "cli",
            "duration_ms": 400,
            "token_usage": {"input": 30, "output": 10, "total": 40},
        }
        files[f"{folder}/result.json"] = {"ok": True, "case_failed": False, "exit_code": 0, "runner": "custom"}
        for grader, kind, passed in (("right", "text", True), ("loaded", "skill_invocation", loaded)):
            grade = {"grader_id": grader, "grader_type": kind, "passed": passed, "score": float(passed)}
            files[f"{folder}/grades/{grader}/result-00.json"] = grade
    return files


def waza(**more: Any) -> dict[str, Any]:
    """An outcome with its baseline: one task, two runs each."""

    def task(*statuses: str) -> dict[str, Any]:
        return {
            "test_id": "sum",
            "display_name": "Adds two numbers",
            "group": "sums",
            "status": "passed",
            "runs": [
                {
                    "run_number": number,
                    "status": status,
                    "duration_ms": 1200,
                    "validations": {"right": {"identifier": "right", "type": "text", "passed": status == "passed"}},
                    "session_digest": {"usage": {"input_tokens": 70, "output_tokens": 30}},
                    "error_msg": "sandbox is gone" if status == "error" else "",
                }
                for number, status in enumerate(statuses, start=1)
            ],
        }

    config = {"runs_per_test": 2, "model_id": "m1", "engine_type": "copilot-sdk"}
    known = {"eval_id": "e", "skill": "adding", "eval_name": "adding-eval", "config": config}
    return {
        **known,
        "tasks": [task("passed", "failed")],
        "baseline_outcome": {**known, "is_baseline": True, "tasks": [task("failed", "error")]},
        **more,
    }


def benchflow(case: str, **more: Any) -> dict[str, Any]:
    """A rollout's result.json."""
    return {
        "task_name": case,
        "rollout_name": f"{case}__1",
        "rewards": {"reward": 1.0},
        "agent": "claude-agent-acp",
        "model": "m1",
        "n_tool_calls": 3,
        "n_skill_invocations": 0,
        "agent_result": {"n_input_tokens": 90, "n_output_tokens": 10, "total_tokens": 100, "cost_usd": 0.2},
        "error": None,
        "error_category": None,
        "verifier_error": None,
        "started_at": "2026-07-26 21:32:16.431225",
        "finished_at": "2026-07-26 21:32:26.431225",
        "task_digest": f"sha256:{case}",
        **more,
    }


def benchflow_jobs() -> dict[str, Any]:
    """A skill evaluation of one case in both arms."""
    base = "jobs/skill-eval/adding/claude"
    return {
        f"{base}/with-skill/sum__1/result.json": benchflow("sum"),
        f"{base}/with-skill/sum__1/prompts.json": ["Add the numbers."],
        f"{base}/baseline/sum__2/result.json": benchflow("sum", rewards={"reward": 0.0}),
        f"{base}/baseline/sum__2/prompts.json": ["Add the numbers."],
    }


def dotnet() -> dict[str, Any]:
    """Verdicts on one skill with two scenarios."""

    def arm(completed: bool, score: float) -> dict[str, Any]:
        event = {"type": "user.message", "data": {"content": "Add the numbers.\n"}}
        metrics = {"tokenEstimate": 70, "inputTokens": 60, "outputTokens": 15, "wallTimeMs": 2000, "events": [event]}
        return {"metrics": {**metrics, "taskCompleted": completed}, "judgeResult": {"overallScore": score}}

    def scenario(name: str, off: bool, on: bool, **more: Any) -> dict[str, Any]:
        arms = {"baseline": arm(off, 2), "skilledIsolated": arm(on, 5), "skilledPlugin": arm(on, 4)}
        return {"scenarioName": name, **arms, **more}

    scenarios = [scenario("sum", False, True), scenario("unrelated", True, True, expectActivation=False)]
    return {"model": "m1", "judgeModel": "j", "verdicts": [{"skillName": "adding", "scenarios": scenarios}]}


def vally_row(stimulus: str, index: int, score: float, **more: Any) -> dict[str, Any]:
    """One trial-result."""
    return {
        "type": "trial-result",
        "itemId": f"{stimulus}-{index}",
        "evalName": "adding-eval",
        "variant": "main",
        "stimulus": stimulus,
        "trialIndex": index,
        "status": "success",
        "durationMs": 1000,
        "model": "m1",
        "gradeResult": {"passed": score >= 0.8, "score": score, "stimulusName": stimulus},
        "trajectory": {
            "metrics": {"tokenUsage": {"totalTokens": 55}},
            "stimulus": {"name": stimulus, "prompt": "Add the numbers."},
        },
        **more,
    }


def vally() -> dict[str, Any]:
    """Two variants of one stimulus, two trials each, and the summaries that end each file."""

    def lines(*rows: dict[str, Any]) -> str:
        return "".join(json.dumps(row) + "\n" for row in (*rows, {"type": "run-summary", "passed": True}))

    return {
        "out/2026-08-24T00-00-00/with-skill/results.jsonl": lines(vally_row("sum", 0, 1.0), vally_row("sum", 1, 0.5)),
        "out/2026-08-24T00-00-00/baseline/results.jsonl": lines(vally_row("sum", 0, 0.25), vally_row("sum", 1, 0.5)),
    }


def skillgrade() -> dict[str, Any]:
    """Two reports of one task."""

    def report(skills: list[str], *rewards: float) -> dict[str, Any]:
        start = {"type": "agent_start", "timestamp": "t", "instruction": "Add the numbers."}
        trials = [
            {
                "trial_id": number,
                "reward": reward,
                "grader_results": [],
                "duration_ms": 900,
                "input_tokens": 7,
                "output_tokens": 9,
                "session_log": [start],
            }
            for number, reward in enumerate(rewards, start=1)
        ]
        return {"task": "sum", "pass_rate": 0.5, "trials": trials, "skills_used": skills}

    return {"results/sum_on.json": report(["adding"], 1.0, 0.5), "results/sum_off.json": report([], 0.0, 0.0)}
