"""Readings of sources into a bank, and the report of it: what is new, what was left out, which tasks lack an arm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from skilldelta.bank import Bank
from skilldelta.bank.batch import Added
from skilldelta.bank.importers import Reading, tool_formats
from skilldelta.bank.importers.any_source import left_out_lines
from skilldelta.nouns import plural
from skilldelta.pairing import Pairing, Unpaired, pair_executions

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
            lines.append(f"{plural(len(self.pairing.pairs), 'pair')} in what was imported")
            lines += _unpaired_lines(self.pairing.unpaired)
        return lines

    def document(self, bank: str) -> dict[str, Any]:
        """What `skilldelta import --json` prints."""
        sources = [
            {
                "path": str(reading.path),
                "format": reading.format,
                "why": reading.why,
                **asdict(added),
                "arms": dict(reading.arms),
                "left_out": [
                    {"reason": one.reason, "runs": len(one.places), "places": list(one.places)}
                    for one in reading.left_out
                ],
                "notes": list(reading.notes),
            }
            for reading, added in zip(self.readings, self.added, strict=True)
        ]
        unpaired = [
            {"task_id": one.task_id, "suite": one.suite, "agent": one.agent.name, "missing": one.missing}
            for one in self.pairing.unpaired
        ]
        return {"bank": bank, "sources": sources, "pairs": len(self.pairing.pairs), "unpaired": unpaired}


def import_readings(bank: Bank, readings: Sequence[Reading]) -> ImportReport:
    """Add what sources hold, each whole or not at all."""
    added = tuple(bank.add(reading.batch) for reading in readings)
    families = {(task.suite, task.task_id): task.family for reading in readings for task in reading.tasks}
    pairing = pair_executions((e for reading in readings for e in reading.executions), families=families)
    return ImportReport(tuple(readings), added, pairing)


def _unpaired_lines(unpaired: Sequence[Unpaired]) -> list[str]:
    lines = []
    for missing, words in _LACKING.items():
        tasks = [one.task_id for one in unpaired if one.missing == missing]
        if tasks:
            more = f" and {len(tasks) - _SHOWN:,} more" if len(tasks) > _SHOWN else ""
            lines.append(f"{plural(len(tasks), 'task has', 'tasks have')} {words}: {', '.join(tasks[:_SHOWN])}{more}")
    return lines
