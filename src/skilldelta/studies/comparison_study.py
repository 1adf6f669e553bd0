"""A task-level paired comparison of two sides: what they share is compared, what they do not is counted by reason.

A run that failed to happen (a transport error, a crash of the grader) is never a failure of its side. A task that only
one side has, or whose runs on one side do not count, is unpaired and named. So is a task whose text differs between the
sides, unless that is allowed: the same id does not make it the same task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from operator import attrgetter
from typing import Any

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.errors import InputError
from skilldelta.evaluation.accounting import UNITS, Unit
from skilldelta.evaluation.paired_comparison import PairedComparison, PairedRuns, compare_runs
from skilldelta.evaluation.results import MARGIN
from skilldelta.nouns import plural
from skilldelta.pairing import is_counted, not_counted_because
from skilldelta.records import Execution, Task
from skilldelta.report.comparison_words import ComparisonReport
from skilldelta.studies.compared_side import ComparedSide, TaskKey

# Share of a side's runs that are not counted, from which on the comparison carries a warning.
_MUCH = 0.25


@dataclass(frozen=True, slots=True)
class ComparisonSettings:
    """What a comparison depends on besides its two sides."""

    margin: float = MARGIN
    """Differences of success below this count as none in the verdict."""
    resamples: int = 10_000
    level: float = 0.95
    seed: int = 0
    allow_changed_tasks: bool = False
    """Pair tasks of the same id whose texts differ."""


DEFAULT_COMPARISON = ComparisonSettings()


@dataclass(frozen=True, slots=True)
class UnpairedTask:
    """A task that is not compared, and why."""

    task_id: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class ComparedSides:
    """The comparison, and everything that was left out of it."""

    a: ComparedSide
    b: ComparedSide
    comparison: PairedComparison
    unpaired: tuple[UnpairedTask, ...]
    uncounted_a: Mapping[str, int]
    """Runs that are not counted, by status."""
    uncounted_b: Mapping[str, int]
    warnings: tuple[str, ...]
    """What makes the two sides hard to compare, in words."""

    @property
    def unpaired_by_reason(self) -> dict[str, int]:
        """How many tasks are unpaired, for each reason."""
        return dict(Counter(task.reason for task in self.unpaired))


def compare_sides(a: ComparedSide, b: ComparedSide, settings: ComparisonSettings = DEFAULT_COMPARISON) -> ComparedSides:
    """B against A on the tasks that both have counted runs of.

    Parameters:
        a: The side that is compared with.
        b: The side that is judged.
        settings: Draws, confidence and margin.

    Returns:
        The differences task by task, and the verdict.

    Examples:
        >>> found = compare_sides(*both_arms(bank_runs(bank)))
        >>> round(found.comparison.mean.mean, 3), found.comparison.verdict
        (0.125, 'not enough evidence')
    """
    counted_a, counted_b = _matched(a, b)
    shared, unpaired = _paired(counted_a, counted_b, settings)
    if not shared:
        raise InputError(f"{a.label} and {b.label} share no task with counted runs{_why(unpaired)}")
    runs = _paired_runs(shared, counted_a, counted_b)
    rng = np.random.default_rng(settings.seed)
    comparison = compare_runs(runs, rng, margin=settings.margin, draws=settings.resamples, level=settings.level)
    uncounted_a, uncounted_b = _uncounted(a), _uncounted(b)
    warnings = (*_agent_warning(a, b), *_loss_warnings(a, uncounted_a), *_loss_warnings(b, uncounted_b))
    return ComparedSides(a, b, comparison, tuple(unpaired), uncounted_a, uncounted_b, warnings)


def comparison_report(compared: ComparedSides, *, command: str = "", created: str = "") -> ComparisonReport:
    """The comparison as pages and comments say it.

    Parameters:
        compared: From `compare_sides`.
        command: Printed under "how it was made".
        created: The time, printed there too.

    Returns:
        What `report.comparison_page` and `report.comparison_words` take.

    Examples:
        >>> comparison_report(compare_sides(*both_arms(bank_runs(bank)))).title
        'bank with the skill against bank without the skill'
    """
    unpaired: dict[str, list[str]] = {}
    for task in compared.unpaired:
        unpaired.setdefault(task.reason, []).append(task.task_id)
    return ComparisonReport(
        compared.a.label,
        compared.b.label,
        compared.comparison,
        unpaired,
        compared.uncounted_a,
        compared.uncounted_b,
        compared.warnings,
        command,
        created,
        {task_id: task.text for side in (compared.b, compared.a) for (_, task_id), task in side.tasks.items()},
    )


def compared_to_dict(compared: ComparedSides) -> dict[str, Any]:
    """What `skilldelta compare --json` prints.

    Parameters:
        compared: From `compare_sides`.

    Returns:
        The document.

    Examples:
        >>> document = compared_to_dict(compare_sides(*both_arms(bank_runs(bank))))
        >>> document["difference"], document["tests"]["sign_test"]["p"]
        (0.125, 1.0)
    """
    comparison = compared.comparison
    mean = comparison.mean
    return {
        "a": _side_document(compared.a, comparison.a, compared.uncounted_a),
        "b": _side_document(compared.b, comparison.b, compared.uncounted_b),
        "tasks": mean.tasks,
        "difference": mean.mean,
        "interval": {**asdict(mean.interval), "level": mean.level, "method": "bootstrap over tasks"},
        "standard_error": mean.standard_error,
        "detectable_difference": mean.detectable,
        "verdict": comparison.verdict,
        "margin": comparison.margin,
        "more_tasks": comparison.more_tasks,
        "better": comparison.better,
        "worse": comparison.worse,
        "same": comparison.same,
        "tests": {
            "sign_test": {
                "better": comparison.votes.better,
                "worse": comparison.votes.worse,
                "p": comparison.sign_test_p,
            },
            "mcnemar": {**asdict(comparison.solved_alike), "p": comparison.solved_alike.p},
        },
        "solved": asdict(comparison.solved),
        "noise_floor": asdict(comparison.noise),
        "both_solve": [{**asdict(item), "difference": item.difference} for item in comparison.spending],
        "flipped": {
            way: [item.task_id for item in comparison.flipped(way) if item.is_flipped] for way in ("better", "worse")
        },
        "unpaired": {
            "by_reason": compared.unpaired_by_reason,
            "tasks": [asdict(item) for item in compared.unpaired],
        },
        "warnings": list(compared.warnings),
        "per_task": [
            {**asdict(item), "delta": item.delta, "outcome": item.outcome, "flipped": item.is_flipped}
            for item in comparison.differences
        ],
    }


def _side_document(side: ComparedSide, success: float, uncounted: Mapping[str, int]) -> dict[str, Any]:
    return {
        "label": side.label,
        "agent": side.agent,
        "condition": side.condition,
        "tasks": len(side.runs),
        "runs": sum(map(len, side.runs.values())),
        "not_counted": dict(uncounted),
        "success": success,
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """The counted runs of a side, and its tasks, under keys that match those of the other side."""

    runs: Mapping[TaskKey, Sequence[Execution]]
    tasks: Mapping[TaskKey, Task]

    def text(self, key: TaskKey) -> str:
        return self.tasks[key].text if key in self.tasks else ""

    def family(self, key: TaskKey) -> str:
        return self.tasks[key].family if key in self.tasks else ""


def _matched(a: ComparedSide, b: ComparedSide) -> tuple[_Counted, _Counted]:
    """Tasks match with their suites, unless each side has one suite under another name."""
    by_id_alone = a.suites != b.suites and len(a.suites) == len(b.suites) == 1
    return _counted(a, by_id_alone), _counted(b, by_id_alone)


def _counted(side: ComparedSide, by_id_alone: bool) -> _Counted:
    runs = {key: own if all(map(is_counted, own)) else [*filter(is_counted, own)] for key, own in side.runs.items()}
    if not by_id_alone:
        return _Counted(runs, side.tasks)
    tasks = {("", key[1]): side.tasks[key] for key in runs if key in side.tasks}
    return _Counted({("", task_id): own for (_, task_id), own in runs.items()}, tasks)


def _paired(a: _Counted, b: _Counted, settings: ComparisonSettings) -> tuple[list[TaskKey], list[UnpairedTask]]:
    shared, unpaired = [], []
    for key in dict.fromkeys((*a.runs, *b.runs)):
        reason = _reason(key, a, b, settings)
        if reason:
            unpaired.append(UnpairedTask(key[1], reason))
        else:
            shared.append(key)
    return shared, unpaired


def _reason(key: TaskKey, a: _Counted, b: _Counted, settings: ComparisonSettings) -> str:
    """Why a task is no pair; empty where it is one."""
    if key not in a.runs or key not in b.runs:
        return "only in A" if key in a.runs else "only in B"
    lacking = [name for name, side in (("A", a), ("B", b)) if not side.runs[key]]
    if lacking:
        return f"no counted run in {' and '.join(lacking)}"
    if not settings.allow_changed_tasks and a.text(key) != b.text(key):
        return "another text under the same id"
    return ""


def _why(unpaired: Sequence[UnpairedTask]) -> str:
    counts = Counter(task.reason for task in unpaired)
    sentence = ", ".join(f"{plural(count, 'task')} {reason}" for reason, count in counts.most_common())
    remedy = "; --allow-changed-tasks pairs them by id" if "another text under the same id" in counts else ""
    return f" ({sentence}){remedy}" if sentence else ""


def _paired_runs(keys: Sequence[TaskKey], a: _Counted, b: _Counted) -> PairedRuns:
    runs_a, runs_b = [a.runs[key] for key in keys], [b.runs[key] for key in keys]
    return PairedRuns(
        task_ids=[task_id for _, task_id in keys],
        families=[a.family(key) or b.family(key) for key in keys],
        a=[_successes(own) for own in runs_a],
        b=[_successes(own) for own in runs_b],
        spent_a={unit: _spent(runs_a, unit) for unit in UNITS},
        spent_b={unit: _spent(runs_b, unit) for unit in UNITS},
    )


def _successes(counted: Sequence[Execution]) -> list[float]:
    return [run.success for run in counted if run.success is not None]


_READ: Mapping[Unit, Callable[[Execution], float | None]] = {
    "tokens": attrgetter("tokens"),
    "seconds": attrgetter("seconds"),
    "usd": attrgetter("cost_usd"),
}


def _spent(tasks: Sequence[Sequence[Execution]], unit: Unit) -> Floats:
    """(n,) the mean of each task's counted runs; NaN unless every one of them says."""
    read = _READ[unit]
    if all(read(counted[0]) is None for counted in tasks):
        return np.full(len(tasks), np.nan)
    return np.fromiter(_means(tasks, read), np.float64, len(tasks))


def _means(tasks: Sequence[Sequence[Execution]], read: Callable[[Execution], float | None]) -> Iterator[float]:
    for counted in tasks:
        values = [value for run in counted if (value := read(run)) is not None]
        yield sum(values) / len(values) if len(values) == len(counted) else float("nan")


def _uncounted(side: ComparedSide) -> dict[str, int]:
    return dict(Counter(not_counted_because(run) for runs in side.runs.values() for run in runs if not is_counted(run)))


def _agent_warning(a: ComparedSide, b: ComparedSide) -> tuple[str, ...]:
    """Two agents are a fair comparison of agents; beside another condition they are a mix."""
    if a.agent == b.agent or a.condition == b.condition:
        return ()
    return (f"A was run by {a.agent}, B by {b.agent}: the difference mixes the agent with the skill",)


def _loss_warnings(side: ComparedSide, uncounted: Mapping[str, int]) -> tuple[str, ...]:
    lost, runs = sum(uncounted.values()), sum(map(len, side.runs.values()))
    if lost < _MUCH * runs:
        return ()
    return (
        f"{lost} of {plural(runs, 'run')} of {side.label} are not counted; the comparison is about the others only",
    )
