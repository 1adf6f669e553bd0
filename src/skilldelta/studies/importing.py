"""Readings of sources into a bank, and the report of it: what is new, what was left out, which tasks lack an arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from skilldelta.bank import Bank
from skilldelta.bank.batch import Added
from skilldelta.bank.importers import Reading, tool_formats
from skilldelta.bank.importers.source_reading import left_out_lines, understood
from skilldelta.nouns import listed, plural
from skilldelta.pairing import Arms, Pairing, pair_executions
from skilldelta.records import Execution, Task

_SHOWN = 3
_LACKING = {"use": "no run with the skill", "skip": "no run without the skill", "both": "no outcome in either arm"}


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What became of sources that were imported together."""

    readings: tuple[Reading, ...]
    added: tuple[Added, ...]
    pairing: Pairing
    """Of the runs of all sources, and of nothing else that the bank has."""

    @property
    def of_tools(self) -> bool:
        """Whether a source has the format of another tool."""
        return any(reading.format in tool_formats() for reading in self.readings)

    def lines(self) -> list[str]:
        """What there is to say about pairs, missing arms and runs that do not count, a line each."""
        lines = [f"{reading.path}: {line}" for reading in self.readings for line in left_out_lines(reading.left_out)]
        if self.of_tools:
            lines += _pair_lines(self.pairing)
        return lines + [line for added in self.added for line in added.notes]

    def document(self, bank: str | None) -> dict[str, Any]:
        """What `skilldelta import --json` prints."""
        sources = [
            {
                "path": str(reading.path),
                "format": reading.format,
                "why": reading.why,
                **asdict(replace(added, notes=())),
                "arms": dict(reading.arms),
                "understood": [asdict(row) for row in understood(reading)],
                "versions": {skill: list(versions) for skill, versions in reading.versions.items()},
                "left_out": [
                    {"reason": task.reason, "runs": len(task.places), "places": list(task.places)}
                    for task in reading.left_out
                ],
                "notes": [*reading.notes, *added.notes],
            }
            for reading, added in zip(self.readings, self.added, strict=True)
        ]
        unpaired = [
            {"task_id": task.task_id, "suite": task.suite, "agent": task.agent.name, "missing": task.missing}
            for task in self.pairing.unpaired
        ]
        return {"bank": bank, "sources": sources, "pairs": len(self.pairing.pairs), "unpaired": unpaired}


def import_readings(bank: Bank, readings: Sequence[Reading]) -> ImportReport:
    """Add what sources hold, each whole or not at all."""
    if any(reading.format in tool_formats() for reading in readings):
        readings = [_as_recorded(bank, reading) for reading in _with_shared_texts(bank, readings)]
    added = tuple(bank.add(reading.batch) for reading in readings)
    families = {(task.suite, task.task_id): task.family for reading in readings for task in reading.tasks}
    pairing = pair_executions((e for reading in readings for e in reading.executions), families=families)
    return ImportReport(tuple(readings), added, pairing)


def _with_shared_texts(bank: Bank, readings: Sequence[Reading]) -> Sequence[Reading]:
    """A task that has its id for a text in one source has the text of another source, or of the bank.

    Tools leave the text out of some runs; without it one task would have two texts. A text that the bank has stays.
    """
    stored = {(task.suite, task.task_id): task.text for task in bank.tasks()}
    texts = {(t.suite, t.task_id): t.text for reading in readings for t in reading.tasks if t.text != t.task_id}

    def text(task: Task) -> str:
        there = stored.get((task.suite, task.task_id), "")
        if there and task.task_id in (there, task.text):
            return there
        return texts.get((task.suite, task.task_id), task.text) if task.text == task.task_id else task.text

    return [
        replace(reading, batch=replace(reading.batch, tasks=[replace(t, text=text(t)) for t in reading.tasks]))
        for reading in readings
    ]


def _as_recorded(bank: Bank, reading: Reading) -> Reading:
    """Runs that the bank has under another version of the skill stay that version's.

    The version is told by the SKILL.md beside the results. When that has changed since the first import, the old runs are
    no evidence about the new text.
    """
    skills = {e.skill_id for e in reading.executions if e.skill_digest and (e.tokens or e.seconds)}
    recorded = {_observed(e): e.skill_digest for skill in sorted(skills) for e in bank.executions(skill_id=skill)}
    moved = [e for e in reading.executions if recorded.get(_observed(e), e.skill_digest) != e.skill_digest]
    if not moved:
        return reading
    executions = [replace(e, skill_digest=recorded.get(_observed(e), e.skill_digest)) for e in reading.executions]
    versions = {(e.skill_id, e.skill_digest) for e in executions}
    note = (
        f"{plural(len(moved), 'run is', 'runs are')} in the bank with an earlier version of the skill, and stay with it; "
        "the text beside the results has changed since"
    )
    batch = replace(
        reading.batch,
        executions=executions,
        skills=[skill for skill in reading.skill_texts if (skill.skill_id, skill.digest) in versions],
        notes=(*reading.notes, note),
    )
    return replace(reading, batch=batch)


def _observed(e: Execution) -> tuple[object, ...]:
    """What tells one run from another, whatever version of the skill it is said to be of."""
    arm = (e.agent, e.suite, e.task_id, e.condition, e.repetition, e.skill_id)
    return (*arm, e.success, e.tokens, e.seconds, e.cost_usd, e.status)


def _pair_lines(pairing: Pairing) -> list[str]:
    """How many pairs there are, and which tasks lack an arm; one line where everything was run in one arm."""
    lacking = {task.missing for task in pairing.unpaired}
    if not pairing.pairs and lacking in ({"use"}, {"skip"}):
        arm, other = ("without", "with") if lacking == {"use"} else ("with", "without")
        tasks = plural(len(pairing.unpaired), "task")
        return [f"{tasks} run {arm} the skill only; runs {other} it in the bank, or imported next, make them pairs"]
    return [f"{plural(len(pairing.pairs), 'pair')} in what was imported", *_unpaired_lines(pairing.unpaired)]


def _unpaired_lines(unpaired: Sequence[Arms]) -> list[str]:
    lines = []
    for missing, words in _LACKING.items():
        tasks = [task.task_id for task in unpaired if task.missing == missing]
        if tasks:
            lines.append(f"{plural(len(tasks), 'task has', 'tasks have')} {words}: {listed(tasks, _SHOWN)}")
    return lines
