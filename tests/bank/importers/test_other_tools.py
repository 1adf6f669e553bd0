"""Each tool's layout imports with the pairs that one can count in it, and every trap of its files is known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skilldelta.bank.importers import Defaults, Reading, read_any, tool_formats
from skilldelta.errors import InputError
from skilldelta.records import text_digest

from . import layouts
from .layouts import write_tree

ME = Defaults(agent="me")


def summary(reading: Reading) -> list[tuple[str, float, float, int, int]]:
    return [(p.task_id, p.y0, p.y1, p.r0, p.r1) for p in reading.pairing().pairs]


def left_out(reading: Reading) -> dict[str, int]:
    return {one.reason: len(one.places) for one in reading.left_out}


LAYOUTS: dict[str, tuple[Mapping[str, Any], Defaults, list[tuple[str, float, float, int, int]]]] = {
    "skill-creator": (layouts.workspace(), ME, [("carry", 1.0, 1.0, 2, 2), ("sum", 0.25, 0.75, 2, 2)]),
    "agent-skill-evals": (layouts.skill_evals(), Defaults(), [("sum", 1.0, 1.0, 1, 1)]),
    "harbor": (layouts.harbor_jobs(), Defaults(), [("carry@c-carry", 1.0, 1.0, 1, 1), ("sum@c-sum", 0.0, 1.0, 1, 1)]),
    "benchflow": (layouts.benchflow_jobs(), Defaults(), [("sum@sum", 0.0, 1.0, 1, 1)]),
    "skillevaluation": (
        {"out/results.json": layouts.skillevaluation()},
        Defaults(),
        [("sum", 0.0, 1.0, 1, 1), ("carry", 1.0, 1.0, 1, 1)],
    ),
    "waza": ({"results.json": layouts.waza()}, Defaults(), [("sum", 0.0, 0.5, 1, 2)]),
    "dotnet-skill-validator": (
        {"results.json": layouts.dotnet()},
        Defaults(),
        [("sum", 0.0, 1.0, 1, 1), ("unrelated", 1.0, 1.0, 1, 1)],
    ),
    "vally": (layouts.vally(), Defaults(skill="adding"), [("sum", 0.375, 0.75, 2, 2)]),
    "skillgrade": (layouts.skillgrade(), ME, [("sum", 0.0, 0.75, 2, 2)]),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_is_recognised_and_its_pairs_are_the_expected_ones(name: str, tmp_path: Path) -> None:
    files, said, expected = LAYOUTS[name]
    write_tree(tmp_path, files)

    reading = read_any(tmp_path, said)

    assert (reading.format, summary(reading)) == (name, expected)
    assert reading.why
    assert {task.task_id for task in reading.tasks} == {run.task_id for run in reading.executions}
    assert read_any(tmp_path, said, format=name).batch == reading.batch


def test_every_tool_has_a_layout_here_or_a_test_of_its_own() -> None:
    assert set(LAYOUTS) | {"inspect", "promptfoo", "benchmark-reports"} == set(tool_formats())


@pytest.mark.parametrize("name", LAYOUTS)
def test_an_archive_of_a_layout_is_read_as_its_folder_is(name: str, tmp_path: Path) -> None:
    import shutil

    files, said, expected = LAYOUTS[name]
    write_tree(tmp_path / "results", files)
    for kind in ("zip", "gztar"):
        archive = Path(shutil.make_archive(str(tmp_path / "packed"), kind, tmp_path / "results"))
        assert summary(read_any(archive, said)) == expected


# skill-creator


def test_tokens_are_those_of_timing_and_never_characters(tmp_path: Path) -> None:
    files = layouts.workspace()
    reading = read_any(write_tree(tmp_path, files) / "adding-workspace", ME)
    assert {run.tokens for run in reading.executions} == {84852.0}
    assert {run.seconds for run in reading.executions} == {23.3}

    bare = {name: content for name, content in files.items() if not name.endswith("timing.json")}
    untimed = read_any(write_tree(tmp_path / "untimed", bare), ME)
    assert {run.tokens for run in untimed.executions} == {None}


def test_the_skill_beside_a_workspace_comes_along_with_its_digest(tmp_path: Path) -> None:
    write_tree(tmp_path, layouts.workspace())

    for path in (tmp_path, tmp_path / "adding-workspace", tmp_path / "adding-workspace" / "iteration-1"):
        reading = read_any(path, ME)
        (skill,) = reading.skill_texts
        assert (skill.skill_id, skill.text, skill.digest) == (
            "adding",
            "Add from the right.",
            text_digest("Add from the right."),
        )
        assert {run.skill_digest for run in reading.executions if run.condition == "use"} == {skill.digest}


def test_a_placeholder_is_no_model_and_the_agent_is_asked_for(tmp_path: Path) -> None:
    write_tree(tmp_path, layouts.workspace())

    with pytest.raises(InputError, match="the files do not say the agent; say --agent NAME") as caught:
        read_any(tmp_path)
    assert "<model-name>" not in str(caught.value)


def test_the_guides_layout_without_runs_and_with_other_names_is_read(tmp_path: Path) -> None:
    graded = {"assertion_results": [{"text": "a", "passed": True}, {"text": "b", "passed": False}]}
    files = {
        "w/eval-a/with_skill/grading.json": {
            "assertion_results": [{"text": "a", "passed": True}, {"text": "b", "passed": True}]
        },
        "w/eval-a/without_skill/grading.json": graded,
        "w/eval-a/without_skill/timing.json": {"total_tokens": 10, "duration_ms": 500},
    }
    reading = read_any(write_tree(tmp_path, files), Defaults(agent="me", skill="s"))

    assert summary(reading) == [("eval-a", 0.5, 1.0, 1, 1)]
    assert [run.seconds for run in reading.executions if run.condition == "skip"] == [0.5]
    whole = read_any(tmp_path, Defaults(agent="me", skill="s", score="all_passed"))
    assert summary(whole) == [("eval-a", 0.0, 1.0, 1, 1)]


def test_arms_that_were_graded_on_different_assertions_count_on_those_that_both_have(tmp_path: Path) -> None:
    marks = {
        "with_skill": {"saved": True, "dated": True, "signed": False},
        "without_skill": {"saved": False, "dated": True},
    }
    files = {
        f"w/eval-a/{arm}/grading.json": {"expectations": [{"id": id_, "passed": mark} for id_, mark in listed.items()]}
        for arm, listed in marks.items()
    }
    reading = read_any(write_tree(tmp_path, files), Defaults(agent="me", skill="s"))

    assert summary(reading) == [("eval-a", 0.5, 1.0, 1, 1)]
    assert any("over those that both have" in note for note in reading.notes)


def test_the_legacy_layout_and_prompts_of_evals_json_are_read(tmp_path: Path) -> None:
    files = {
        "bench/runs/eval-3/with_skill/run-1/grading.json": layouts.grading(True),
        "bench/runs/eval-3/without_skill/run-1/grading.json": layouts.grading(False),
        "bench/evals/evals.json": {"skill_name": "adding", "evals": [{"id": 3, "prompt": "Add."}]},
    }
    reading = read_any(write_tree(tmp_path, files), ME)

    assert [(task.task_id, task.text, task.suite) for task in reading.tasks] == [("eval-3", "Add.", "adding")]


def test_an_ungraded_run_and_one_without_assertions_are_missing_and_no_failures(tmp_path: Path) -> None:
    files = layouts.workspace()
    base = "adding-workspace/iteration-1/eval-sum/without_skill"
    del files[f"{base}/run-1/grading.json"]
    files[f"{base}/run-2/grading.json"] = {"expectations": [], "summary": {"passed": 0, "failed": 0, "total": 0}}
    files["adding-workspace/iteration-1/eval-sum/with_skill/run-1/grading.json"] = {"error": "crashed", "summary": {}}
    reading = read_any(write_tree(tmp_path, files), ME)

    assert left_out(reading) == {
        "the run has no grading": 1,
        "it has no check with a verdict, and no pass rate": 1,
        "the run ended in an error": 1,
    }
    assert summary(reading) == [("carry", 1.0, 1.0, 2, 2)]
    assert [(one.task_id, one.missing) for one in reading.pairing().unpaired] == [("sum", "skip")]


def test_every_iteration_is_a_version_and_baselines_serve_all_of_them(tmp_path: Path) -> None:
    files = layouts.workspace()
    newer = {
        name.replace("iteration-1", "iteration-10"): content for name, content in files.items() if "iteration-1" in name
    }
    worse = {
        name: layouts.grading(False, False)
        if name.endswith("grading.json")
        else {"total_tokens": 70_000, "duration_ms": 20_000}
        if name.endswith("timing.json")
        else content
        for name, content in newer.items()
    }
    write_tree(tmp_path, {**files, **worse})

    reading = read_any(tmp_path, ME)
    gains = {
        (pair.skill_digest, pair.task_id): (pair.y0, pair.y1, pair.r0, pair.r1) for pair in reading.pairing().pairs
    }
    assert gains == {
        ("iteration-1", "carry"): (0.5, 1.0, 4, 2),
        ("iteration-1", "sum"): (0.125, 0.75, 4, 2),
        ("iteration-10", "carry"): (0.5, 0.0, 4, 2),
        ("iteration-10", "sum"): (0.125, 0.0, 4, 2),
    }
    assert reading.unsure_newest == {"adding": ("iteration-1", "iteration-10")}  # no time is recorded
    first = read_any(tmp_path / "adding-workspace" / "iteration-1", ME)
    assert summary(first) == [("carry", 1.0, 1.0, 2, 2), ("sum", 0.25, 0.75, 2, 2)]


def test_an_old_and_a_new_skill_are_two_versions_unless_someone_says_otherwise(tmp_path: Path) -> None:
    files = {
        name.replace("without_skill", "old_skill").replace("with_skill", "new_skill"): content
        for name, content in layouts.workspace().items()
    }
    write_tree(tmp_path, files)

    reading = read_any(tmp_path, ME)
    assert {run.condition for run in reading.executions} == {"use"}
    assert {run.skill_digest for run in reading.executions} == {"iteration-1/old_skill", "iteration-1/new_skill"}
    said = replace(ME, arms={"old_skill": "skip", "new_skill": "use"})
    assert summary(read_any(tmp_path, said)) == [("carry", 1.0, 1.0, 2, 2), ("sum", 0.25, 0.75, 2, 2)]


def test_a_benchmark_alone_is_read_without_its_tokens(tmp_path: Path) -> None:
    runs = [
        {
            "eval_id": 0,
            "eval_name": "sum",
            "configuration": arm,
            "run_number": 1,
            "result": {"pass_rate": rate, "passed": 1, "failed": 1, "total": 2, "tokens": 12450},
            "expectations": [],
        }
        for arm, rate in (("with_skill", 0.5), ("without_skill", 0.5))
    ]
    document = {"metadata": {"skill_name": "adding", "executor_model": "<model-name>"}, "runs": runs}
    path = write_tree(tmp_path, {"benchmark.json": document}) / "benchmark.json"
    reading = read_any(path, ME)

    assert summary(reading) == [("sum", 0.5, 0.5, 1, 1)]
    assert {run.tokens for run in reading.executions} == {None}


def test_trigger_rates_are_refused_as_no_gains(tmp_path: Path) -> None:
    row = {"query": "q", "should_trigger": True, "trigger_rate": 1.0, "triggers": 3, "runs": 3, "pass": True}
    write_tree(tmp_path, {"eval.json": {"skill_name": "adding", "description": "d", "results": [row]}})

    with pytest.raises(InputError, match="trigger rates of a description"):
        read_any(tmp_path / "eval.json", ME)


# Harbor and BenchFlow


def test_a_reward_counts_after_the_agents_own_exceptions_only(tmp_path: Path) -> None:
    def failed(kind: str) -> dict[str, Any]:
        return {"exception_info": {"exception_type": kind, "exception_message": "m"}, "reward": 0.0}

    files = layouts.harbor_jobs()
    for number, kind in enumerate(("AgentTimeoutError", "DaytonaError", "CancelledError", "VerifierTimeoutError")):
        name = f"sum__x{number}"
        files[f"jobs/off/{name}/result.json"] = layouts.harbor_trial("sum", name, **failed(kind))
    reading = read_any(write_tree(tmp_path, files))

    assert [(pair.task_id, pair.r0) for pair in reading.pairing().pairs] == [("carry@c-carry", 1), ("sum@c-sum", 2)]
    assert left_out(reading) == {
        "the trial ended in DaytonaError": 1,
        "the trial ended in CancelledError": 1,
        "the trial ended in VerifierTimeoutError": 1,
    }


def test_harbor_trials_say_agent_model_skill_text_and_tokens(tmp_path: Path) -> None:
    reading = read_any(write_tree(tmp_path, layouts.harbor_jobs()))
    use = next(run for run in reading.executions if run.condition == "use")

    assert use.agent.name == "claude-code@anthropic/m1"
    assert (use.skill_id, use.skill_digest, use.tokens, use.seconds, use.cost_usd) == (
        "adding",
        "sha256:feed",
        120.0,
        30.0,
        0.5,
    )
    assert {task.task_id: task.text for task in reading.tasks}["sum@c-sum"] == "Add the numbers."


def test_tasks_of_different_checksums_are_not_paired_unless_told(tmp_path: Path) -> None:
    files = layouts.harbor_jobs()
    files["jobs/on/sum__abcdefg/result.json"]["task_checksum"] = "with-the-skill-in-its-image"
    write_tree(tmp_path, files)

    apart = read_any(tmp_path)
    assert [pair[0] for pair in summary(apart)] == ["carry@c-carry"]
    assert any("--pair-by name joins them" in note for note in apart.notes)
    told = read_any(tmp_path, Defaults(pair_by="name"))
    assert [pair[0] for pair in summary(told)] == ["carry", "sum"]
    assert any("joined by name" in note for note in told.notes)


def test_jobs_from_before_skills_were_recorded_have_their_arm_in_the_name(tmp_path: Path) -> None:
    old = {"skills": None, "agent_result": {"n_input_tokens": None, "n_output_tokens": None}}
    files = {
        "withskills-m1/sum__a/result.json": layouts.harbor_trial("sum", "sum__a", **old),
        "noskills-m1/sum__b/result.json": layouts.harbor_trial("sum", "sum__b", reward=0.0, **old),
    }
    reading = read_any(write_tree(tmp_path, files), Defaults(skill="adding"))

    assert summary(reading) == [("sum@c-sum", 0.0, 1.0, 1, 1)]
    assert {run.tokens for run in reading.executions} == {None}


def test_a_rollout_with_an_error_is_missing_and_its_count_of_invocations_says_nothing(tmp_path: Path) -> None:
    files = layouts.benchflow_jobs()
    base = "jobs/skill-eval/adding/claude/baseline"
    broken = {"error": "docker is gone", "error_category": "infra", "rewards": {"reward": 0.0}}
    files[f"{base}/sum__3/result.json"] = layouts.benchflow("sum", **broken)
    files[f"{base}/sum__4/result.json"] = layouts.benchflow("sum", verifier_error="timeout", rewards=None)
    reading = read_any(write_tree(tmp_path, files))

    assert summary(reading) == [("sum@sum", 0.0, 1.0, 1, 1)]
    assert sorted(left_out(reading).values()) == [1, 1]
    assert {run.skill_id for run in reading.executions if run.condition == "use"} == {"adding"}


# promptfoo


def _promptfoo(tmp_path: Path, document: Any) -> Path:
    return write_tree(tmp_path, {"results.json": document}) / "results.json"


def test_promptfoo_repeats_with_a_new_index_are_repetitions_of_one_task(tmp_path: Path) -> None:
    reading = read_any(_promptfoo(tmp_path, layouts.promptfoo()), Defaults(skill="adding"))

    assert reading.format == "promptfoo"
    assert [pair[1:] for pair in summary(reading)] == [(0.0, 1.0, 2, 2), (1.0, 0.5, 2, 2)]
    assert [task.text for task in reading.tasks] == ["1+1?", "2+2?"]
    assert {run.tokens for run in reading.executions} == {15.0}
    assert {run.agent.name for run in reading.executions} == {"anthropic:messages:m1"}


def test_promptfoo_lines_are_the_same_as_its_document(tmp_path: Path) -> None:
    document = layouts.promptfoo()
    rows = "".join(json.dumps(row) + "\n" for row in document["results"]["results"])
    said = Defaults(skill="adding")
    lines = read_any(write_tree(tmp_path, {"r.jsonl": rows}) / "r.jsonl", said)

    assert lines.format == "promptfoo"
    assert lines.executions == read_any(_promptfoo(tmp_path, document), said).executions


def test_promptfoo_errors_are_missing_while_failed_assertions_are_failures(tmp_path: Path) -> None:
    document = layouts.promptfoo()
    row = document["results"]["results"][0]
    row.update(failureReason=2, success=False, error="429 too many requests", gradingResult=None)
    reading = read_any(_promptfoo(tmp_path, document), Defaults(skill="adding"))

    assert left_out(reading) == {"the call ended in an error": 1}
    assert [pair[1:] for pair in summary(reading)] == [(0.0, 1.0, 2, 1), (1.0, 0.5, 2, 2)]


def test_promptfoo_repeats_from_the_cache_are_no_further_runs(tmp_path: Path) -> None:
    document = layouts.promptfoo()
    for row in document["results"]["results"]:
        row["response"]["cached"] = True
    reading = read_any(_promptfoo(tmp_path, document), Defaults(skill="adding"))

    assert {pair[3:] for pair in summary(reading)} == {(1, 1)}
    assert left_out(reading) == {"the answer came from the cache, so the repeat is no further run": 4}
    assert any("--no-cache" in note for note in reading.notes)


def test_promptfoo_graders_of_skill_use_are_no_part_of_the_outcome(tmp_path: Path) -> None:
    document = layouts.promptfoo()
    for row in document["results"]["results"]:
        is_use = row["provider"]["label"] == "with-skill"
        parts = [
            {"pass": True, "score": 1, "assertion": {"type": "contains", "value": "2"}},
            {"pass": is_use, "score": int(is_use), "assertion": {"type": "skill-used", "value": "adding"}},
        ]
        row.update(success=is_use, failureReason=0 if is_use else 1)
        row["gradingResult"] = {"pass": is_use, "score": 0.5, "componentResults": parts}
    reading = read_any(_promptfoo(tmp_path, document), Defaults(skill="adding"))

    assert {pair[1:3] for pair in summary(reading)} == {(1.0, 1.0)}


def test_promptfoo_arms_may_be_prompts(tmp_path: Path) -> None:
    document = layouts.promptfoo()
    for row in document["results"]["results"]:
        label = row["provider"].pop("label")
        row["prompt"] = {"raw": f"{label}: {row['vars']['question']}", "label": label}
    reading = read_any(_promptfoo(tmp_path, document), Defaults(skill="adding"))

    assert reading.arms == {"with-skill": "use", "without-skill": "skip"}
    assert len(summary(reading)) == 2


def test_a_promptfoo_document_of_an_unknown_version_is_refused(tmp_path: Path) -> None:
    document = layouts.promptfoo()
    document["results"]["version"] = 9
    with pytest.raises(InputError, match="promptfoo results of version 9; known are 2, 3, 4"):
        read_any(_promptfoo(tmp_path, document), Defaults(skill="adding"))


# skillevaluation, agent-skill-evals, waza


def test_cases_hold_the_first_of_several_runs_and_the_import_says_so(tmp_path: Path) -> None:
    write_tree(tmp_path, {"results.json": layouts.skillevaluation(runs=5)})
    reading = read_any(tmp_path / "results.json")

    assert {pair[3:] for pair in summary(reading)} == {(1, 1)}
    assert any("over 5 runs, and the cases hold the first run only" in note for note in reading.notes)
    assert {run.agent.name for run in reading.executions} == {"cli:m1"}


def test_an_arm_of_skillevaluation_with_an_error_is_missing(tmp_path: Path) -> None:
    document = layouts.skillevaluation()
    document["cases"][0]["with_skill"].update(errored=True, passed=False, error="timeout")
    document["cases"][1]["with_skill"].update(task_attempted=False)
    write_tree(tmp_path, {"results.json": document, "eval.yaml": "cases:\n- name: sum\n  prompt: Add.\n"})
    reading = read_any(tmp_path)

    assert summary(reading) == [("carry", 1.0, 1.0, 1, 1)]
    assert left_out(reading) == {"the arm ended in an error": 1}
    assert any("did not attempt the task" in note for note in reading.notes)
    assert {task.task_id: task.text for task in reading.tasks} == {"sum": "Add.", "carry": "carry"}


def test_an_unknown_version_of_skillevaluation_is_refused(tmp_path: Path) -> None:
    document = layouts.skillevaluation(format="skillevaluation/test-run-result@v7")
    with pytest.raises(InputError, match="@v7' is not known"):
        read_any(write_tree(tmp_path, {"results.json": document}))


def test_an_attestation_has_both_arms(tmp_path: Path) -> None:
    meta = {"turns": 1, "total_tokens": 50, "tool_call_count": 0, "duration_ms": 10, "task_attempted": True}
    arms = {
        "with_skill": {"output": "2", "passed": True, "meta": meta},
        "without_skill": {"output": "3", "passed": False, "meta": meta},
    }
    document = {"runner_model": "m1", "judge_model": "j", "cases": [{"name": "sum", **arms}]}
    reading = read_any(write_tree(tmp_path, {"attestation.json": document}), Defaults(skill="adding"))

    assert summary(reading) == [("sum", 0.0, 1.0, 1, 1)]
    assert {(run.agent.name, run.tokens) for run in reading.executions} == {("m1", 50.0)}


def test_loading_the_skill_is_no_part_of_the_outcome_of_a_run_tree(tmp_path: Path) -> None:
    reading = read_any(write_tree(tmp_path, layouts.skill_evals()))

    assert summary(reading) == [("sum", 1.0, 1.0, 1, 1)]
    assert left_out(reading) == {"the arm 'with_distractors' is neither with nor without the skill": 1}
    assert reading.tasks[0].text == "Add the numbers."
    assert reading.skill_texts[0].text == "Add from the right."


def test_only_authoritative_graders_count_and_a_trial_that_is_not_ok_is_missing(tmp_path: Path) -> None:
    files = layouts.skill_evals()
    base = "adding/evals/runs/r1/sum"
    advice = {"grader_id": "style", "grader_type": "llm_rubric", "passed": False, "score": 0.0}
    files[f"{base}/with_skill/trial-0001/grades/style/result-11.json"] = advice
    listed = [
        {"grader_id": "right", "authoritative": True, "result_sha256": "00"},
        {"grader_id": "style", "authoritative": False, "result_sha256": "11"},
    ]
    files["adding/evals/grades/r1/g1/manifest.json"] = {"run_id": "r1", "created_at": "2", "results": listed}
    older = [{"grader_id": "style", "authoritative": True, "result_sha256": "11"}]
    files["adding/evals/grades/r1/g0/manifest.json"] = {"run_id": "r1", "created_at": "1", "results": older}
    files[f"{base}/no_skill/trial-0001/result.json"] = {"ok": False, "failure": {"code": "runner_timeout"}}
    reading = read_any(write_tree(tmp_path, files))

    assert [run.success for run in reading.executions if run.condition == "use"] == [1.0]
    assert "the trial is not ok (runner_timeout)" in left_out(reading)


def test_waza_errors_are_missing_and_triggers_are_no_outcome(tmp_path: Path) -> None:
    document = layouts.waza()
    run = document["tasks"][0]["runs"][1]
    run["validations"] = {
        "right": {"identifier": "right", "type": "text", "passed": True},
        "loads": {"identifier": "loads", "type": "skill_invocation", "passed": False},
    }
    reading = read_any(write_tree(tmp_path, {"results.json": document}))

    assert summary(reading) == [("sum", 0.0, 1.0, 1, 2)]
    assert left_out(reading) == {"the run ended in an error": 1}
    assert {run.tokens for run in reading.executions} == {100.0}
    assert reading.tasks[0].family == "sums"


def test_waza_arms_in_two_files_are_joined(tmp_path: Path) -> None:
    document = layouts.waza()
    baseline = document.pop("baseline_outcome")
    reading = read_any(write_tree(tmp_path, {"with.json": document, "without.json": baseline}))

    assert summary(reading) == [("sum", 0.0, 0.5, 1, 2)]


# dotnet, Vally, skillgrade


def test_the_judges_score_and_the_plugin_arm_are_for_those_who_ask(tmp_path: Path) -> None:
    path = write_tree(tmp_path, {"results.json": layouts.dotnet()}) / "results.json"
    reading = read_any(path, Defaults(score="judge"))

    assert [pair[1:3] for pair in summary(reading)] == [(0.25, 1.0), (0.25, 1.0)]
    assert {run.tokens for run in reading.executions} == {75.0}
    assert [task.family for task in reading.tasks] == ["", "not expected to load"]
    plugin = read_any(path, Defaults(arms={"skilledPlugin": "use", "skilledIsolated": "leave-out"}))
    assert len(summary(plugin)) == 2


def test_a_judge_that_ran_out_of_time_is_no_loss(tmp_path: Path) -> None:
    files = layouts.vally()
    name = "out/2026-08-24T00-00-00/with-skill/results.jsonl"
    files[name] += json.dumps(layouts.vally_row("sum", 2, 0.0, status="error", gradeResult=None)) + "\n"
    files[name] += json.dumps(layouts.vally_row("sum", 3, 0.0, gradeResult=None)) + "\n"
    reading = read_any(write_tree(tmp_path, files), Defaults(skill="adding"))

    assert summary(reading) == [("sum", 0.375, 0.75, 2, 2)]
    assert left_out(reading) == {"the trial ended with the status error": 1, "the trial is not graded": 1}
    passed = read_any(tmp_path, Defaults(skill="adding", score="passed"))
    assert [pair[1:3] for pair in summary(passed)] == [(0.0, 0.5)]


def test_vally_variants_in_one_file_are_arms(tmp_path: Path) -> None:
    rows = [
        layouts.vally_row("sum", 0, 1.0, variant="with-skill"),
        layouts.vally_row("sum", 0, 0.0, variant="baseline"),
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    reading = read_any(write_tree(tmp_path, {"results.jsonl": text}) / "results.jsonl", Defaults(skill="adding"))

    assert summary(reading) == [("sum", 0.0, 1.0, 1, 1)]


def test_estimated_tokens_are_unknown(tmp_path: Path) -> None:
    reading = read_any(write_tree(tmp_path, layouts.skillgrade()), ME)

    assert {run.tokens for run in reading.executions} == {None}
    assert any("estimates" in note for note in reading.notes)
    assert reading.tasks[0].text == "Add the numbers."
