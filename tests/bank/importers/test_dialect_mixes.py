"""From random runs in a random mix of dialects the reader recovers the runs, or says what it did not read.

Never a run twice, never an arm swapped, never a version merged with another.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skilldelta.bank.importers import Defaults, read_any

from .dialects import DIALECTS, Dialect, Files, TrueRun
from .layouts import write_tree

ME = Defaults(agent="me", skill="adding")
_NAMES = (
    "carry-the-one",
    "baseline-report",
    "control-plane-sum",
    "with-borrowing",
    "vanilla-page",
    "skill-audit",
    "run-length",
)
_SEPARATE = [dialect for dialect in DIALECTS.values() if not dialect.is_one_file]
_TOGETHER = [dialect for dialect in DIALECTS.values() if dialect.is_one_file]
Run = tuple[str, str, str, float, float | None]


@st.composite
def workspaces(draw: st.DrawFn) -> tuple[list[tuple[TrueRun, Dialect]], Files]:
    """Runs of a few iterations, each evaluation of an iteration in a dialect of its own."""
    names = draw(st.lists(st.sampled_from(_NAMES), min_size=1, max_size=4, unique=True))
    counts = {name: draw(st.integers(1, 4)) for name in names}
    written: list[tuple[TrueRun, Dialect]] = []
    files: Files = {}
    tokens = draw(st.integers(1000, 9000))
    for iteration in range(1, draw(st.integers(1, 3)) + 1):
        together = draw(st.sampled_from([None, *_TOGETHER]))
        shared: list[TrueRun] = []
        for eval_id, name in enumerate(names, start=1):
            dialect = draw(st.sampled_from(_SEPARATE)) if together is None or draw(st.booleans()) else together
            arms = draw(st.sampled_from([(True, False), (True, False), (True,)]))
            own = []
            for uses_skill in arms:
                for repeat in range(draw(st.integers(1, 2)) if dialect.has_repeats else 1):
                    marks = tuple(draw(st.lists(st.booleans(), min_size=counts[name], max_size=counts[name])))
                    tokens += draw(st.integers(1, 500))
                    run = TrueRun(
                        eval_id, name, f"Please do {name}.", uses_skill, marks, repeat, tokens, tokens / 8, iteration
                    )
                    own.append(run)
            if dialect.name in ("on and off", "0 and 1 for marks, skill and no-skill") and len(arms) == 1:
                continue  # one weak word alone says nothing, and is reported
            if (
                dialect.name in ("both arms in each assertion", "flat benchmark", "benchmark per eval")
                and len(arms) == 1
            ):
                continue  # these write pairs only
            written += [(run, dialect) for run in own]
            if dialect.is_one_file:
                shared += own
            else:
                files |= dialect.write(f"adding-workspace/iteration-{iteration}", own)
        if shared and together is not None:
            files |= together.write(f"adding-workspace/iteration-{iteration}", shared)
    return written, files


def as_written(run: TrueRun, dialect: Dialect) -> Run:
    condition = "use" if run.uses_skill else "skip"
    iteration = f"iteration-{run.iteration}" if run.uses_skill else ""
    return (run.name, condition, iteration, round(run.outcome, 6), float(run.tokens) if dialect.has_tokens else None)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(workspaces())
def test_a_mix_of_dialects_gives_each_run_once_in_its_arm_or_says_what_was_not_read(
    workspace: tuple[list[tuple[TrueRun, Dialect]], Files],
) -> None:
    written, files = workspace
    if not written:
        return
    with tempfile.TemporaryDirectory() as folder:
        reading = read_any(write_tree(Path(folder), files), ME)
    names = {f"Please do {name}.": name for name in _NAMES}
    tasks = {(task.suite, task.task_id): names.get(task.text, task.task_id) for task in reading.tasks}
    versions = {run.iteration for run, _ in written if run.uses_skill}
    recovered: Counter[Run] = Counter()
    for run in reading.executions:
        if run.condition == "skip" and run.skill_id:
            continue  # a baseline once more, for a version that was graded otherwise
        # The only version there is needs no name.
        is_only = run.condition == "use" and not run.skill_digest and len(versions) == 1
        iteration = f"iteration-{next(iter(versions))}" if is_only else run.skill_digest
        task = tasks[run.suite, run.task_id].removeprefix("eval-")
        recovered[(task, run.condition, iteration, round(run.success or 0.0, 6), run.tokens)] += 1
    expected = Counter(as_written(run, dialect) for run, dialect in written)
    extra = recovered - expected
    assert not extra, f"runs that nobody wrote: {extra}; written and not read: {expected - recovered}"
    missing = expected - recovered
    reported = sum(len(omission) for omission in reading.left_out)
    assert sum(missing.values()) <= reported, f"disappeared without a word: {missing}"
