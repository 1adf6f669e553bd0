"""`/v1/dashboard`: what the dashboard's pages show. Sync functions, so that the work runs in worker threads.

What makes the pages is imported with the first of them: a server that only decides starts sooner and takes less memory.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response
from pydantic import AliasChoices, Field

from skilldelta.errors import InputError
from skilldelta.estimators.registry import policies
from skilldelta.gate import Question
from skilldelta.serve.bounded_body import BoundedRoute
from skilldelta.serve.evidence_documents import (
    FrameDocument,
    MapDocument,
    OverviewDocument,
    PolicyLine,
    RealityDocument,
    SkillEvidence,
    SweepDocument,
    TrialDocument,
)
from skilldelta.serve.http_answers import PROBLEMS, gate_of
from skilldelta.serve.wire_formats import Name, SkillName, TaskText, WireModel

if TYPE_CHECKING:
    from skilldelta.serve.evidence_views import EvidenceViews, ShownPanel
    from skilldelta.serve.reality_page import RealityLog

router = APIRouter(prefix="/v1/dashboard", tags=["dashboard"], responses=PROBLEMS, route_class=BoundedRoute)

_Skill = Annotated[str, Query(description="The skill, as the bank names it.", min_length=1, max_length=1_000)]
_LARGEST = "that of the largest panel unless given."
_Agent = Annotated[str | None, Query(description=f"The agent; {_LARGEST}", max_length=1_000)]
_Suite = Annotated[str | None, Query(description=f"The suite; {_LARGEST}", max_length=1_000)]

_Chosen = Annotated[str | None, Query(max_length=1_000)]
_Since = Annotated[float | None, Query(allow_inf_nan=False, description="Seconds since 1970")]

_making = threading.Lock()


class TrialBody(WireModel):
    """A question that only wants to know."""

    text: TaskText = Field(validation_alias=AliasChoices("text", "task"))
    skill: SkillName
    family: Name = ""
    task_id: Name = ""
    agent: Name | None = None
    suite: Name = ""
    threshold: Annotated[float, Field(ge=-1, le=1)] | None = None


@router.get("/frame", summary="The bank, its panels and the gate")
def frame(request: Request, agent: _Agent = None, suite: _Suite = None) -> FrameDocument:
    """What stands around every page; it predicts nothing, so it is there at once."""
    from skilldelta.serve.overview_page import frame_document

    return frame_document(views_of(request), agent, suite)


@router.get("/overview", summary="Every skill of a panel, with verdicts")
def overview(request: Request, agent: _Agent = None, suite: _Suite = None) -> OverviewDocument:
    """The largest panel unless one is chosen; a bank without a complete pair has none, and no skills."""
    from skilldelta.serve.overview_page import overview_document

    return overview_document(views_of(request), agent, suite)


@router.get("/skill", summary="One skill: families, harmed tasks, versions")
def skill_page(request: Request, skill: _Skill, agent: _Agent = None, suite: _Suite = None) -> SkillEvidence:
    """What the recorded pairs say about a skill."""
    from skilldelta.serve.skill_page import skill_document

    return skill_document(views_of(request), _shown(request, agent, suite), skill)


@router.get("/sweep", summary="Success against tokens over every threshold")
def sweep(request: Request, skill: _Skill, agent: _Agent = None, suite: _Suite = None) -> SweepDocument:
    """Column by column, always-on first."""
    from skilldelta.serve.skill_page import sweep_document

    return sweep_document(_shown(request, agent, suite).gated.of_skill(skill), skill)


@router.get("/map", summary="The tasks of a skill on a plane")
def task_map(request: Request, skill: _Skill, agent: _Agent = None, suite: _Suite = None) -> MapDocument:
    """The plane is that in which the tasks' vectors differ most; decisions do not rest on it."""
    from skilldelta.serve.skill_page import map_document

    return map_document(_shown(request, agent, suite).gated.of_skill(skill), skill)


@router.post("/try", summary="Answer a question without recording it")
def try_it(request: Request, body: TrialBody) -> TrialDocument:
    """The decision of `/v1/decide`, its place on the map, and what would change it."""
    from skilldelta.serve.skill_page import trial_document

    gate = gate_of(request)
    chosen = gate.settings.gate
    if body.threshold is not None:
        chosen = replace(chosen, threshold=body.threshold)
    names = body.model_dump(exclude={"threshold"})
    return trial_document(gate, views_of(request), Question(**names, explain=True, record=False, gate=chosen))


@router.get("/reality", summary="What was predicted beside what happened")
def reality(
    request: Request,
    skill: _Chosen = None,
    agent: _Chosen = None,
    action: Literal["use", "skip"] | None = None,
    since: _Since = None,
) -> RealityDocument:
    """The filters choose what is counted and drawn; the alarms look at the whole log."""
    from skilldelta.serve.reality_page import RealityFilter

    return reality_log_of(request).document(RealityFilter(skill, agent, action, since))


@router.get("/reality.csv", summary="The outcomes behind the reality page", response_class=Response)
def reality_table(
    request: Request,
    skill: _Chosen = None,
    agent: _Chosen = None,
    action: Literal["use", "skip"] | None = None,
    since: _Since = None,
) -> Response:
    """One row per decision whose success was reported, oldest first."""
    from skilldelta.serve.reality_page import RealityFilter

    table = reality_log_of(request).table(RealityFilter(skill, agent, action, since))
    headers = {"Content-Disposition": 'attachment; filename="skilldelta-outcomes.csv"'}
    return Response(table, media_type="text/csv; charset=utf-8", headers=headers)


@router.get("/policies", summary="What the policies of an evaluation are called and do")
def policy_lines() -> list[PolicyLine]:
    """SkillDelta's own first, then those of installed packages."""
    return [PolicyLine(entry.name, entry.title, entry.meaning) for entry in policies().values()]


def views_of(request: Request) -> EvidenceViews:
    """What the pages of this app share; made with the first of them."""
    from skilldelta.serve.evidence_views import EvidenceViews

    state = request.app.state
    with _making:
        if not hasattr(state, "views"):
            state.views = EvidenceViews(gate_of(request))
    views: EvidenceViews = state.views
    return views


def reality_log_of(request: Request) -> RealityLog:
    """The outcomes that the pages of this app share."""
    from skilldelta.serve.reality_page import RealityLog

    state = request.app.state
    with _making:
        if not hasattr(state, "reality_log"):
            state.reality_log = RealityLog(gate_of(request))
    log: RealityLog = state.reality_log
    return log


def _shown(request: Request, agent: str | None, suite: str | None) -> ShownPanel:
    panel = views_of(request).panel(agent, suite)
    if panel is None:
        raise InputError("the bank has no complete pair yet; import executions of both conditions first")
    return panel
