"""The gate against what people have: the harness lists the skill, and the model chooses.

Three things are read off the third arm of a collection: how often the model loads the skill when it should and when it
should not, what listing the skill and loading it are worth, and whether the gate does better. In a harness a gate that
does not use a skill denies it only where it is sure of harm. Everywhere else it keeps its hands off, which is worth what
the listed arm shows. Where that was not collected, it is worth something between never and always using the skill.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from skilldelta.arrays import Flags, Floats, exceeds
from skilldelta.estimators.base import Needs
from skilldelta.evaluation.metrics import Share
from skilldelta.evaluation.task_mean import DRAWS, TaskMean, task_mean
from skilldelta.gate import Gate
from skilldelta.nouns import plural
from skilldelta.pairing import is_counted
from skilldelta.records import Execution
from skilldelta.report.numbers import certainty, percent, points
from skilldelta.studies.loaded_panel import LoadedPanel

# The level of the interval that makes a decision sure.
_SURE = 0.95


@dataclass(frozen=True, slots=True)
class StatusQuo:
    """What the model does with a skill that its harness lists, over the tasks of which it is known."""

    tasks: int
    runs: int
    other_version: int
    """Runs of another version of the skill than the pairs, which are left out."""
    unknown_loads: int
    """Runs of which nobody knows whether the skill was loaded."""
    loaded_when_helpful: Share
    """Runs that loaded the skill, of those on tasks where it helped."""
    loaded_when_harmful: Share
    loaded_otherwise: Share
    """Of those on tasks where it made no difference."""
    off: float
    on: float
    listed: float
    offered: TaskMean
    """What listing the skill is worth: success of the arm above that without the skill."""
    loaded: TaskMean
    """The same over the runs that loaded it."""


@dataclass(frozen=True, slots=True)
class InHarness:
    """What the gate is worth in a harness."""

    tasks: int
    used: Share
    denied: Share
    """Pairs where it is sure of harm, so that the model's own call is denied."""
    hands_off: Share
    as_off: float
    """Success over all pairs if hands off is worth no skill, where the listed arm was not collected."""
    as_on: float
    """The same if it is worth the skill."""
    status_quo: StatusQuo | None
    """None where the listed arm was not collected."""
    gate: float | None
    """Success of the gate on the tasks of the listed arm."""
    gate_vs_listed: TaskMean | None


def status_quo(panel: LoadedPanel, skill: str | None = None, *, seed: int = 0, draws: int = DRAWS) -> StatusQuo | None:
    """What the listed arm of a panel shows, of one skill or of all; None where it was not collected.

    Examples:
        >>> status_quo(panel) is None
        True
    """
    runs, others = _runs_by_row(panel)
    support = panel.support
    rows = np.array(
        [row for row in sorted(runs) if skill is None or support.skills[row] == skill],
        np.int64,
    )
    if not len(rows):
        return None
    means = np.array([_mean_success(runs[row]) for row in rows.tolist()])
    of_loaded = {row: [run for run in runs[row] if run.loaded] for row in rows.tolist()}
    loaded_rows = np.array([row for row in rows.tolist() if of_loaded[row]], np.int64)
    loaded_means = np.array([_mean_success(of_loaded[row]) for row in loaded_rows.tolist()])
    rng = np.random.default_rng(seed)

    def loads(chosen: Flags) -> Share:
        known = [run.loaded for row in rows[chosen].tolist() for run in runs[row] if run.loaded is not None]
        return Share.counted(sum(known), len(known))

    gains = support.gains[rows]
    every_run = [run for row in rows.tolist() for run in runs[row]]
    return StatusQuo(
        tasks=len(np.unique(support.task_ids[rows])),
        runs=len(every_run),
        other_version=sum(count for name, count in others.items() if skill in (None, name)),
        unknown_loads=sum(run.loaded is None for run in every_run),
        loaded_when_helpful=loads(gains > 0),
        loaded_when_harmful=loads(gains < 0),
        loaded_otherwise=loads(gains == 0),
        off=float(support.y0[rows].mean()),
        on=float(support.y1[rows].mean()),
        listed=float(means.mean()),
        offered=_over_tasks(panel, rows, means - support.y0[rows], rng, draws),
        loaded=_over_tasks(panel, loaded_rows, loaded_means - support.y0[loaded_rows], rng, draws),
    )


def in_harness(panel: LoadedPanel, gate: Gate, uses: Flags, *, seed: int = 0, draws: int = DRAWS) -> InHarness:
    """What a gate is worth in a harness.

    Parameters:
        panel: The recorded pairs, with the listed arm where it was collected.
        gate: What decides.
        uses: (n,) the gate's own decision on every pair, each from other tasks.
    """
    support = panel.support
    denied = ~uses & _sure_of_harm(panel, gate)
    hands_off = ~uses & ~denied
    decided = np.where(uses, support.y1, support.y0)
    as_off, as_on = decided.copy(), np.where(hands_off, support.y1, decided)
    runs, _ = _runs_by_row(panel)
    rows = np.array(sorted(runs), np.int64)
    gate_success, versus = None, None
    if len(rows):
        listed = np.array([_mean_success(runs[row]) for row in rows.tolist()])
        left_alone = hands_off[rows]
        as_off[rows[left_alone]] = as_on[rows[left_alone]] = listed[left_alone]
        gate_success = float(as_off[rows].mean())
        versus = _over_tasks(panel, rows, as_off[rows] - listed, np.random.default_rng(seed), draws)
    return InHarness(
        tasks=len(np.unique(support.task_ids)),
        used=Share.counted(int(uses.sum()), len(uses)),
        denied=Share.counted(int(denied.sum()), len(uses)),
        hands_off=Share.counted(int(hands_off.sum()), len(uses)),
        as_off=float(as_off.mean()),
        as_on=float(as_on.mean()),
        status_quo=status_quo(panel, seed=seed, draws=draws),
        gate=gate_success,
        gate_vs_listed=versus,
    )


