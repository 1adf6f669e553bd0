"""Layouts of skill workspaces, as people and language models write them: each turns runs that are known into files.

A dialect takes the runs of one iteration and says which of their facts it can hold. None of them is a copy of a real
workspace.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

Files = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TrueRun:
    """One run as it happened."""

    eval_id: int
    name: str
    prompt: str
    uses_skill: bool
    marks: tuple[bool, ...]
    repeat: int
    tokens: int
    seconds: float
    iteration: int = 1

    @property
    def outcome(self) -> float:
        return sum(self.marks) / len(self.marks)


@dataclass(frozen=True, slots=True)
class Dialect:
    """A way to write the runs of an iteration, and what it leaves out."""

    name: str
    write: Callable[[str, Sequence[TrueRun]], Files]
    has_tokens: bool = True
    has_prompts: bool = True
    has_repeats: bool = True
    is_one_file: bool = False
    """Whether the whole iteration is one file, of which there can be one only."""


def with_skill(run: TrueRun) -> str:
    return "with_skill" if run.uses_skill else "without_skill"


def expectations(run: TrueRun, **names: str) -> list[dict[str, Any]]:
    """The verdicts of a run; `names` renames text, passed and evidence."""
    text, passed, evidence = (names.get(one, one) for one in ("text", "passed", "evidence"))
    return [
        {text: f"{run.name} check number {at} holds", passed: mark, evidence: f"seen in {run.tokens} / {run.iteration}"}
        for at, mark in enumerate(run.marks)
    ]


def timing(run: TrueRun) -> dict[str, Any]:
    return {"total_tokens": run.tokens, "duration_ms": round(1000 * run.seconds), "total_duration_seconds": run.seconds}


def summary(run: TrueRun) -> dict[str, Any]:
    return {"passed": sum(run.marks), "failed": len(run.marks) - sum(run.marks), "total": len(run.marks)}


def by_eval(runs: Sequence[TrueRun]) -> Iterator[tuple[TrueRun, list[TrueRun]]]:
    """The runs of each evaluation, with one of them to name it by."""
    for _, group in groupby(
        sorted(runs, key=lambda run: (run.eval_id, run.uses_skill, run.repeat)), lambda run: run.eval_id
    ):
        listed = list(group)
        yield listed[0], listed


def metadata(run: TrueRun, **more: Any) -> dict[str, Any]:
    return {"eval_id": run.eval_id, "eval_name": run.name, "prompt": run.prompt, **more}


# One file per run


def classic(base: str, runs: Sequence[TrueRun]) -> Files:
    files: Files = {}
    for run in runs:
        files[f"{base}/eval-{run.name}/eval_metadata.json"] = metadata(run, assertions=[])
        folder = f"{base}/eval-{run.name}/{with_skill(run)}/run-{run.repeat + 1}"
        files[f"{folder}/grading.json"] = {"expectations": expectations(run), "summary": summary(run)}
        files[f"{folder}/timing.json"] = timing(run)
    return files


def outputs_folder(base: str, runs: Sequence[TrueRun]) -> Files:
    files: Files = {}
    for run in runs:
        folder = f"{base}/{run.name}/{'with_skill' if run.uses_skill else 'baseline'}"
        folder += f"/run-{run.repeat + 1}" if run.repeat else ""
        files[f"{folder}/eval_metadata.json"] = metadata(run)
        files[f"{folder}/outputs/grading.json"] = {"assertion_results": expectations(run)}
        files[f"{folder}/outputs/report.json"] = {"checks": [{"name": "made by the run", "passed": False}]}
        files[f"{folder}/timing.json"] = timing(run)
    return files


def arm_first(base: str, runs: Sequence[TrueRun]) -> Files:
    files: Files = {}
    for run in runs:
        stem = f"{base}/{with_skill(run)}/eval-{run.eval_id}"
        config = {"eval_id": run.eval_id, "mode": with_skill(run), "prompt": run.prompt, "time_seconds": run.seconds}
        files[f"{stem}-config.json"] = {**config, "input_tokens": run.tokens - 7, "output_tokens": 7}
        files[f"{stem}-grading.json"] = {"assertions": expectations(run, text="expectation", evidence="reason")}
    return files


def arm_in_file_name(base: str, runs: Sequence[TrueRun]) -> Files:
    files: Files = {}
    for run in runs:
        folder = f"{base}/{run.name}"
        files[f"{folder}/metadata.json"] = {"id": run.eval_id, "name": run.name, "prompt": run.prompt}
        files[f"{folder}/grading_{with_skill(run)}.json"] = {"results": expectations(run), **timing(run)}
    return files


def arms_above(base: str, runs: Sequence[TrueRun]) -> Files:
    files: Files = {}
    for run in runs:
        folder = f"{base}/{'treatment' if run.uses_skill else 'control'}/{run.name}/trial_{run.repeat + 1}"
        files[f"{folder}/verdicts.json"] = {
            "evaluations": [
                {"criterion": one["text"], "verdict": "PASS" if one["passed"] else "FAIL"} for one in expectations(run)
            ],
            "task_prompt": run.prompt,
            "usage": {"input_tokens": run.tokens - 3, "output_tokens": 3},
            "elapsed_seconds": run.seconds,
        }
    return files


def numbers_for_marks(base: str, runs: Sequence[TrueRun]) -> Files:
    files: Files = {}
    for run in runs:
        folder = f"{base}/case-{run.eval_id}/{'skill' if run.uses_skill else 'no-skill'}/rep-{run.repeat + 1}"
        files[f"{folder}/evaluation_grading.json"] = {
            "eval_name": run.name,
            "prompt": run.prompt,
            "criteria": [{"description": one["text"], "met": int(one["passed"])} for one in expectations(run)],
            "metrics": {"total_tokens": run.tokens, "duration_seconds": run.seconds},
        }
    return files


def weak_words(base: str, runs: Sequence[TrueRun]) -> Files:
    files: Files = {}
    for run in runs:
        folder = f"{base}/{run.name}/{'on' if run.uses_skill else 'off'}/run{run.repeat + 1}"
        files[f"{base}/{run.name}/eval_metadata.json"] = metadata(run)
        files[f"{folder}/grading.json"] = {"checks": expectations(run, passed="pass")}
        files[f"{folder}/timing.json"] = timing(run)
    return files


def all_in_the_file_name(base: str, runs: Sequence[TrueRun]) -> Files:
    return {
        f"{base}/results/{run.name}-{with_skill(run)}-run{run.repeat + 1}.json": {
            "eval_name": run.name,
            "configuration": with_skill(run),
            "run_number": run.repeat + 1,
            "prompt": run.prompt,
            "assertions": expectations(run, passed="satisfied"),
            "timing": timing(run),
        }
        for run in runs
    }


def bare_list(base: str, runs: Sequence[TrueRun]) -> Files:
    files: Files = {}
    for run in runs:
        folder = f"{base}/{run.name}/{with_skill(run)}/run-{run.repeat + 1}"
        files[f"{folder}/grading.json"] = expectations(run)
        files[f"{folder}/timing.json"] = timing(run)
    for first, _ in by_eval(runs):
        files[f"{base}/{first.name}/prompt.json"] = {"prompt": first.prompt}
    return files


def counts_only(base: str, runs: Sequence[TrueRun]) -> Files:
    files: Files = {}
    for run in runs:
        folder = f"{base}/eval-{run.eval_id}/{with_skill(run)}/run-{run.repeat + 1}"
        files[f"{folder}/grading.json"] = {"eval_name": run.name, "summary": summary(run)}
        files[f"{folder}/metrics.json"] = timing(run)
        files[f"{base}/eval-{run.eval_id}/eval_metadata.json"] = metadata(run)
    return files


def words_in_fields(base: str, runs: Sequence[TrueRun]) -> Files:
    return {
        f"{base}/gradings/{run.repeat}-{run.eval_id}-{int(run.uses_skill)}.json": {
            "task_id": run.name,
            "prompt": run.prompt,
            "skill_enabled": run.uses_skill,
            "repetition": run.repeat,
            "graded_assertions": [
                {"assertion": one["text"], "result": "passed" if one["passed"] else "failed"}
                for one in expectations(run)
            ],
            "total_tokens": run.tokens,
            "duration_seconds": run.seconds,
        }
        for run in runs
    }


def nested_arms(base: str, runs: Sequence[TrueRun]) -> Files:
    files: Files = {}
    for run in runs:
        arm = "vanilla" if not run.uses_skill else "with-skill"
        folder = f"{base}/{run.name}/{arm}/attempt-{run.repeat + 1}/evaluation"
        files[f"{folder}/graded.json"] = {
            "grading": {"expectations": expectations(run)},
            "tokens": {"total": run.tokens, "input": 1, "output": 1},
        }
        files[f"{base}/{run.name}/task.json"] = {"prompt": run.prompt, "id": run.eval_id}
    return files


def raw_control_characters(base: str, runs: Sequence[TrueRun]) -> Files:
    files = classic(base, runs)
    for name, content in files.items():
        if name.endswith("grading.json"):
            files[name] = json.dumps(content).replace("seen in", "seen\x0b in")
    return files


# Several runs in a file


def both_arms_as_keys(base: str, runs: Sequence[TrueRun]) -> Files:
    files: Files = {}
    for first, listed in by_eval(runs):
        arms = {with_skill(run): {"expectations": expectations(run), **timing(run)} for run in listed}
        files[f"{base}/{first.name}/grading.json"] = {**metadata(first), **arms}
    return files


def runs_in_a_grading(base: str, runs: Sequence[TrueRun]) -> Files:
    files: Files = {}
    for first, listed in by_eval(runs):
        files[f"{base}/{first.name}/eval_metadata.json"] = metadata(first)
        for uses_skill in (True, False):
            own = [run for run in listed if run.uses_skill is uses_skill]
            if own:
                rows = [{"run": run.repeat + 1, "assertions": expectations(run), "timing": timing(run)} for run in own]
                files[f"{base}/{first.name}/{with_skill(own[0])}/grading.json"] = {"runs": rows}
    return files


def arms_in_each_assertion(base: str, runs: Sequence[TrueRun]) -> Files:
    files: Files = {}
    for first, listed in by_eval(runs):
        rows = []
        for at in range(len(first.marks)):
            marks = {("with_skill" if run.uses_skill else "baseline"): run.marks[at] for run in listed}
            seen = " / ".join(str(run.tokens) for run in listed)
            rows.append({"text": f"{first.name} check {at}", **marks, "evidence": f"seen in {seen}"})
        files[f"{base}/{first.name}-grading.json"] = {**metadata(first), "assertions": rows}
    return files


def benchmark_with_verdicts(base: str, runs: Sequence[TrueRun]) -> Files:
    rows = [
        {
            "eval_id": run.eval_id,
            "eval_name": run.name,
            "configuration": with_skill(run),
            "run_number": run.repeat + 1,
            "result": {"pass_rate": run.outcome, "time_seconds": run.seconds, "tokens": 999},
            "expectations": expectations(run),
        }
        for run in runs
    ]
    means = {"with_skill": {"pass_rate": {"mean": 0.5}}, "without_skill": {"pass_rate": {"mean": 0.5}}}
    return {f"{base}/benchmark.json": {"metadata": {"skill_name": "adding"}, "runs": rows, "run_summary": means}}


def benchmark_with_counts(base: str, runs: Sequence[TrueRun]) -> Files:
    rows = [
        {
            "eval_name": run.name,
            "prompt": run.prompt,
            "configuration": with_skill(run),
            "run_number": run.repeat,
            "result": summary(run),
        }
        for run in runs
    ]
    return {f"{base}/benchmark.json": {"skill_name": "adding", "runs": rows}}


def benchmark_per_eval(base: str, runs: Sequence[TrueRun]) -> Files:
    table = {
        first.name: {
            **{with_skill(run): {"pass_rate": run.outcome, **timing(run)} for run in listed},
            "prompt": first.prompt,
        }
        for first, listed in by_eval(runs)
    }
    return {
        f"{base}/benchmark.json": {
            "skill_name": "adding",
            "per_eval": table,
            "overall": {"with_skill": 0.5, "without_skill": 0.4},
        }
    }


def benchmark_per_configuration(base: str, runs: Sequence[TrueRun]) -> Files:
    configs = [
        {
            "name": arm,
            "mean_pass_rate": 0.5,
            "evals": [
                {
                    "id": run.eval_id,
                    "name": run.name,
                    "prompt": run.prompt,
                    "passed": sum(run.marks),
                    "total": len(run.marks),
                }
                for run in runs
                if with_skill(run) == arm
            ],
        }
        for arm in ("with_skill", "without_skill")
    ]
    return {f"{base}/benchmark.json": {"skill": "adding", "configs": configs}}


def benchmark_with_results(base: str, runs: Sequence[TrueRun]) -> Files:
    evals = [
        {
            **metadata(first),
            "results": {with_skill(run): {"assertions": expectations(run), **timing(run)} for run in listed},
        }
        for first, listed in by_eval(runs)
    ]
    return {f"{base}/benchmark.json": {"skill_name": "adding", "evals": evals}}


def benchmark_flat(base: str, runs: Sequence[TrueRun]) -> Files:
    rows = []
    for first, listed in by_eval(runs):
        rates = {f"{with_skill(run)}_pass_rate": run.outcome for run in listed}
        rows.append(
            {"eval_id": first.eval_id, "eval_name": first.name, "prompt": first.prompt, **rates, "delta": "+0.1"}
        )
    return {f"{base}/benchmark.json": {"skill_name": "adding", "results": rows}}


def paired_benchmark(base: str, runs: Sequence[TrueRun]) -> Files:
    rows: list[dict[str, Any]] = []
    for first, listed in by_eval(runs):
        for repeat in sorted({run.repeat for run in listed}):
            arms = {
                with_skill(run): {
                    "assertion_results": expectations(run),
                    "execution_metrics": {"token_counts": {"input_tokens": run.tokens - 5, "output_tokens": 5}},
                    "timing": {"elapsed_seconds": run.seconds},
                }
                for run in listed
                if run.repeat == repeat
            }
            rows.append({"eval_id": first.name, "run_index": repeat, **arms, "delta_pass_rate": 0.0})
    definitions = [
        {"id": first.name, "prompt": first.prompt, "assertions": ["contains 'x'"]} for first, _ in by_eval(runs)
    ]
    return {
        f"{base}/evals/benchmark.json": {"skill_name": "adding", "runs": rows},
        f"{base}/evals/evals.json": definitions,
    }


def keyed_by_name(base: str, runs: Sequence[TrueRun]) -> Files:
    table = {
        f"eval-{first.eval_id}": {
            "name": first.name,
            "prompt": first.prompt,
            "arms": {
                "skill_on" if run.uses_skill else "skill_off": {"checks": expectations(run), **timing(run)}
                for run in listed
            },
        }
        for first, listed in by_eval(runs)
    }
    return {f"{base}/eval_report.json": table}


def json_lines(base: str, runs: Sequence[TrueRun]) -> Files:
    rows = [
        {
            "eval_name": run.name,
            "prompt": run.prompt,
            "arm": "with skill" if run.uses_skill else "no skill",
            "trial": run.repeat,
            "assertions": expectations(run),
            "total_tokens": run.tokens,
            "duration_seconds": run.seconds,
        }
        for run in runs
    ]
    return {f"{base}/graded_runs.jsonl": "\n".join(map(json.dumps, rows)) + "\n"}


def numbers_with_plus(base: str, runs: Sequence[TrueRun]) -> Files:
    (name, document), *_ = benchmark_with_verdicts(base, runs).items()
    text = json.dumps({**document, "delta": {"pass_rate": "PLUS"}}, indent=2).replace('"PLUS"', "+0.111")
    prompts = {"skill_name": "adding", "evals": [{"id": run.eval_id, "prompt": run.prompt} for run in runs]}
    return {name: text, f"{base}/evals.json": prompts}


DIALECTS: Mapping[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect("a folder per eval, arm and run", classic),
        Dialect("gradings among the outputs, baseline as arm", outputs_folder),
        Dialect("a folder per arm, the eval in the file name", arm_first, has_repeats=False),
        Dialect("the arm in the file name", arm_in_file_name, has_repeats=False),
        Dialect("control and treatment above the evals", arms_above),
        Dialect("0 and 1 for marks, skill and no-skill", numbers_for_marks),
        Dialect("on and off", weak_words),
        Dialect("everything in the file name", all_in_the_file_name),
        Dialect("a bare list of verdicts", bare_list),
        Dialect("counts without verdicts", counts_only),
        Dialect("everything in fields", words_in_fields),
        Dialect("arms with more folders below", nested_arms),
        Dialect("raw control characters", raw_control_characters),
        Dialect("both arms as keys of a grading", both_arms_as_keys, has_repeats=False),
        Dialect("runs inside a grading", runs_in_a_grading),
        Dialect("both arms in each assertion", arms_in_each_assertion, has_tokens=False, has_repeats=False),
        Dialect(
            "benchmark with verdicts", benchmark_with_verdicts, has_tokens=False, has_prompts=False, is_one_file=True
        ),
        Dialect("benchmark with counts", benchmark_with_counts, has_tokens=False, is_one_file=True),
        Dialect("benchmark per eval", benchmark_per_eval, has_repeats=False, is_one_file=True),
        Dialect(
            "benchmark per configuration",
            benchmark_per_configuration,
            has_tokens=False,
            has_repeats=False,
            is_one_file=True,
        ),
        Dialect("benchmark with results per arm", benchmark_with_results, has_repeats=False, is_one_file=True),
        Dialect("flat benchmark", benchmark_flat, has_tokens=False, has_repeats=False, is_one_file=True),
        Dialect("benchmark of pairs", paired_benchmark, is_one_file=True),
        Dialect("keyed by name", keyed_by_name, has_repeats=False, is_one_file=True),
        Dialect("JSON lines", json_lines, is_one_file=True),
        Dialect("benchmark with a plus sign", numbers_with_plus, has_tokens=False, is_one_file=True),
    )
}
