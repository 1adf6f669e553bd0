"""Try it: one question answered as everywhere else, not recorded, with its place on the map and what would change it."""

from __future__ import annotations

from dataclasses import replace

from skilldelta.advisor import Advice
from skilldelta.advisor.turning_points import turning_points
from skilldelta.serve.evidence_documents import FamilyAnswer, MapPoint, Place, TrialDocument
from skilldelta.serve.evidence_views import EvidenceViews, ShownPanel
from skilldelta.serve.gate_question import GateQuestion
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.skill_page import map_point
from skilldelta.studies.gated_panel import GatedRows

_FAMILIES = 3


def trial_document(gate: GateService, views: EvidenceViews, asked: GateQuestion) -> TrialDocument:
    """The answer to a question that only wants to know; the log does not hear of it."""
    advice = gate.advise(asked)
    shown = views.panel(asked.agent, advice.suite or None)
    rows = None if shown is None or advice.skill not in shown.gated.skills else shown.gated.of_skill(advice.skill)
    policy = asked.policy or gate.settings.policy
    families = [] if shown is None or asked.family or advice.family else _families(gate, shown, asked, advice)
    return TrialDocument(
        decision=advice.to_dict(),
        familiarity=advice.familiarity_sentence,
        interval=advice.interval_sentence,
        would_change=[
            *turning_points(advice, familiarity_limit=policy.limit),
            *[_family_sentence(one) for one in families if one.action != advice.decision.action],
        ],
        families=families,
        place=None if rows is None else _place(gate, rows, asked.task),
        nearest=[] if rows is None else _nearest(rows, advice),
    )


def _families(gate: GateService, shown: ShownPanel, asked: GateQuestion, advice: Advice) -> list[FamilyAnswer]:
    """The same question with each of the nearest pairs' families: the family is the first thing a harness could tell."""
    support = shown.gated.rows.support
    rows = [support.row_of_task[one.task_id][0] for one in advice.neighbors if one.task_id in support.row_of_task]
    families = [family for family in dict.fromkeys(str(support.families[row]) for row in rows) if family][:_FAMILIES]
    answers = [gate.advise(replace(asked, family=family)).decision for family in families]
    return [FamilyAnswer(family, one.action, one.gain) for family, one in zip(families, answers, strict=True)]


def _family_sentence(answer: FamilyAnswer) -> str:
    return f"{answer.action.capitalize()}, if the task is of the family {answer.family} (predicted gain {answer.gain:+.3f})."


def _place(gate: GateService, rows: GatedRows, task: str) -> Place:
    x, y = rows.plane.places(gate.encoder().encode([task]))[0].tolist()
    return Place(x, y)


def _nearest(rows: GatedRows, advice: Advice) -> list[MapPoint]:
    """The nearest pairs that are of this skill, which the map may have left out."""
    known = rows.support.row_of_task
    found = [int(known[one.task_id][0]) for one in advice.neighbors if one.task_id in known]
    places = rows.plane.places(rows.support.vectors[found]) if found else ()
    return [map_point(rows, row, place) for row, place in zip(found, places, strict=True)]
