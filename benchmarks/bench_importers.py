"""Reading other tools' results into records, against reading and parsing the same files as JSON."""

from __future__ import annotations

import json
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.figure import Figure, Peer
from benchmarks.timing import in_turns, launch, medians_in_turns
from skilldelta.bank.importers import Defaults, read_any

RUNS = 10_000
SHOWN_RUNS = 100
_EXPECTATIONS = 6
_WORDS = [f"word{i}" for i in range(2_000)]


def run() -> list[Figure]:
    """10,000 runs of a skill-creator workspace, an Inspect log with 10,000 samples, and the screen of 100 runs."""
    with tempfile.TemporaryDirectory() as folder:
        return [
            _workspace(Path(folder) / "many" / "adding-workspace"),
            _inspect_log(Path(folder) / "samples.eval"),
            _skills_screen(Path(folder) / "few" / "adding-workspace"),
        ]


def _skills_screen(folder: Path, runs: int = SHOWN_RUNS) -> Figure:
    write_workspace(folder, runs)
    command = [sys.executable, "-m", "skilldelta"]
    skills = launch([*command, "skills", str(folder)])
    compare = launch([*command, "compare", str(folder)])
    ours, bare = medians_in_turns(skills, compare, rounds=5)
    return Figure(
        "skills_screen",
        ours,
        "s",
        "lower",
        f"`skilldelta skills PATH` on a workspace of {runs} runs: from the start of the process to its end.",
        Peer("skilldelta compare of the same", bare),
    )


def _workspace(folder: Path, runs: int = RUNS) -> Figure:
    files = write_workspace(folder, runs)

    def parse() -> None:
        for path in files:
            with open(path, "rb") as file:
                json.loads(file.read())

    ours, bare = in_turns(lambda: read_any(folder, Defaults(agent="me")), parse, rounds=3)
    return Figure(
        "skill_creator_runs",
        runs / ours.cpu,
        "per s",
        "higher",
        "Runs of a skill-creator workspace (two files each) recognized, read, checked for changes and joined, per processor second.",
        Peer("open, read and json.loads of the same files", runs / bare.cpu),
    )


def _inspect_log(path: Path, samples: int = RUNS) -> Figure:
    write_inspect_log(path, samples)

    def parse() -> None:
        with zipfile.ZipFile(path) as archive:
            for member in archive.infolist():
                json.loads(archive.read(member))

    ours, bare = in_turns(lambda: read_any(path, Defaults(skill="adding")), parse, rounds=3)
    return Figure(
        "inspect_samples",
        samples / ours.cpu,
        "per s",
        "higher",
        "Samples of an Inspect log (.eval) read and joined, per processor second.",
        Peer("json.loads of every member", samples / bare.cpu),
    )


def write_workspace(folder: Path, runs: int) -> list[str]:
    """A workspace with as many runs, ten in each arm of an eval; returns its JSON files."""
    rng = np.random.default_rng(0)
    files: list[str] = []

    def write(path: Path, document: Any) -> None:
        path.write_text(json.dumps(document, indent=2), encoding="utf-8")
        files.append(str(path))

    for number in range(runs // 20):
        eval_folder = folder / "iteration-1" / f"eval-{number}"
        for arm in ("with_skill", "without_skill"):
            for repeat in range(1, 11):
                run_folder = eval_folder / arm / f"run-{repeat}"
                run_folder.mkdir(parents=True)
                write(run_folder / "grading.json", _grading(rng))
                write(run_folder / "timing.json", {"total_tokens": int(rng.integers(9_000)), "duration_ms": 900})
        prompt = " ".join(_WORDS[j] for j in rng.integers(2_000, size=60))
        write(eval_folder / "eval_metadata.json", {"eval_id": number, "eval_name": f"case {number}", "prompt": prompt})
    return files


def _grading(rng: np.random.Generator) -> dict[str, Any]:
    marks = rng.integers(2, size=_EXPECTATIONS).tolist()
    evidence = " ".join(_WORDS[j] for j in rng.integers(2_000, size=25))
    return {
        "expectations": [
            {"text": f"has part {i}", "passed": bool(m), "evidence": evidence} for i, m in enumerate(marks)
        ],
        "summary": {"passed": sum(marks), "failed": _EXPECTATIONS - sum(marks), "total": _EXPECTATIONS},
        "execution_metrics": {"tool_calls": {"Read": 3, "Bash": 4}, "total_tool_calls": 7, "output_chars": 12_450},
        "timing": {"executor_duration_seconds": 100.0, "total_duration_seconds": 130.0},
    }


def write_inspect_log(path: Path, samples: int) -> None:
    """A log with as many samples, each a question and an answer, written by Inspect."""
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalSample, EvalSpec, write_eval_log
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput, ModelUsage
    from inspect_ai.scorer import Score

    rng = np.random.default_rng(0)
    usage = ModelUsage(input_tokens=100, output_tokens=50, total_tokens=150)
    listed = []
    for number in range(samples):
        text = " ".join(_WORDS[j] for j in rng.integers(2_000, size=60))
        answer = " ".join(_WORDS[j] for j in rng.integers(2_000, size=120))
        listed.append(
            EvalSample(
                id=f"sample-{number}",
                epoch=1,
                input=text,
                target="yes",
                messages=[ChatMessageUser(content=text), ChatMessageAssistant(content=answer)],
                output=ModelOutput.from_content("bench/model", answer),
                scores={"match": Score(value="C" if rng.integers(2) else "I", answer=answer, explanation=answer)},
                metadata={"family": f"f{number % 20}"},
                model_usage={"bench/model": usage},
                total_time=1.0,
            )
        )
    spec = EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="bench",
        dataset=EvalDataset(),
        model="bench/model",
        config=EvalConfig(),
        metadata={"arm": "with_skill"},
    )
    write_eval_log(EvalLog(status="success", eval=spec, samples=listed), str(path))
