"""Layouts that mislead: each would be read silently wrong by a reader that takes names of folders at their word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skilldelta.bank.importers import Defaults, Reading, read_any
from skilldelta.errors import InputError

from .layouts import write_tree

ME = Defaults(agent="me")
ARMS = {"with_skill": (True, True), "without_skill": (True, False)}
EACH = ("alpha", "beta")
BOTH_ARMS = {(name, arm, outcome) for name in EACH for arm, outcome in (("use", 1.0), ("skip", 0.5))}


def checks(*marks: Any, about: str = "it", **more: Any) -> dict[str, Any]:
    return {"expectations": [{"text": f"{about} {at}", "passed": mark} for at, mark in enumerate(marks)], **more}


def timing(tokens: int, seconds: float) -> dict[str, Any]:
    return {"total_tokens": tokens, "total_duration_seconds": seconds}


def read(tmp_path: Path, files: dict[str, Any]) -> Reading:
    return read_any(write_tree(tmp_path / "adding-workspace", files), ME)


def runs(reading: Reading) -> list[tuple[str, str, float]]:
    return sorted((run.task_id, run.condition, round(run.success or 0.0, 4)) for run in reading.executions)


def per_run(path: str) -> dict[str, Any]:
    """A grading per run at `path`, which has {name} and {arm} in it."""
    return {path.format(name=name, arm=arm): checks(*marks) for name in EACH for arm, marks in ARMS.items()}


LAYOUTS: dict[str, dict[str, Any]] = {
    "the evaluation and the arm in one file name": per_run("gradings/{name}.{arm}.json"),
    "a folder per trial below the arm": per_run("iteration-1/{arm}/trial_1/{name}/grading.json"),
    "blanks and capitals": {
        f"Iteration 1/{name}/{folder}/Grading.json": checks(*ARMS[arm])
        for name in EACH
        for arm, folder in (("with_skill", "With Skill"), ("without_skill", "Without Skill"))
    },
    "the word grading between the evaluation and the arm": {
        f"iteration-1/{name}_grading_{word}.json": checks(*ARMS[arm])
        for name in EACH
        for arm, word in (("with_skill", "skill"), ("without_skill", "baseline"))
    },
    "folders A and B, explained by a field of their configuration": {
        f"{name}/{folder}/{file}": content
        for name in EACH
        for folder, arm in (("A", "with_skill"), ("B", "without_skill"))
        for file, content in (
            ("grading.json", checks(*ARMS[arm])),
            ("config.json", {"skill_enabled": arm == "with_skill"}),
        )
    },
    "checks as keys with objects": {
        f"iteration-1/{name}/{arm}/grading.json": {
            "expectations": {
                "has a header": {"passed": marks[0]},
                "has a total": {"passed": marks[1], "evidence": "row 9"},
            }
        }
        for name in EACH
        for arm, marks in ARMS.items()
    },
    "checks as keys with words and reasons": {
        f"iteration-1/{name}/{arm}/grading.json": {
            "assertions": {"header": "PASS - there", "total": "✅ PASS" if marks[1] else "FAIL: it is missing"}
        }
        for name in EACH
        for arm, marks in ARMS.items()
    },
    "a list of what passed and one of what failed": {
        f"iteration-1/{name}/{arm}/grading.json": {
            "passed": ["header", *(["total"] * marks[1])],
            "failed": [] if marks[1] else ["total"],
        }
        for name in EACH
        for arm, marks in ARMS.items()
    },
    "verdicts of both arms beside each other in a check": {
        f"iteration-1/{name}/grading.json": {
            "assertions": [
                {"text": "a", "with_skill_passed": True, "without_skill_passed": True},
                {"text": "b", "with_skill_passed": True, "without_skill_passed": False},
            ]
        }
        for name in EACH
    },
    "a second grader of the same opinion": per_run("iteration-1/{name}/{arm}/judge-a/grading.json")
    | per_run("iteration-1/{name}/{arm}/judge-b/grading.json"),
    "verdicts among the products of a run": per_run("iteration-1/{name}/{arm}/grading.json")
    | {
        f"iteration-1/{name}/{arm}/output/evaluation.json": {"criteria": [{"name": "tests", "passed": False}]}
        for name in EACH
        for arm in ARMS
    },
    "evaluations as keys below each configuration": {
        "benchmark.json": {
            "skill_name": "adding",
            "configurations": {
                arm: {"evals": {name: {"passed": sum(marks), "total": 2} for name in EACH}, "mean": 0.7}
                for arm, marks in ARMS.items()
            },
        }
    },
    "pass rates in percent": {
        "benchmark.json": {
            "skill_name": "adding",
            "evals": [{"name": name, "with_skill_pass_rate": 100, "without_skill_pass_rate": 50} for name in EACH],
        }
    },
    "points of each criterion": {
        f"iteration-1/{name}/{arm}/grading.json": {
            "criteria": [
                {"name": "a", "score": 5, "max_score": 5},
                {"name": "b", "score": 5 * marks[1], "max_score": 5},
            ]
        }
        for name in EACH
        for arm, marks in ARMS.items()
    },
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_gives_its_two_evaluations_in_both_arms(layout: str, tmp_path: Path) -> None:
    reading = read(tmp_path, LAYOUTS[layout])

    assert set(runs(reading)) == BOTH_ARMS
    assert len(reading.executions) == 4
    assert len(reading.pairing().pairs) == 2


def test_a_model_behind_the_arm_is_an_agent_and_no_evaluation(tmp_path: Path) -> None:
    files = {
        f"iteration-1/{name}/{arm}_{model}/grading.json": checks(*marks)
        for model in ("haiku", "opus")
        for name in EACH
        for arm, marks in ARMS.items()
    }
    reading = read_any(write_tree(tmp_path / "adding-workspace", files))

    assert {run.agent.name for run in reading.executions} == {"haiku", "opus"}
    assert runs(reading) == sorted([*BOTH_ARMS, *BOTH_ARMS])


def test_models_recorded_beside_the_runs_keep_iterations_apart(tmp_path: Path) -> None:
    files: dict[str, Any] = {}
    for number, model in ((1, "haiku"), (2, "opus")):
        for name in EACH:
            for arm, marks in ARMS.items():
                folder = f"iteration-{number}/{name}/{arm}"
                files[f"{folder}/grading.json"] = checks(*marks)
                files[f"{folder}/run_config.json"] = {"model": model, "prompt": f"Do {name}."}
    reading = read_any(write_tree(tmp_path / "adding-workspace", files))

    assert {run.agent.name for run in reading.executions} == {"haiku", "opus"}
    assert len(reading.executions) == 8
    assert {task.text for task in reading.tasks} == {"Do alpha.", "Do beta."}


def test_tasks_whose_names_sound_like_arms_models_or_versions_stay_tasks(tmp_path: Path) -> None:
    names = (
        "claude-md-update",
        "baseline-report",
        "skill-discovery",
        "v2-migration",
        "final-review",
        "sign-on",
        "sign-off",
    )
    for number, path in enumerate(("iteration-1/{name}/{arm}/grading.json", "iteration-1/{arm}/{name}/grading.json")):
        files = {path.format(name=name, arm=arm): checks(*ARMS[arm], about=name) for name in names for arm in ARMS}
        reading = read_any(write_tree(tmp_path / f"{number}" / "adding-workspace", files), ME)

        assert {run.task_id for run in reading.executions} == set(names)
        assert len(reading.pairing().pairs) == len(names)


def test_the_same_number_in_two_groups_is_two_evaluations(tmp_path: Path) -> None:
    files = {
        f"iteration-1/{group}/eval-{number}/{arm}/grading.json": checks(*marks, about=f"{group} {number}")
        for group in ("frontend", "backend")
        for number in (1, 2)
        for arm, marks in ARMS.items()
    }
    reading = read(tmp_path, files)

    assert {run.task_id for run in reading.executions} == {"eval-1", "eval-2", "frontend/eval-1", "frontend/eval-2"}
    assert {run.skill_digest for run in reading.executions} == {""}


def test_evaluations_that_were_numbered_anew_are_known_by_their_names(tmp_path: Path) -> None:
    files = {
        f"iteration-{iteration}/eval-{number}/{arm}/{file}": content
        for iteration, names in ((1, ("alpha", "beta")), (2, ("gamma", "alpha")))
        for number, name in enumerate(names)
        for arm, marks in ARMS.items()
        for file, content in (
            ("grading.json", checks(*marks, about=name, eval_name=name)),
            ("timing.json", timing(1000 * iteration + 10 * number + len(arm), 2.0 + iteration)),
        )
    }
    reading = read(tmp_path, files)

    assert {run.task_id for run in reading.executions} == {"alpha", "beta", "gamma"}
    alpha = [run for run in reading.executions if run.task_id == "alpha" and run.condition == "use"]
    assert {run.skill_digest for run in alpha} == {"iteration-1", "iteration-2"}


def test_a_baseline_that_was_graded_again_counts_once_for_each_version(tmp_path: Path) -> None:
    files: dict[str, Any] = {}
    for iteration in (1, 2):
        folder = f"iteration-{iteration}/alpha"
        files[f"{folder}/without_skill/grading.json"] = checks(True, iteration == 2, False)
        files[f"{folder}/without_skill/timing.json"] = timing(100, 3.5)
        files[f"{folder}/with_skill/grading.json"] = checks(True, True, iteration == 2)
        files[f"{folder}/with_skill/timing.json"] = timing(200 + iteration, 4.5)
    reading = read(tmp_path, files)

    gains = {pair.skill_digest: (round(pair.gain, 4), pair.r0) for pair in reading.pairing().pairs}
    assert gains == {"iteration-1": (0.3333, 1), "iteration-2": (0.3333, 1)}


def test_two_gradings_of_a_run_that_differ_are_left_out_with_both_named(tmp_path: Path) -> None:
    files = per_run("iteration-1/{name}/{arm}/grading.json")
    files["iteration-1/alpha/with_skill/grading_v2.json"] = checks(True, False)
    reading = read(tmp_path, files)

    assert runs(reading) == sorted(BOTH_ARMS - {("alpha", "use", 1.0)})
    reasons = [omission.reason for omission in reading.left_out]
    assert any("grading_v2.json" in reason for reason in reasons)
    assert any("with_skill/grading.json" in reason for reason in reasons)


def test_a_note_that_the_skill_was_not_found_takes_the_run_out_of_the_arm_with_it(tmp_path: Path) -> None:
    files = per_run("iteration-1/{name}/{arm}/grading.json")
    notes = {"needs_review": ["The skill could not be found at the path, so the work went on without it"]}
    files["iteration-1/beta/with_skill/grading.json"] |= {"user_notes_summary": notes}
    reading = read(tmp_path, files)

    assert runs(reading) == sorted(BOTH_ARMS - {("beta", "use", 1.0)})


def test_a_run_that_did_not_take_place_is_no_failure(tmp_path: Path) -> None:
    files = per_run("iteration-1/{name}/{arm}/grading.json")
    files["iteration-1/beta/without_skill/grading.json"] = checks(False, False, status="not_run")
    reading = read(tmp_path, files)

    missing = next(run for run in reading.executions if run.task_id == "beta" and run.condition == "skip")
    assert missing.success is None
    assert any("did not take place" in omission.reason for omission in reading.left_out)


def test_a_name_without_an_arm_beside_runs_that_have_one_is_left_out_with_the_true_reason(tmp_path: Path) -> None:
    files = {f"baseline/{name}/grading.json": checks(True, False) for name in EACH}
    files |= {f"iteration-1/{name}/grading.json": checks(True, True) for name in EACH}
    reading = read(tmp_path, files)

    assert {run.condition for run in reading.executions} == {"skip"}
    (omission,) = reading.left_out
    assert "nothing says whether the skill was used; --condition use" in omission.reason


def test_means_of_metrics_are_no_evaluations(tmp_path: Path) -> None:
    means = {"pass_rate": {"with_skill": 0.9, "without_skill": 0.5}, "tokens": {"with_skill": 10, "without_skill": 9}}
    with pytest.raises(InputError, match="no verdict on a single run"):
        read(tmp_path, {"iteration-1/benchmark.json": {"skill_name": "adding", "results": means}})


def test_two_names_that_may_both_be_the_evaluation_are_refused(tmp_path: Path) -> None:
    files = {
        f"{group}/{arm}/{name}/grading.json": {"summary": {"passed": sum(marks), "total": 2}}
        for group in ("north", "south")
        for name in EACH
        for arm, marks in ARMS.items()
    }
    with pytest.raises(InputError, match="not clear which part of its path names the evaluation"):
        read(tmp_path, files)


def test_solutions_of_scenarios_are_runs_of_their_variant(tmp_path: Path) -> None:
    """The shape of Tessl's results, in a file whose name says that it defines evaluations."""
    scenarios = [
        {
            "name": name,
            "solutions": [
                {"variant": variant, "assessmentResults": [{"name": "a", "score": score, "max_score": 10}]}
                for variant, score in (("baseline", 5), ("with-context", 10))
            ],
        }
        for name in EACH
    ]
    path = write_tree(tmp_path, {"eval.json": {"data": {"attributes": {"scenarios": scenarios}}}}) / "eval.json"
    reading = read_any(path, Defaults(agent="me", skill="adding", arms={"with-context": "use"}))

    assert set(runs(reading)) == BOTH_ARMS
