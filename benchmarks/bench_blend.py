"""A warm decision of the blend against one of the paper's rule, and learning its weights on 6,500 and 100,000 tasks.

Limits: a warm decision at most 5 times one of the paper's rule on the same bank, learning at most 30 s on 6,500 tasks,
10 minutes and 4 GB on 100,000. Learning is given in processor seconds, which a shared machine does not stretch.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from benchmarks.figure import Figure, Peer
from benchmarks.timing import timed
from skilldelta.estimators.base import Target
from skilldelta.estimators.blend import Blend
from skilldelta.estimators.paper_rule import PaperRule
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.support import Support


def run() -> list[Figure]:
    """Figures of the blend."""
    return [*warm_decision(), *growth(), *learning(6_500, 27), *learning(100_000, 100)]


def warm_decision(tasks: int = 6_500, families: int = 26, rounds: int = 9) -> list[Figure]:
    """Scores of new targets, both estimators fitted to the same support; the vectors are given to both."""
    support = _real_sized(tasks, families)
    blend, rule = Blend().fit(support), PaperRule().fit(support)
    targets = [_target(support, row) for row in range(0, tasks, tasks // 120)]
    ours, papers = _best_of(blend.score, rule.score, targets, rounds)
    meaning = f"A new task scored by a blend fitted to {tasks:,} tasks."
    return [Figure("blend_decision", 1e6 * ours, "µs", "lower", meaning, Peer("the paper's rule", 1e6 * papers))]


def growth(tasks: int = 6_500) -> list[Figure]:
    """Ten new pairs join a fitted blend, against fitting it anew, each up to its first decision."""
    support = _real_sized(tasks, 26)
    fitted, target = Blend().fit(support.rows(np.arange(tasks - 10))), _target(support, 0)
    fitted.score(target)
    grown = timed(lambda: fitted.grown(support).score(target)).cpu
    anew = timed(lambda: Blend().fit(support).score(target)).cpu
    meaning = "Ten new pairs join a fitted blend, up to its next score (processor time)."
    return [Figure("ten_pairs_join", grown, "s", "lower", meaning, Peer("fitting anew", anew))]


_LEARNING_SCRIPT = """
import json, resource, sys, time
from benchmarks.bench_blend import _real_sized
from skilldelta.estimators.blend import Blend
support = _real_sized(int(sys.argv[1]), int(sys.argv[2]))
figures = {}
for name, learn in (("fit", Blend().fit), ("leave_one_out", Blend().leave_one_out)):
    started = time.process_time()
    learn(support)
    figures[name] = time.process_time() - started
figures["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
print(json.dumps(figures))
"""


def learning(tasks: int, families: int) -> list[Figure]:
    """Learning the weights, plainly and nested, in a process of its own so that its peak memory is its own."""
    command = [sys.executable, "-c", _LEARNING_SCRIPT, str(tasks), str(families)]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    size, what = f"{tasks / 1000:g}k", f"{tasks:,} tasks"
    return [
        Figure(f"learning_{size}", found["fit"], "s", "lower", f"Fitting the blend to {what} (processor time)."),
        Figure(
            f"nested_learning_{size}",
            found["leave_one_out"],
            "s",
            "lower",
            f"Leave-one-task-out of {what}, weights included (processor time).",
            Peer("fitting once", found["fit"]),
        ),
        Figure(f"learning_{size}_memory", found["peak"], "GB", "lower", "Peak of the process that did both."),
    ]


def _real_sized(tasks: int, families: int) -> Support:
    """A simulated panel with vectors of the default encoder's length and questions of about 50 words."""
    rng = np.random.default_rng(0)
    support = simulate_panel(rng, tasks=tasks, families=families, dimension=256, kind="mixed").support
    words = np.array([f"word{i}" for i in range(5_000)])
    fillers = words[np.minimum(rng.zipf(1.4, size=(tasks, 45)), len(words)) - 1]
    texts = tuple(f"{text} {' '.join(more)}" for text, more in zip(support.texts, fillers, strict=True))
    return Support.from_arrays(
        task_ids=support.task_ids,
        families=support.families,
        skills=support.skills,
        vectors=support.vectors,
        y0=support.y0,
        y1=support.y1,
        texts=texts,
    )


def _target(support: Support, row: int) -> Target:
    """A new task that looks like a recorded one."""
    return Target(support.vectors[row], support.texts[row], str(support.families[row]), str(support.skills[row]))


def _best_of(
    ours: Callable[[Target], object], theirs: Callable[[Target], object], targets: list[Target], rounds: int
) -> tuple[float, float]:
    """Median over targets of the best of several rounds, the two taking turns."""
    best = np.full((2, len(targets)), np.inf)
    for _ in range(rounds + 1):
        for j, target in enumerate(targets):
            for i, score in enumerate((ours, theirs)):
                started = time.perf_counter()
                score(target)
                best[i, j] = min(best[i, j], time.perf_counter() - started)
    return float(np.median(best[0])), float(np.median(best[1]))
