"""What each version of a skill gained: its mean gain over tasks with an interval, in the order of the versions.

Runs without the skill serve every version. A version counts on its own runs only; what it was not run on is not carried over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from skilldelta.bank.store import Bank
from skilldelta.errors import InputError, unknown_name
from skilldelta.evaluation.task_mean import TaskMean, task_mean
from skilldelta.pairing import pair_executions
from skilldelta.records import Agent, Execution, Pair
from skilldelta.report.content import Cell, Table, columns
from skilldelta.studies.compared_side import ArmChoice, RecordedRuns, bank_runs


@dataclass(frozen=True, slots=True)
class VersionGain:
    """One version of a skill, as one agent ran it."""

    agent: str
    skill: str
    version: str
    """What the files call it, else its digest; "" for runs that do not say."""
    mean: TaskMean
    helped: int
    harmed: int
    runs: int
    """Counted runs with the skill."""
    change: TaskMean | None
    """Gain now minus the gain of the version before, over the tasks that both were run on; None where there are none."""
    is_newest: bool | None
    """None where no recorded time says which version is the newest."""


def version_history(
    recorded: RecordedRuns, skill: str | None = None, *, resamples: int = 10_000, seed: int = 0
) -> tuple[VersionGain, ...]:
    """The versions of a skill, oldest first, for each agent that ran them.

    Examples:
        >>> [(one.version, one.mean.tasks) for one in version_history(bank_runs(bank), "units-skill")]
        [('', 4)]
    """
    rng = np.random.default_rng(seed)
    skills = list(dict.fromkeys(run.skill_id for run in recorded.executions if run.condition == "use"))
    if skill is not None and skill not in skills:
        raise unknown_name("skill", skill, set(skills))
    history: list[VersionGain] = []
    for name in [skill] if skill is not None else skills:
        for agent in dict.fromkeys(run.agent for run in recorded.executions):
            own = [run for run in recorded.executions if run.agent == agent and _concerns(run, name)]
            history += _of_agent(recorded, name, agent, own, resamples, rng)
    if not history:
        raise InputError(f"{recorded.label}: no version of a skill has runs with and without it on the same task")
    return tuple(history)


def bank_history(
    bank: Bank, skill: str, *, agent: str | None = None, resamples: int = 10_000, seed: int = 0
) -> tuple[VersionGain, ...]:
    """The versions of a skill in a bank, in order of arrival.

    Examples:
        >>> [one.is_newest for one in bank_history(bank, "units-skill")]
        [True]
    """
    recorded = in_bank_order(bank, bank_runs(bank, ArmChoice(agent=agent)))
    return version_history(recorded, skill, resamples=resamples, seed=seed)


def in_bank_order(bank: Bank, recorded: RecordedRuns) -> RecordedRuns:
    """Runs of a bank with the order in which the versions of its skills arrived.

    Examples:
        >>> in_bank_order(bank, bank_runs(bank)).order
        {}
    """
    order: dict[str, list[str]] = {}
    for skill in bank.skills():
        if skill.digest:
            order.setdefault(skill.skill_id, []).append(skill.digest)
    return replace(recorded, order=order, versions={})


def history_table(history: Sequence[VersionGain]) -> Table | None:
    """The versions of the skills that have several, as a report shows them; None where no skill has.

    Examples:
        >>> history_table(version_history(bank_runs(bank), "units-skill")) is None
        True
    """
    counts = Counter((version.agent, version.skill) for version in history)
    rows = []
    for version in history:
        if counts[version.agent, version.skill] < 2:
            continue
        mean, change = version.mean, version.change
        name = version.version[:24] or "not recorded"
        low, high = mean.interval.low, mean.interval.high
        interval = Cell("–") if low is None or high is None else Cell(f"{100 * low:.1f}…{100 * high:.1f}", low)
        rows.append(
            [
                *(Cell(version.skill), Cell(version.agent), Cell(f"{name} (newest)" if version.is_newest else name)),
                Cell(f"{100 * mean.mean:+.1f}", mean.mean),
                interval,
                *(Cell(str(count), count) for count in (mean.tasks, version.helped, version.harmed)),
                Cell("–") if change is None else Cell(f"{100 * change.mean:+.1f} ({change.tasks})", change.mean),
            ]
        )
    titles = ("skill", "agent", "version", "gain, points", "95%", "tasks", "helped", "harmed", "change (tasks)")
    return Table(columns(*titles, words=3), rows) if rows else None


def history_to_dict(history: Sequence[VersionGain]) -> dict[str, Any]:
    """What `skilldelta history --json` prints.

    Examples:
        >>> history_to_dict(version_history(bank_runs(bank), "units-skill"))["versions"][0]["gain"]
        0.5
    """
    return {
        "versions": [
            {
                "agent": version.agent,
                "skill": version.skill,
                "version": version.version,
                "tasks": version.mean.tasks,
                "runs": version.runs,
                "gain": version.mean.mean,
                "interval": {**asdict(version.mean.interval), "level": version.mean.level},
                "helped": version.helped,
                "harmed": version.harmed,
                "change": None
                if version.change is None
                else {
                    "tasks": version.change.tasks,
                    "mean": version.change.mean,
                    "interval": {**asdict(version.change.interval), "level": version.change.level},
                },
                "newest": version.is_newest,
            }
            for version in history
        ]
    }


def _concerns(run: Execution, skill: str) -> bool:
    return run.skill_id == skill or (run.condition == "skip" and not run.skill_id)


def _of_agent(
    recorded: RecordedRuns,
    skill: str,
    agent: Agent,
    runs: Sequence[Execution],
    resamples: int,
    rng: np.random.Generator,
) -> list[VersionGain]:
    by_version: dict[str, list[Pair]] = {}
    for pair in pair_executions(runs, families={}).pairs:
        by_version.setdefault(pair.skill_digest, []).append(pair)
    order = list(recorded.order.get(skill, ()))
    ordered = sorted(by_version, key=lambda digest: order.index(digest) if digest in order else -1)
    history: list[VersionGain] = []
    before: Mapping[tuple[str, str], float] = {}
    for digest in ordered:
        pairs = by_version[digest]
        gains = {(pair.suite, pair.task_id): pair.gain for pair in pairs}
        shared = [gains[key] - before[key] for key in gains if key in before]
        is_newest = None if skill in recorded.unsure_newest else digest == ordered[-1]
        history.append(
            VersionGain(
                agent.name,
                skill,
                recorded.version_names.get(digest, digest),
                task_mean(np.array(list(gains.values())), rng, draws=resamples),
                sum(gain > 0 for gain in gains.values()),
                sum(gain < 0 for gain in gains.values()),
                sum(pair.r1 for pair in pairs),
                task_mean(np.array(shared), rng, draws=resamples, bound=2.0) if shared else None,
                is_newest,
            )
        )
        before = {**before, **gains}
    return history