def status_quo_words(measured: StatusQuo) -> list[str]:
    """What the listed arm shows, a sentence each."""
    shares = [
        f"{share.count} of {share.of} runs where {words}"
        for share, words in (
            (measured.loaded_when_helpful, "it helps"),
            (measured.loaded_when_harmful, "it harms"),
            (measured.loaded_otherwise, "it makes no difference"),
        )
        if share.of
    ]
    unknown = f"; of {plural(measured.unknown_loads, 'run')} nobody knows" if measured.unknown_loads else ""
    loads = (
        f"the model loads the skill in {', '.join(shares)}{unknown}" if shares else "which runs loaded it is not known"
    )
    where = f"{plural(measured.tasks, 'task')}, {plural(measured.runs, 'run')}"
    loaded = f", loading it {_points(measured.loaded)}" if measured.loaded.tasks else ""
    sentences = [
        f"the harness lists the skill and the model chooses ({where}): {loads}",
        f"success {percent(measured.listed)} listed, {percent(measured.off)} without, {percent(measured.on)} with it: "
        f"listing it is worth {_points(measured.offered)}{loaded}",
    ]
    if measured.other_version:
        sentences.append(f"{plural(measured.other_version, 'run')} of another version of the skill left out")
    return sentences


def in_harness_words(measured: InHarness) -> list[str]:
    """What the gate is worth in a harness, a sentence each."""
    acts = f"in a harness the gate uses the skill on {percent(measured.used.rate, 0)} of pairs"
    acts += f", denies it on {percent(measured.denied.rate, 0)} (sure of harm) and leaves the rest to the model"
    versus = measured.gate_vs_listed
    if measured.status_quo is None or versus is None:
        between = (
            f"{percent(measured.as_off)} if that is worth no skill, {percent(measured.as_on)} if it is worth the skill"
        )
        return [f"{acts}: success {between}; collect --listed measures which"]
    worth = f"success {percent(measured.gate)}, {_points(versus)} against the model choosing"
    return [*status_quo_words(measured.status_quo), f"{acts}: {worth}"]


def _points(mean: TaskMean) -> str:
    return f"{points(mean.mean)} points over {plural(mean.tasks, 'task')}{certainty(mean.interval, as_points=True)}"


def status_quo_document(measured: StatusQuo) -> dict[str, Any]:
    """A status quo as it stands in JSON."""
    document = asdict(measured)
    for name in ("loaded_when_helpful", "loaded_when_harmful", "loaded_otherwise"):
        document[name]["rate"] = getattr(measured, name).rate
    return {**document, "offered": _mean_document(measured.offered), "loaded": _mean_document(measured.loaded)}


def in_harness_document(measured: InHarness) -> dict[str, Any]:
    """What a gate is worth in a harness, as it stands in JSON."""
    document = asdict(measured)
    for name in ("used", "denied", "hands_off"):
        document[name]["rate"] = getattr(measured, name).rate
    versus = measured.gate_vs_listed
    return {
        **document,
        "status_quo": None if measured.status_quo is None else status_quo_document(measured.status_quo),
        "gate_vs_listed": None if versus is None else _mean_document(versus),
    }


def _mean_document(mean: TaskMean) -> dict[str, Any]:
    return {"mean": mean.mean if mean.tasks else None, "tasks": mean.tasks, "interval": asdict(mean.interval)}


def _runs_by_row(panel: LoadedPanel) -> tuple[dict[int, list[Execution]], Mapping[str, int]]:
    """The counted runs of the listed arm by the row of their pair, and how many of each skill are of another version."""
    versions = {(pair.task_id, pair.skill_id): pair.skill_digest for pair in panel.pairing.pairs}
    support = panel.support
    row_of = {(str(support.task_ids[row]), str(support.skills[row])): row for row in range(len(support))}
    runs: dict[int, list[Execution]] = {}
    others: dict[str, int] = {}
    for run in filter(is_counted, panel.listed):
        key = (run.task_id, run.skill_id)
        if key not in row_of:
            continue
        if run.skill_digest not in ("", versions.get(key, "")):
            others[run.skill_id] = others.get(run.skill_id, 0) + 1
            continue
        runs.setdefault(row_of[key], []).append(run)
    return runs, others


def _mean_success(runs: Sequence[Execution]) -> float:
    return sum(run.success or 0.0 for run in runs) / len(runs)


def _over_tasks(panel: LoadedPanel, rows: Any, differences: Floats, rng: np.random.Generator, draws: int) -> TaskMean:
    """The mean over tasks; a task that was run under several skills counts once, with their mean."""
    tasks = panel.support.task_codes[rows]
    names, place = np.unique(tasks, return_inverse=True)
    sums = np.bincount(place, weights=differences, minlength=len(names))
    counts = np.maximum(np.bincount(place, minlength=len(names)), 1)
    return task_mean(sums / counts, rng, draws=draws)


def _sure_of_harm(panel: LoadedPanel, gate: Gate) -> Flags:
    """(n,) whether the whole interval of a pair's gain lies at or below the threshold."""
    needs = Needs(gate.settings, gate.scope, panel.skill_texts)
    decisions = replace(gate, rule="three-way", level=_SURE).leave_one_out(panel.support, needs)
    assert decisions.high is not None  # the three-way rule needs the ends of intervals
    result: Flags = decisions.supported & ~decisions.unlike & ~exceeds(decisions.high, decisions.thresholds)
    return result
