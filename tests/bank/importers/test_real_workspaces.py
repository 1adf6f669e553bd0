"""Five workspaces that their authors published: what the reader finds in them is what a small parser of their own layout finds.

The workspaces are not part of the project; without them these tests are skipped.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from skilldelta.bank.importers import Defaults, Reading, read_any
from skilldelta.errors import InputError

WORKSPACES = Path(__file__).parents[4] / "shared" / "data" / "workspaces"
pytestmark = pytest.mark.skipif(not WORKSPACES.is_dir(), reason="the published workspaces are not here")
ME = Defaults(agent="me")


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def share(rows: list[dict[str, Any]]) -> float:
    passed = [bool(row["passed"]) for row in rows]
    return round(sum(passed) / len(passed), 6)


def use_or_skip(folder: str) -> str:
    return {"with_skill": "use", "without_skill": "skip"}[folder]


def texts(reading: Reading) -> dict[str, str]:
    return {task.task_id: task.text for task in reading.tasks}


def test_kelet_has_nine_versions_of_one_skill_and_one_set_of_baselines() -> None:
    reading = read_any(WORKSPACES / "kelet", ME)
    expected: Counter[tuple[str, str, str]] = Counter()
    prompts = {}
    for path in sorted((WORKSPACES / "kelet").glob("iteration-*/*/*/grading.json")):
        iteration, name, arm = path.relative_to(WORKSPACES / "kelet").parts[:3]
        version = {"iteration-7-rerun": "iteration-7", "iteration-master": "1.3.10"}.get(iteration, iteration)
        expected[use_or_skip(arm), version if arm == "with_skill" else "", name] += 1
        for metadata in (path.parent / "eval_metadata.json", path.parent.parent / "eval_metadata.json"):
            if metadata.is_file():
                document = load(metadata)
                prompts[name] = document.get("prompt") or document.get("task_prompt")
    shared = [run for run in reading.executions if not (run.condition == "skip" and run.skill_id)]
    assert Counter((run.condition, run.skill_digest, run.task_id) for run in shared) == expected
    assert texts(reading) == prompts
    assert {run.skill_id for run in shared} == {"", "kelet-integration"}
    assert {run.agent.name for run in reading.executions} == {"me"}


def test_kelet_keeps_the_outcomes_and_tokens_of_its_first_iteration() -> None:
    reading = read_any(WORKSPACES / "kelet", ME)
    expected = Counter(
        (
            path.parts[-3],
            use_or_skip(path.parts[-2]),
            share(load(path)["expectations"]),
            load(path.with_name("timing.json"))["total_tokens"],
        )
        for path in (WORKSPACES / "kelet" / "iteration-1").glob("*/*/grading.json")
    )
    first = [
        run
        for run in reading.executions
        if run.skill_digest == "iteration-1" or (run.condition == "skip" and not run.skill_id)
    ]
    assert (
        Counter((run.task_id, run.condition, round(run.success or 0, 6), int(run.tokens or 0)) for run in first)
        == expected
    )


def test_kelet_compares_a_later_version_with_its_baseline_on_the_assertions_that_both_have() -> None:
    name = "fastapi-pydantic-ai-with-react-ui"
    later = load(WORKSPACES / "kelet" / "iteration-8" / name / "with_skill" / "grading.json")["expectations"]
    baseline = load(WORKSPACES / "kelet" / "iteration-1" / name / "without_skill" / "grading.json")["expectations"]
    shared = {row["id"] for row in later} & {row["id"] for row in baseline}
    assert len(shared) < len(baseline) < len(later)

    reading = read_any(WORKSPACES / "kelet", ME)
    (pair,) = [pair for pair in reading.pairing().pairs if pair.task_id == name and pair.skill_digest == "iteration-8"]
    assert pair.y0 == pytest.approx(share([row for row in baseline if row["id"] in shared]))
    assert pair.y1 == pytest.approx(share([row for row in later if row["id"] in shared]))
    assert (pair.r0, pair.r1) == (1, 1)


def test_kelet_does_not_say_which_version_is_the_newest() -> None:
    (versions,) = read_any(WORKSPACES / "kelet", ME).unsure_newest.values()
    assert {"1.3.10", "iteration-8"} <= set(versions)


def test_gke_upgrades_has_two_models_and_counts_a_copied_baseline_once() -> None:
    root = WORKSPACES / "gke-upgrades"
    expected: Counter[tuple[str, str, str, str, float, float | None]] = Counter()
    copies = set()
    for path in sorted(root.glob("iteration-*/**/*grading.json")):
        iteration = path.relative_to(root).parts[0]
        arm = path.parent.name
        if path.name == "grading.json":
            folder = path.parent
            while folder.name in ("with_skill", "without_skill"):
                folder = folder.parent
            prompt, model = load(folder / "eval_metadata.json")["prompt"], "claude-opus-4-6"
            tokens = load(path.with_name("timing.json"))["total_tokens"]
            rows = load(path)["expectations"]
            copy = (prompt, arm, tokens)
            if copy in copies:
                continue
            copies.add(copy)
        else:
            config = load(path.with_name(path.name.replace("grading", "config")))
            prompt, model = config["prompt"], config.get("model", "me")
            tokens = config["input_tokens"] + config["output_tokens"] if "input_tokens" in config else None
            rows = load(path)["assertions"]
        version = iteration if arm == "with_skill" else ""
        expected[prompt, use_or_skip(arm), version, model, share(rows), tokens] += 1
    reading = read_any(root, ME)
    words = texts(reading)
    shared = [run for run in reading.executions if not (run.condition == "skip" and run.skill_id)]
    assert (
        Counter(
            (
                words[run.task_id],
                run.condition,
                run.skill_digest,
                run.agent.name,
                round(run.success or 0, 6),
                run.tokens,
            )
            for run in shared
        )
        == expected
    )
    assert reading.versions["gke-upgrades"][-1] == "iteration-32"
    assert not reading.unsure_newest
    assert ("the run has no grading", ("iteration-32/without_skill/eval-37",)) in [
        (omission.reason, omission.places) for omission in reading.left_out
    ]


def test_ai_pm_skills_has_its_own_skill_and_the_tokens_of_its_timings() -> None:
    root = WORKSPACES / "ai-pm-skills"
    expected: Counter[tuple[str, str, float, float, float]] = Counter()
    for path in root.glob("iteration-1/*/*/grading.json"):
        grading, timing = load(path), load(path.with_name("timing.json"))
        prompt = load(path.with_name("eval_metadata.json"))["prompt"]
        outcome = share(grading["expectations"])
        expected[
            prompt, use_or_skip(path.parts[-2]), outcome, timing["total_tokens"], timing["duration_ms"] / 1000
        ] += 1
    reading = read_any(root, ME)
    words = texts(reading)
    assert (
        Counter(
            (words[run.task_id], run.condition, round(run.success or 0, 6), run.tokens, run.seconds)
            for run in reading.executions
        )
        == expected
    )
    assert {run.skill_id for run in reading.executions} == {"", "hplan"}


def test_holacracy_has_means_only_and_the_refusal_says_so() -> None:
    with pytest.raises(InputError, match=r"benchmark\.json has only means over all evaluations"):
        read_any(WORKSPACES / "holacracy", ME)


def test_aws_agent_skill_eval_has_two_skills_with_prompts_from_their_own_definitions() -> None:
    root = WORKSPACES / "aws-agent-skill-eval"
    expected: Counter[tuple[str, str, str, float, float]] = Counter()
    for path in root.glob("**/benchmark.json"):
        document = load(path)
        prompts = {row["id"]: row["prompt"] for row in load(path.with_name("evals.json"))}
        for row in document["runs"]:
            for arm in ("with_skill", "without_skill"):
                counts = row[arm]["execution_metrics"]["token_counts"]
                outcome = share(row[arm]["assertion_results"])
                key = (
                    document["skill_name"],
                    prompts[row["eval_id"]],
                    use_or_skip(arm),
                    outcome,
                    float(sum(counts.values())),
                )
                expected[key] += 1
    reading = read_any(root, ME)
    words = {(task.suite, task.task_id): task.text for task in reading.tasks}
    assert (
        Counter(
            (run.suite, words[run.suite, run.task_id], run.condition, round(run.success or 0, 6), run.tokens)
            for run in reading.executions
        )
        == expected
    )
    assert re.fullmatch("skill-eval|data-analysis", reading.tasks[0].suite)
