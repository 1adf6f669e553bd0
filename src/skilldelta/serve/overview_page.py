"""The first page: every skill of a panel with its verdict, what the gate does with it, what the log says, how old it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import PurePath
from typing import Literal
from urllib.parse import urlsplit

import numpy as np

from skilldelta.bank.entries import DecisionTally
from skilldelta.evaluation.task_mean import task_mean
from skilldelta.gate import Gate
from skilldelta.report.skill_list import skill_sentence
from skilldelta.serve.evidence_documents import (
    FrameDocument,
    GainInterval,
    GateDocument,
    GateSetting,
    GateVerdict,
    LogTally,
    OverviewDocument,
    PanelName,
    SkillLine,
)
from skilldelta.serve.evidence_views import Catalogue, EvidenceViews, PanelKey, ShownPanel
from skilldelta.studies.gated_panel import GatedRows


def frame_document(views: EvidenceViews, agent: str | None, suite: str | None) -> FrameDocument:
    """What every page shows around itself, without reading any vector or predicting anything."""
    catalogue = views.catalogue()
    chosen = catalogue.chosen(agent, suite)
    skills = {
        age.skill_id
        for age in catalogue.ages
        if chosen is not None and (age.agent, age.suite) == (chosen.record, chosen.suite) and age.skill_id
    }
    return FrameDocument(
        bank=bank_name(catalogue.location),
        is_file="://" not in catalogue.location,
        revision=catalogue.revision,
        tasks=catalogue.tasks,
        executions=catalogue.executions,
        decisions=sum(tally.decisions for tally in views.tallies()),
        panels=[panel_name(panel) for panel in catalogue.panels],
        panel=None if chosen is None else panel_name(chosen),
        skills=sorted(skills),
        settings=gate_settings(views.gate),
    )


def overview_document(views: EvidenceViews, agent: str | None, suite: str | None) -> OverviewDocument:
    """The overview of one panel, the largest unless chosen; without any pair it says so and lists nothing."""
    panel, catalogue, tallies = views.panel(agent, suite), views.catalogue(), views.tallies()
    chosen = None if panel is None else panel.key
    rows = None if panel is None else panel.gated.rows
    lines = [skill_line(panel, skill, catalogue, tallies) for skill in panel.gated.skills] if panel is not None else []
    lines.sort(key=lambda line: (-line.gain, line.skill))
    return OverviewDocument(
        bank=bank_name(catalogue.location),
        revision=catalogue.revision,
        tasks=catalogue.tasks,
        executions=catalogue.executions,
        panels=[panel_name(skill) for skill in catalogue.panels],
        panel=None if chosen is None else panel_name(chosen),
        tasks_in_panel=0 if rows is None else len(rows.support.row_of_task),
        families=0 if rows is None else len(rows.families),
        settings=gate_settings(views.gate),
        gate=None if rows is None else gate_document(rows),
        verdict=None if rows is None else gate_verdict(rows),
        skills=lines,
        log=_whole_log(tallies if chosen is None else _of_agent(tallies, chosen), lines),
        unpaired=0 if chosen is None else chosen.unpaired,
    )


def skill_line(panel: ShownPanel, skill: str, catalogue: Catalogue, tallies: Sequence[DecisionTally]) -> SkillLine:
    """One skill with its verdict."""
    rows, verdict = panel.gated.of_skill(skill), panel.verdicts[skill]
    low, high = verdict.interval.low, verdict.interval.high
    own = [tally for tally in _of_agent(tallies, panel.key) if tally.skill_id == skill]
    return SkillLine(
        skill=skill,
        pairs=len(rows.support),
        families=len(rows.families),
        helped=verdict.helped,
        harmed=verdict.harmed,
        unchanged=len(rows.support) - verdict.helped - verdict.harmed,
        gain=verdict.effect.gain,
        interval=None if low is None or high is None else GainInterval(low, high),
        verdict=verdict.ruling,
        sentence=skill_sentence(verdict).partition(": ")[2],
        gate=gate_document(rows),
        log=_tally(own, rows.extra_tokens),
        recorded=max((age.last for age in catalogue.ages_of(panel.key, skill)), default=None),
    )


def gate_settings(gate: Gate) -> list[GateSetting]:
    """The settings of a gate, with what the estimator brings where none is set; those that play no part are left out."""
    default = Gate()
    values = {**asdict(gate), "interval": gate.interval_method, "familiarity_limit": gate.familiarity_floor}
    return [
        GateSetting(name, value, getattr(gate, name) == getattr(default, name))
        for name, value in values.items()
        if value is not None and not (name in ("lipschitz", "epsilon") and value == 0)
    ]


def panel_name(panel: PanelKey) -> PanelName:
    """A panel as the chooser lists it."""
    return PanelName(panel.agent, panel.suite, panel.pairs)


def gate_document(rows: GatedRows) -> GateDocument:
    """The gate's value on some rows."""
    value = rows.value
    return GateDocument(value.off, value.on, value.success, value.use_rate, value.token_saving, rows.extra_tokens)


def gate_verdict(rows: GatedRows) -> GateVerdict:
    """The gate against the better of never and always using the skill, task by task."""
    support = rows.support
    always = float(support.y1.mean()) >= float(support.y0.mean())
    reached = np.where(rows.used, support.y1, support.y0)
    # A task that was run with several skills counts once, as in every interval over tasks.
    sums = np.bincount(support.task_codes, weights=reached - (support.y1 if always else support.y0))
    mean = task_mean(sums / np.bincount(support.task_codes), np.random.default_rng(0))
    low, high = mean.interval.low, mean.interval.high
    tone: Literal["yes", "no", "open"] = "open"
    if low is not None and high is not None and (low > 0 or high < 0):
        tone = "yes" if low > 0 else "no"
    other = "always using the skill" if always else "never using a skill"
    difference = 100 * mean.mean
    more = f"{abs(difference):.1f} points {'more' if difference > 0 else 'fewer'} than" if difference else "as many as"
    spread = "" if low is None or high is None else f" (95% interval {100 * low:+.1f} to {100 * high:+.1f})"
    return GateVerdict(tone, f"The gate solves {rows.value.success:.1%} of the tasks, {more} {other}{spread}.")


def bank_name(location: str) -> str:
    """The last part of a bank's path or URL, which is enough to tell banks apart and tells nothing of the machine."""
    path = urlsplit(location).path if "://" in location else location
    return PurePath(path).name or "bank"


def _of_agent(tallies: Sequence[DecisionTally], panel: PanelKey) -> list[DecisionTally]:
    return [tally for tally in tallies if tally.agent == panel.record]


def _tally(tallies: Sequence[DecisionTally], extra_tokens: float | None) -> LogTally:
    by_action = {
        action: sum(tally.decisions for tally in tallies if tally.action == action)
        for action in ("use", "skip", "abstain")
    }
    unused = by_action["skip"] + by_action["abstain"]
    return LogTally(
        decisions=sum(by_action.values()),
        used=by_action["use"],
        skipped=by_action["skip"],
        abstained=by_action["abstain"],
        last=max((tally.last for tally in tallies), default=None),
        saved_tokens=None if extra_tokens is None else unused * extra_tokens,
    )


def _whole_log(tallies: Sequence[DecisionTally], lines: Sequence[SkillLine]) -> LogTally:
    """All skills together; tokens are saved where a skill's price is known."""
    whole = _tally(tallies, None)
    saved = [line.log.saved_tokens for line in lines if line.log.decisions and line.log.saved_tokens is not None]
    return replace(whole, saved_tokens=sum(saved) if saved else None)
