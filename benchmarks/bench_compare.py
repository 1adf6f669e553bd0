"""`compare` of two logs of 10,000 samples, against only reading them."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.figure import Figure, Peer
from benchmarks.timing import in_turns
from skilldelta.bank.importers import Defaults, read_any
from skilldelta.records import Condition
from skilldelta.studies import compare_sides, one_side, read_runs

SAMPLES = 10_000
_REPEATS = 1


def run() -> list[Figure]:
    """Rows of runs.jsonl, and Inspect logs where Inspect is installed."""
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        rows = _runs_files(Path(folder))
        figures.append(_figure("compare_two_runs_files", rows, "Two runs.jsonl of 10,000 tasks, one run each"))
        logs = _inspect_logs(Path(folder))
        if logs:
            figures.append(_figure("compare_two_inspect_logs", logs, "Two Inspect logs of 10,000 samples"))
    return figures


def _figure(name: str, paths: tuple[Path, Path], what: str) -> Figure:
    arms: tuple[Condition, Condition] = ("skip", "use")

    def read() -> None:
        for path, arm in zip(paths, arms, strict=True):
            read_any(path, stand_ins=Defaults("agent", "skill", condition=arm))

    def compare() -> None:
        a, b = (one_side(read_runs(path, stands_for=arm)) for path, arm in zip(paths, arms, strict=True))
        compare_sides(a, b)

    ours, bare = in_turns(compare, read, rounds=9)
    meaning = (
        f"{what} read and compared, with 10,000 bootstrap draws; processor seconds. To stay below 2× reading them."
    )
    return Figure(name, ours.cpu, "s", "lower", meaning, Peer("reading both", bare.cpu))


def _runs_files(folder: Path) -> tuple[Path, Path]:
    rng = np.random.default_rng(0)
    paths = folder / "a.jsonl", folder / "b.jsonl"
    for path, chance in zip(paths, (0.5, 0.55), strict=True):
        solved = rng.random(SAMPLES) < chance
        rows = (
            {
                "task_id": f"task {i // _REPEATS}",
                "text": f"Question number {i // _REPEATS}, which is as long as questions are.",
                "agent": "bench",
                "repetition": i % _REPEATS,
                "success": int(solved[i]),
                "tokens": int(rng.integers(100, 900)),
            }
            for i in range(SAMPLES)
        )
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return paths


def _inspect_logs(folder: Path) -> tuple[Path, Path] | None:
    try:
        from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
        from inspect_ai.model import ModelOutput, ModelUsage
        from inspect_ai.scorer import Score
    except ImportError:
        return None
    rng = np.random.default_rng(0)
    paths = folder / "a.eval", folder / "b.eval"
    for path, chance in zip(paths, (0.5, 0.55), strict=True):
        solved = rng.random(SAMPLES) < chance
        samples = [
            EvalSample(
                id=f"task {i // _REPEATS}",
                epoch=i % _REPEATS + 1,
                input=f"Question number {i // _REPEATS}, which is as long as questions are.",
                target="42",
                output=ModelOutput.from_content("mockllm/model", "42"),
                scores={"match": Score(value="C" if solved[i] else "I")},
                model_usage={"mockllm/model": ModelUsage(input_tokens=90, output_tokens=10, total_tokens=100)},
            )
            for i in range(SAMPLES)
        ]
        spec = EvalSpec(
            created="2026-01-01T00:00:00+00:00",
            task="bench",
            dataset=EvalDataset(),
            model="mockllm/model",
            config=EvalConfig(),
        )
        write_eval_log(EvalLog(eval=spec, status="success", samples=samples), path)
    return paths
