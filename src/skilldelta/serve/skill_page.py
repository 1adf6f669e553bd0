"""A skill's page: families, harmed tasks, versions, the threshold sweep and the map of its tasks.

And the page to try a skill: one question answered as everywhere else and not recorded, with its place on the map and what
would change the answer.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from skilldelta.advisor import Answer
from skilldelta.advisor.turning_points import turning_points
from skilldelta.arrays import Floats, Ints
from skilldelta.gate import Question
from skilldelta.report.figures.help_harm import NO_FAMILY
from skilldelta.report.numbers import shorten
from skilldelta.serve.evidence_documents import (
    FamilyAnswer,
    FamilyLine,
    HarmedTask,
    MapDocument,
    MapPoint,
    Place,
    SkillEvidence,
    SweepDocument,
    TrialDocument,
    VersionLine,
)
from skilldelta.serve.evidence_views import Catalogue, EvidenceViews, PanelKey, ShownPanel
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.overview_page import panel_name, skill_line
from skilldelta.studies.gated_panel import GatedRows, fixed_sample

HARMED = 100
POINTS = 800
POLICIES = 4_000
TEXT_WIDTH = 280
# Families of the nearest pairs with which a tried question is asked again.
_FAMILIES = 3


def skill_document(views: EvidenceViews, shown: ShownPanel, skill: str) -> SkillEvidence:
    """What the bank says about one skill of a panel."""
    rows, catalogue = shown.gated.of_skill(skill), views.catalogue()
    return SkillEvidence(
        panel=panel_name(shown.key),
        line=skill_line(shown, skill, catalogue, views.tallies()),
        families=_families(shown, skill),
        harmed=_harmed(rows),
        versions=_versions(catalogue, shown.key, skill),
        stale=sum(pair.skill_id == skill for pair in shown.gated.panel.pairing.stale),
    )


def sweep_document(rows: GatedRows, skill: str) -> SweepDocument:
    """Success against tokens over every threshold; of very many policies an even choice with the ends, default and best."""
    sweep = rows.sweep
    kept = _thinned(len(sweep), (sweep.default, sweep.best))
    place = {int(policy): at for at, policy in enumerate(kept)}
    return SweepDocument(
        skill=skill,
        rows=sweep.rows,
        thresholds=_known(sweep.thresholds[kept]),
        use_rates=sweep.use_rates[kept].tolist(),
        success=sweep.success[kept].tolist(),
        tokens=_known(sweep.tokens[kept]),
        token_savings=_known(sweep.token_saving[kept]),
        default=place[sweep.default],
        best=place[sweep.best],
        policies=len(sweep),
    )


def map_document(rows: GatedRows, skill: str) -> MapDocument:
    """The tasks of a skill on their plane."""
    shown = fixed_sample(len(rows.support), POINTS)
    return MapDocument(skill=skill, tasks=len(rows.support), points=_points(rows, shown), shares=rows.plane.shares)


def _points(rows: GatedRows, shown: Ints) -> list[MapPoint]:
    places = rows.plane.places(rows.support.vectors[shown])
    return [
        MapPoint(**_recorded(rows, int(row)), x=float(x), y=float(y)) for row, (x, y) in zip(shown, places, strict=True)
    ]


def _recorded(rows: GatedRows, row: int) -> dict[str, Any]:
    """What the bank has of a task, and the gate's prediction for it."""
    support = rows.support
    return {
        "task_id": str(support.task_ids[row]),
        "family": str(support.families[row]),
        "text": shorten(support.texts[row], TEXT_WIDTH) if support.texts else "",
        "y0": float(support.y0[row]),
        "r0": int(support.r0[row]),
        "y1": float(support.y1[row]),
        "r1": int(support.r1[row]),
        "gain": float(support.gains[row]),
        "predicted": _finite(rows.scores[row]),
    }


