"""The reality page: what the gate predicted beside what happened, read from the decision log as outcomes arrive."""

from __future__ import annotations

import csv
import io
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Literal

from skilldelta.bank.entries import DecisionFilter
from skilldelta.bank.store import Bank
from skilldelta.evaluation.anytime import LEVEL
from skilldelta.serve.evidence_documents import (
    ActionDocument,
    AgreementDocument,
    GainInterval,
    LeftOut,
    RealityDocument,
)
from skilldelta.serve.gate_service import GateService
from skilldelta.studies.reality import (
    ActionLine,
    Agreement,
    DecisionOutcome,
    Reality,
    action_lines,
    compare_with_reality,
    outcome_of,
    period_lines,
)

_COLUMNS = (
    "decision_id",
    "time",
    "agent",
    "skill",
    "task",
    "action",
    "predicted_gain",
    "predicted_success",
    "success",
    "left_out",
)
# With these a spreadsheet would take a cell for a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class RealityFilter:
    """Which outcomes the chart, the counts and the file show; the alarms look at all of them."""

    skill: str | None = None
    agent: str | None = None
    action: Literal["use", "skip"] | None = None
    since: float | None = None

    def chosen(self, outcomes: Sequence[DecisionOutcome]) -> list[DecisionOutcome]:
        """The outcomes that fit."""
        return [
            one
            for one in outcomes
            if self.skill in (None, "", one.skill)
            and self.agent in (None, "", one.agent)
            and self.action in (None, one.action)
            and (self.since is None or one.time >= self.since)
        ]


class RealityLog:
    """The outcomes of a bank's log. Only new ones are read again; threads may share it."""

    def __init__(self, gate: GateService) -> None:
        self._gate = gate
        self._working = threading.Lock()
        self._bank: Bank | None = None
        self._mark = (0, 0)
        self._outcomes: dict[int, DecisionOutcome | None] = {}
        self._reports: dict[int, int] = {}
        self._reality: Reality | None = None

    def document(self, chosen: RealityFilter) -> RealityDocument:
        """What the page shows."""
        with self._working:
            reality = self._gate.read(self._current)
            outcomes = [one for one in self._outcomes.values() if one is not None]
            mark = "-".join(map(str, self._mark))
        shown = chosen.chosen(outcomes)
        return RealityDocument(
            mark=mark,
            sentence=reality.sentence,
            level=LEVEL,
            outcomes=reality.outcomes,
            shown=len(shown),
            left_out=[LeftOut(reason, number) for reason, number in reality.left_out.items()],
            whole=_agreement(reality.whole),
            skills=[_agreement(one) for one in reality.skills],
            agents=sorted({one.agent for one in outcomes}),
            actions=[_action(line) for line in action_lines(shown)],
            periods=[_action(line) for line in period_lines(shown)],
        )

    def table(self, chosen: RealityFilter) -> str:
        """The outcomes that fit, oldest first, as CSV."""
        with self._working:
            self._gate.read(self._current)
            outcomes = [one for one in self._outcomes.values() if one is not None]
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(_COLUMNS)
        for one in sorted(chosen.chosen(outcomes), key=lambda one: (one.time, one.decision_id)):
            moment = datetime.fromtimestamp(one.time, UTC).isoformat(timespec="seconds")
            predicted = "" if one.predicted is None else f"{one.predicted:.6g}"
            cells = (one.agent, one.skill, one.task, one.action)
            numbers = (f"{one.gain:.6g}", predicted, f"{one.success:g}", one.left_out or "")
            rows.writerow((one.decision_id, moment, *map(_text_cell, cells), *numbers))
        return text.getvalue()

    def _current(self, bank: Bank) -> Reality:
        mark = bank.outcome_mark()
        if self._reality is not None and self._bank is bank and mark == self._mark:
            return self._reality
        after = self._mark[1] if self._bank is bank and mark[0] > self._mark[0] else 0
        self._read(bank, after)
        if after and sum(self._reports.values()) != mark[0]:  # something was removed from the log as well
            self._read(bank, 0)
        without_success = sum(one is None for one in self._outcomes.values())
        outcomes = [one for one in self._outcomes.values() if one is not None]
        self._bank, self._mark = bank, mark
        self._reality = compare_with_reality(outcomes, without_success)
        return self._reality

    def _read(self, bank: Bank, after: int) -> None:
        if not after:
            self._outcomes, self._reports = {}, {}
        for record in bank.decisions(None, DecisionFilter(outcomes_after=after)):
            self._outcomes[record.decision_id] = outcome_of(record)
            self._reports[record.decision_id] = len(record.outcomes)


def _text_cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def _agreement(one: Agreement) -> AgreementDocument:
    watched = one.difference
    return AgreementDocument(
        skill=one.skill,
        outcomes=one.number,
        repeated=one.repeated,
        predicted=one.predicted,
        observed=one.observed,
        difference=watched.mean if one.number else None,
        interval=GainInterval(watched.low, watched.high) if one.number else None,
        margin=watched.margin,
        alarm_time=one.alarm_time,
        direction=watched.direction,
        state=one.state,
    )


def _action(line: ActionLine) -> ActionDocument:
    return ActionDocument(**asdict(line))
