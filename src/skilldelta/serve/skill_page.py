"""A skill's page: families, harmed tasks, versions, the threshold sweep and the map of its tasks."""

from __future__ import annotations

import math

import numpy as np

from skilldelta.arrays import Floats, Ints
from skilldelta.report.families import NO_FAMILY
from skilldelta.report.numbers import shorten
from skilldelta.serve.evidence_documents import (
    FamilyLine,
    HarmedTask,
    MapDocument,
    MapPoint,
    SkillEvidence,
    SweepDocument,
    VersionLine,
)
from skilldelta.serve.evidence_views import Catalogue, EvidenceViews, PanelKey, ShownPanel
from skilldelta.serve.overview_page import panel_name, skill_line
from skilldelta.studies.gated_panel import GatedRows, fixed_sample

HARMED = 100
POINTS = 800
POLICIES = 4_000
TEXT_WIDTH = 280


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
    support, shown = rows.support, fixed_sample(len(rows.support), POINTS)
    places = rows.plane.places(support.vectors[shown])
    return MapDocument(
        skill=skill,
        tasks=len(support),
        points=[map_point(rows, int(row), place) for row, place in zip(shown, places, strict=True)],
        shares=rows.plane.shares,
    )


def map_point(rows: GatedRows, row: int, place: Floats) -> MapPoint:
    support = rows.support
    return MapPoint(
        task_id=str(support.task_ids[row]),
        family=str(support.families[row]),
        text=_text(rows, row),
        x=float(place[0]),
        y=float(place[1]),
        y0=float(support.y0[row]),
        r0=int(support.r0[row]),
        y1=float(support.y1[row]),
        r1=int(support.r1[row]),
        gain=float(support.gains[row]),
        predicted=_finite(rows.scores[row]),
    )


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
    support = rows.support
    worst = np.argsort(support.gains, kind="stable")[:HARMED]
    return [
        HarmedTask(
            task_id=str(support.task_ids[row]),
            family=str(support.families[row]),
            text=_text(rows, int(row)),
            y0=float(support.y0[row]),
            r0=int(support.r0[row]),
            y1=float(support.y1[row]),
            r1=int(support.r1[row]),
            gain=float(support.gains[row]),
            predicted=_finite(rows.scores[row]),
            used=bool(rows.used[row]),
        )
        for row in worst
        if support.gains[row] < 0
    ]


def _versions(catalogue: Catalogue, panel: PanelKey, skill: str) -> list[VersionLine]:
    """The newest first. The current one is that which arrived last; without any version there is one nameless line."""
    known = [one for one in catalogue.skills if one.skill_id == skill]
    current = next((one.digest for one in reversed(known) if one.digest), "")
    ages = {
        age.skill_digest: age
        for age in catalogue.ages
        if (age.agent, age.suite, age.skill_id) == (panel.record, panel.suite, skill)
    }
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


def _text(rows: GatedRows, row: int) -> str:
    return shorten(rows.support.texts[row], TEXT_WIDTH) if rows.support.texts else ""


def _thinned(policies: int, always: tuple[int, ...]) -> Ints:
    if policies <= POLICIES:
        return np.arange(policies)
    even = np.linspace(0, policies - 1, POLICIES).round().astype(np.int64)
    return np.unique(np.concatenate([even, np.array(always, np.int64)]))


def _known(values: Floats) -> list[float | None]:
    return [_finite(value) for value in values]


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