def _families(shown: ShownPanel, skill: str) -> list[FamilyLine]:
    """The most harmed first."""
    panel = shown.gated.rows
    return [
        FamilyLine(
            family=one.family or NO_FAMILY,
            pairs=len(one.rows),
            helped=one.helped,
            harmed=one.harmed,
            unchanged=len(one.rows) - one.helped - one.harmed,
            off=float(panel.support.y0[one.rows].mean()),
            on=float(panel.support.y1[one.rows].mean()),
            gain=one.gain,
            used=int(panel.used[one.rows].sum()),
            effect=one.effect,
        )
        for one in shown.verdicts[skill].families
    ]


def _harmed(rows: GatedRows) -> list[HarmedTask]:
    gains = rows.support.gains
    worst = [int(row) for row in np.argsort(gains, kind="stable")[:HARMED] if gains[row] < 0]
    return [HarmedTask(**_recorded(rows, row), used=bool(rows.used[row])) for row in worst]


def _versions(catalogue: Catalogue, panel: PanelKey, skill: str) -> list[VersionLine]:
    """The newest first. The current one is that which arrived last; without any version there is one nameless line."""
    known = [one for one in catalogue.skills if one.skill_id == skill]
    current = next((one.digest for one in reversed(known) if one.digest), "")
    ages = {age.skill_digest: age for age in catalogue.ages_of(panel, skill)}
    lines = []
    for one in reversed(known):
        age = ages.get(one.digest)
        if age is None and not one.digest:
            continue
        lines.append(
            VersionLine(
                digest=one.digest,
                characters=len(one.text) or None,
                executions=0 if age is None else age.executions,
                first=None if age is None else age.first,
                last=None if age is None else age.last,
                is_current=one.digest == current,
            )
        )
    return lines


def _thinned(policies: int, always: tuple[int, ...]) -> Ints:
    if policies <= POLICIES:
        return np.arange(policies)
    even = np.linspace(0, policies - 1, POLICIES).round().astype(np.int64)
    return np.unique(np.concatenate([even, np.array(always, np.int64)]))


def _known(values: Floats) -> list[float | None]:
    return [_finite(value) for value in values]


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def trial_document(gate: GateService, views: EvidenceViews, asked: Question) -> TrialDocument:
    """The answer to a question that is only tried; it is not recorded."""
    advice = gate.advise(asked)
    shown = views.panel(asked.agent, advice.suite or None)
    rows = None if shown is None or advice.skill not in shown.gated.skills else shown.gated.of_skill(advice.skill)
    chosen = asked.gate or gate.settings.gate
    families = [] if shown is None or asked.family or advice.family else _family_answers(gate, shown, asked, advice)
    return TrialDocument(
        decision=advice.to_dict(),
        familiarity=advice.familiarity_sentence,
        interval=advice.interval_sentence,
        would_change=[
            *turning_points(advice, familiarity_limit=chosen.familiarity_floor),
            *[
                f"{one.action.capitalize()}, if the task is of the family {one.family} (predicted gain {one.gain:+.3f})."
                for one in families
                if one.action != advice.decision.action
            ],
        ],
        families=families,
        place=None if rows is None else Place(*rows.plane.places(gate.encoder().encode([asked.text]))[0].tolist()),
        nearest=[] if rows is None else _points(rows, _nearest(rows, advice)),
    )


def _family_answers(gate: GateService, shown: ShownPanel, asked: Question, advice: Answer) -> list[FamilyAnswer]:
    """The same question with each of the nearest pairs' families: the family is the first thing a harness could tell."""
    support = shown.gated.rows.support
    rows = [support.row_of_task[one.task_id][0] for one in advice.neighbors if one.task_id in support.row_of_task]
    families = [family for family in dict.fromkeys(str(support.families[row]) for row in rows) if family][:_FAMILIES]
    answers = [gate.advise(replace(asked, family=family)).decision for family in families]
    return [FamilyAnswer(family, one.action, one.gain) for family, one in zip(families, answers, strict=True)]


def _nearest(rows: GatedRows, advice: Answer) -> Ints:
    """The rows of the nearest pairs that are of this skill, which the map may have left out."""
    known = rows.support.row_of_task
    found = [known[one.task_id][0] for one in advice.neighbors if one.task_id in known]
    return np.array(found, np.int64)
