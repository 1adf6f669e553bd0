"""A whole evaluation at the paper's scale, the AUROC bootstrap against scikit-learn in a loop, and growth with tasks."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.metrics import roc_auc_score

from skilldelta.evaluation.leave_one_out import evaluate_panel
from skilldelta.evaluation.metrics import AurocOfDraws
from skilldelta.evaluation.resampling.draws import Design, count_draws
from skilldelta.support import Support

CONTROLS = (
    "always_off",
    "always_on",
    "random_matched",
    "skilldelta",
    "with_skill_only",
    "relevance",
    "tfidf_knn",
    "family_mean",
    "self_judge",
)
"""Every control except Ridge; the stack has a benchmark of its own."""


def run() -> dict[str, float]:
    """Figures of the evaluation."""
    return {**whole_evaluation(), **auroc_against_loop(), **growth()}


def whole_evaluation(tasks: int = 6_500) -> dict[str, float]:
    """All controls on 6,500 x 384 in a process of its own, without and with all intervals, and its peak memory."""
    script = "from benchmarks.bench_evaluation import _measure; _measure({})"
    done = subprocess.run([sys.executable, "-c", script.format(tasks)], capture_output=True, text=True, check=True)
    return {str(name): float(value) for name, value in json.loads(done.stdout).items()}


def _measure(tasks: int) -> None:
    import resource

    panel = make_panel(tasks)
    evaluate(panel, resamples=10)  # imports and first-use costs
    without = min(_timed(lambda: evaluate(panel, resamples=0)) for _ in range(3))
    with_all = _timed(lambda: evaluate(panel, resamples=10_000))
    figures = {
        "evaluate_s": without.wall,
        "evaluate_cpu_s": without.cpu,
        "evaluate_with_intervals_s": with_all.wall,
        "evaluate_with_intervals_cpu_s": with_all.cpu,
        "evaluate_peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(figures))


def auroc_against_loop(tasks: int = 6_500, draws: int = 10_000, looped: int = 100) -> dict[str, float]:
    """10,000 resampled AUROCs against `roc_auc_score` called on resampled tasks, its 100 draws scaled up."""
    rng = np.random.default_rng(0)
    positive = rng.random(tasks) < 0.3
    scores = np.round(rng.normal(size=tasks) + positive, 2)

    def loop() -> None:
        for _ in range(looped):
            drawn = rng.integers(0, tasks, tasks)
            roc_auc_score(positive[drawn], scores[drawn])

    def vectorised() -> None:
        area, design = AurocOfDraws(scores, positive), Design(tasks, np.arange(tasks))
        np.concatenate([area(counts) for counts in count_draws(design, draws, rng)])

    # Interleaved and in seconds of the processor, so that a busy machine slows both alike.
    times = [(_timed(vectorised).cpu, _timed(loop).cpu * draws / looped) for _ in range(3)]
    ours, loop_time = min(time for time, _ in times), min(time for _, time in times)
    return {
        "auroc_10000_draws_cpu_s": ours,
        "auroc_loop_cpu_s": loop_time,
        "auroc_times_faster": loop_time / ours,
        "auroc_largest_difference": _largest_difference(scores, positive),
    }


def _largest_difference(scores: np.ndarray, positive: np.ndarray, draws: int = 20) -> float:
    """Between our AUROC of a draw and scikit-learn's on the same resampled tasks."""
    design = Design(len(scores), np.arange(len(scores)))
    counts = np.concatenate(list(count_draws(design, draws, np.random.default_rng(1))))
    rows = [np.repeat(np.arange(len(scores)), count) for count in counts]
    expected = [roc_auc_score(positive[drawn], scores[drawn]) for drawn in rows]
    return float(np.abs(AurocOfDraws(scores, positive)(counts) - expected).max())


def growth(sizes: tuple[int, ...] = (10_000, 30_000, 100_000)) -> dict[str, float]:
    """Seconds at fixed family size with 100 resamples; linear growth keeps the time of 10,000 tasks the same."""
    figures = {}
    for size in sizes:
        panel = make_panel(size)
        seconds = _timed(lambda panel=panel: evaluate(panel, resamples=100)).cpu  # type: ignore[misc]
        figures[f"evaluate_{size // 1000}k_cpu_s"] = seconds
        figures[f"evaluate_{size // 1000}k_cpu_s_per_10k"] = seconds * 10_000 / size
    return figures


@dataclass(frozen=True)
class Answer:
    """A recorded self-judgement."""

    task_id: str
    skill_id: str
    use: bool
    tokens: float


@dataclass(frozen=True)
class Panel:
    """What an evaluation takes."""

    support: Support
    skill_texts: dict[str, str]
    answers: list[Answer]


def make_panel(tasks: int, *, dimension: int = 384, family: int = 250) -> Panel:
    """Families of 250 tasks with texts of 20 to 60 words, partly the family's own."""
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(4_000)])
    codes = np.arange(tasks) // family
    families = [f"family-{code}" for code in codes]
    vectors = rng.standard_normal((tasks, dimension), dtype=np.float32)
    vectors += 2 * rng.standard_normal((codes[-1] + 1, dimension), dtype=np.float32)[codes]
    own = rng.integers(4_000, size=(codes[-1] + 1, 60))
    texts = [_text(rng, words, own[code]) for code in codes]
    effect = rng.normal(0.1, 0.2, codes[-1] + 1)[codes]
    support = Support.from_arrays(
        task_ids=[f"task-{i}" for i in range(tasks)],
        families=families,
        skills=families,
        vectors=vectors,
        y0=rng.random(tasks) < 0.5,
        y1=rng.random(tasks) < 0.5 + effect,
        tokens0=rng.integers(200, 2_000, tasks),
        tokens1=rng.integers(400, 4_000, tasks),
        texts=texts,
        agent="agent",
        suite="suite",
    )
    answers = [Answer(f"task-{i}", families[i], bool(rng.random() < 0.9), 300.0) for i in range(tasks)]
    return Panel(support, {name: _text(rng, words, own[int(name[7:])]) * 5 for name in set(families)}, answers)


def _text(rng: np.random.Generator, words: np.ndarray, own: np.ndarray) -> str:
    length = int(rng.integers(20, 60))
    return " ".join([*words[rng.choice(own, length // 2)], *words[rng.integers(len(words), size=length // 2)]])


def evaluate(panel: Panel, *, resamples: int) -> None:
    """All controls."""
    evaluate_panel(
        panel.support,
        policies=CONTROLS,
        rng=np.random.default_rng(0),
        resamples=resamples,
        skill_texts=panel.skill_texts,
        judgements=panel.answers,
    )


class Seconds(NamedTuple):
    """By the clock, and of the processor (all threads)."""

    wall: float
    cpu: float


def _timed(work: Callable[[], object]) -> Seconds:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Seconds(time.perf_counter() - wall, time.process_time() - cpu)
