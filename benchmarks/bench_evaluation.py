"""A whole evaluation at the paper's scale, the AUROC bootstrap against scikit-learn in a loop, and growth with tasks."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.metrics import roc_auc_score

from benchmarks.figure import Figure, Peer
from benchmarks.timing import in_turns, timed
from skilldelta.evaluation.leave_one_out import evaluate_panel
from skilldelta.evaluation.metrics import AurocOfDraws
from skilldelta.evaluation.resampling.bootstrap import Design, count_draws
from skilldelta.records import Agent, Judgement
from skilldelta.support import Support

CONTROLS = (
    "always_off",
    "always_on",
    "random_matched",
    "paper",
    "with_skill_only",
    "relevance",
    "tfidf_knn",
    "family_mean",
    "self_judge",
)
"""Every control except Ridge; the blend has a benchmark of its own."""


def run() -> list[Figure]:
    """Figures of the evaluation."""
    return [*whole_evaluation(), *auroc_against_loop(), *growth()]


def whole_evaluation(tasks: int = 6_500) -> list[Figure]:
    """All controls on 6,500 x 384 in a process of its own, without and with all intervals, and its peak memory."""
    script = "from benchmarks.bench_evaluation import _measure; _measure({})"
    done = subprocess.run([sys.executable, "-c", script.format(tasks)], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    what = f"All controls but Ridge on {tasks:,} tasks"
    return [
        Figure("evaluate", found["plain"], "s", "lower", f"{what}, without intervals (processor time)."),
        Figure(
            "evaluate_with_intervals",
            found["intervals"],
            "s",
            "lower",
            f"{what}, with 10,000 resamples (processor time).",
            Peer("without intervals", found["plain"]),
        ),
        Figure(
            "evaluate_memory",
            found["peak_mb"],
            "MB",
            "lower",
            "Peak of the whole process.",
            Peer("the vectors alone", tasks * 384 * 4 / 1e6),
        ),
    ]


def _measure(tasks: int) -> None:
    import resource

    panel = make_panel(tasks)
    evaluate(panel, resamples=10)  # imports and first-use costs
    figures = {
        "plain": min(timed(lambda: evaluate(panel, resamples=0)).cpu for _ in range(3)),
        "intervals": timed(lambda: evaluate(panel, resamples=10_000)).cpu,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(figures))


def auroc_against_loop(tasks: int = 6_500, draws: int = 10_000, looped: int = 100) -> list[Figure]:
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

    ours, looping = in_turns(vectorised, loop, rounds=3)
    return [
        Figure(
            "auroc_intervals",
            ours.cpu,
            "s",
            "lower",
            f"{draws:,} resampled AUROCs of {tasks:,} tasks (processor time).",
            Peer("scikit-learn in a loop", looping.cpu * draws / looped),
        ),
        Figure(
            "auroc_difference",
            _largest_difference(scores, positive),
            "points",
            "lower",
            "Largest difference from scikit-learn on the same resampled tasks; rounding is all there should be.",
        ),
    ]


def _largest_difference(scores: np.ndarray, positive: np.ndarray, draws: int = 20) -> float:
    """Between our AUROC of a draw and scikit-learn's on the same resampled tasks."""
    design = Design(len(scores), np.arange(len(scores)))
    counts = np.concatenate(list(count_draws(design, draws, np.random.default_rng(1))))
    rows = [np.repeat(np.arange(len(scores)), count) for count in counts]
    expected = [roc_auc_score(positive[drawn], scores[drawn]) for drawn in rows]
    return float(np.abs(AurocOfDraws(scores, positive)(counts) - expected).max())


def growth(small: int = 10_000, large: int = 100_000) -> list[Figure]:
    """Families of a fixed size and 100 resamples; where time grows in line with tasks, the ratio is 1."""
    seconds = [timed(partial(evaluate, make_panel(size), resamples=100)).cpu * small / size for size in (small, large)]
    meaning = f"Processor time per {small:,} tasks in a panel of {large:,}; a ratio of 1 is linear growth."
    return [Figure("evaluate_growth", seconds[1], "s", "lower", meaning, Peer(f"panel of {small:,}", seconds[0]))]


@dataclass(frozen=True)
class Panel:
    """What an evaluation takes."""

    support: Support
    skill_texts: dict[str, str]
    answers: list[Judgement]


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
    answers = [
        Judgement(Agent("agent"), "suite", f"task-{i}", families[i], "", bool(rng.random() < 0.9), 300.0)
        for i in range(tasks)
    ]
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
