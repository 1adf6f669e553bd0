"""The gate as tools and resources of the Model Context Protocol, for any transport and over streamable HTTP.

A tool is advice: a model has to choose to call it, after its first step. The gate that decides before the first step is a
hook or a plugin of the harness.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from skilldelta.bank.entries import RecordedOutcome
from skilldelta.errors import InputError, MissingExtraError, SkillDeltaError
from skilldelta.gate import Gate, Question
from skilldelta.gate_settings import SETTING
from skilldelta.serve.gate_service import GateService
from skilldelta.version import __version__

try:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
    from mcp_types import ToolAnnotations
    from pydantic import AliasChoices, Field

    from skilldelta.serve.mcp_documents import (
        BankDocument,
        ChoiceDocument,
        ExplanationDocument,
        RecordedDocument,
        RouteDocument,
        SkillDocument,
    )
    from skilldelta.serve.wire_formats import GateBody
except ImportError as error:
    raise MissingExtraError("the MCP server", "mcp") from error

if TYPE_CHECKING:
    from skilldelta.serve.admission import AdmissionRules

T = TypeVar("T")

PATH = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

INSTRUCTIONS = """SkillDelta predicts, from paired executions with and without a skill, whether the skill makes the agent \
more likely to succeed at a task. Call skilldelta_route before you load a skill, or skilldelta_choose where several are on \
offer, with the user's task as the text. Follow the action: load the skill on "use", leave it on "skip", decide yourself \
on "abstain". When you know how the task ended, call skilldelta_record with the decision_id."""

_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
_ADDS_ONCE = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

TaskText = Annotated[
    str,
    Field(
        validation_alias=AliasChoices("text", "task"),  # `task` is the old name
        min_length=1,
        max_length=400_000,
        description="The task as the user wrote it.",
    ),
]
SkillName = Annotated[str, Field(min_length=1, description="A skill's name; skilldelta_inspect lists them.")]
AgentName = Annotated[str | None, Field(description="Who runs the task; needed where the bank has several agents.")]
SuiteName = Annotated[
    str | None, Field(description="Whose evidence may answer; needed where there are several suites.")
]
ConversationName = Annotated[
    str | None, Field(description="An id of this conversation: asked again, it gets its first decision again.")
]
GateSettings = Annotated[
    GateBody | None,  # type: ignore[valid-type]
    Field(description="How to decide; what is left out is as the server was started."),
]
# The two settings that could be given before `gate` existed; they go before those of `gate`.
Threshold = Annotated[float | None, Field(description=SETTING["threshold"].help)]
Paper = Annotated[bool, Field(description=SETTING["paper"].help)]
Recorded = Annotated[bool, Field(description="Write the decision into the log.")]


def mcp_server(service: GateService) -> MCPServer[Any]:
    """A server whose tools ask a service. The caller closes the service."""
    server: MCPServer[Any] = MCPServer(
        "skilldelta", title="SkillDelta", version=__version__, instructions=INSTRUCTIONS, log_level="WARNING"
    )
    _add_decisions(server, service)
    _add_log(server, service)
    _add_resources(server, service)
    return server


def http_app(server: MCPServer[Any], rules: AdmissionRules) -> Any:
    """The ASGI application, with MCP at `/mcp`, behind the same door as the HTTP API.

    A token, where one is asked for, must allow writing.
    """
    try:
        from mcp.server.transport_security import TransportSecuritySettings

        from skilldelta.serve.admission import Admission
        from skilldelta.serve.http_guard import HttpGuard
    except ModuleNotFoundError as error:
        raise MissingExtraError("skilldelta mcp --http", "mcp,serve") from error
    # The door does not look at the Origin of what is only read, which is a stream of messages here; so the SDK does.
    hosts = [f"{name}{port}" for name in (*_LOOPBACK, *rules.hosts) for port in ("", ":*")]
    origins = [f"http://{host}" for host in hosts]
    inner = TransportSecuritySettings(
        enable_dns_rebinding_protection=not rules.any_address, allowed_hosts=hosts, allowed_origins=origins
    )
    # No tool needs a session, and a session that a client begins and never ends would stay in memory.
    app = server.streamable_http_app(streamable_http_path=PATH, transport_security=inner, stateless_http=True)
    return HttpGuard(app, Admission(rules), lambda *_: None)


def _add_decisions(server: MCPServer[Any], service: GateService) -> None:
    @server.tool(title="Route a task", annotations=_ADDS)
    def skilldelta_route(
        text: TaskText,
        skill: SkillName,
        family: Annotated[str | None, Field(description="The task's family, where it is known.")] = None,
        task_id: Annotated[str | None, Field(description="The task's id: its own record is left out.")] = None,
        agent: AgentName = None,
        suite: SuiteName = None,
        conversation: ConversationName = None,
        gate: GateSettings = None,
        threshold: Threshold = None,
        paper: Paper = False,
        record: Recorded = True,
    ) -> RouteDocument:
        """Should this skill be used for this task? The decision with its gain, its reason and the nearest recorded tasks."""
        names = {"family": family, "task_id": task_id, "suite": suite, "conversation": conversation}
        decider = _gate(service, gate, threshold, paper)
        question = _question(text, skill, decider, agent=agent, record=record, **names)
        return RouteDocument.model_validate(_told(lambda: service.decide(question)).to_dict())

    @server.tool(title="Choose a skill", annotations=_ADDS)
    def skilldelta_choose(
        text: TaskText,
        skills: Annotated[list[str], Field(min_length=1, max_length=200, description="The skills on offer.")],
        skill_digests: Annotated[
            dict[str, str] | None, Field(max_length=200, description="SHA-256 of the texts on offer, by skill.")
        ] = None,
        agent: AgentName = None,
        suite: SuiteName = None,
        conversation: ConversationName = None,
        gate: GateSettings = None,
        threshold: Threshold = None,
        paper: Paper = False,
        record: Recorded = True,
    ) -> ChoiceDocument:
        """Which of these skills should be used for this task? The one that it is about, if its gate says use; or none."""
        names = {"agent": agent, "suite": suite, "conversation": conversation}
        digests, decider = skill_digests or {}, _gate(service, gate, threshold, paper)
        questions = [
            _question(text, skill, decider, record=record, skill_digest=digests.get(skill), **names) for skill in skills
        ]
        return ChoiceDocument.model_validate(_told(lambda: service.choose(questions)).to_dict())


def _add_log(server: MCPServer[Any], service: GateService) -> None:
    @server.tool(title="Explain a decision", annotations=_READS)
    def skilldelta_explain(
        decision_id: Annotated[int, Field(ge=1, description="As skilldelta_route returned it.")],
    ) -> ExplanationDocument:
        """Why was this decided? A past decision with the evidence it rested on, and what happened afterwards."""
        return ExplanationDocument.model_validate(_told(lambda: service.explain(decision_id)))

    @server.tool(title="Record an outcome", annotations=_ADDS_ONCE)
    def skilldelta_record(
        decision_id: Annotated[int, Field(ge=1, description="As skilldelta_route returned it.")],
        success: Annotated[float | None, Field(ge=0, le=1, description="1 for success, 0 for failure.")] = None,
        tokens: Annotated[float | None, Field(ge=0, description="Tokens that the task took.")] = None,
        seconds: Annotated[float | None, Field(ge=0, description="Seconds that the task took.")] = None,
        cost_usd: Annotated[float | None, Field(ge=0, description="Dollars that the task cost.")] = None,
        key: Annotated[str | None, Field(description="The same key again adds nothing.")] = None,
    ) -> RecordedDocument:
        """Record what happened after a decision; at least one of the values. The same values again add nothing."""
        values = {"success": success, "tokens": tokens, "seconds": seconds, "cost_usd": cost_usd}
        logged = _told(
            lambda: service.record_outcome(RecordedOutcome(decision_id, time.time(), **values, key=key or ""))
        )
        return RecordedDocument(outcome_id=logged.id, is_new=logged.is_new)

    @server.tool(title="Inspect the bank", annotations=_READS)
    def skilldelta_inspect() -> BankDocument:
        """What can be asked? The skills, agents and suites of the bank, and how much evidence there is."""
        return BankDocument.model_validate(_told(lambda: _bank(service)))


def _add_resources(server: MCPServer[Any], service: GateService) -> None:
    @server.resource("skilldelta://bank", title="The bank", mime_type="application/json")
    def bank() -> str:
        """Counts of everything in the bank, its panels, and the names of its skills."""
        return json.dumps(_found(lambda: _bank(service)), ensure_ascii=False)

    @server.resource("skilldelta://skills", title="The skills", mime_type="application/json")
    def skills() -> str:
        """The names of the skills that can be asked about."""
        return json.dumps(_found(service.skill_names), ensure_ascii=False)

    @server.resource("skilldelta://skills/{skill}", title="A skill", mime_type="application/json")
    def skill(skill: str) -> str:
        """A skill's current version, with its text where the bank has it."""
        found = _found(lambda: service.skill(skill))
        document = SkillDocument(skill=found.skill_id, digest=found.digest or None, text=found.text or None)
        return document.model_dump_json()

    @server.resource("skilldelta://decisions/{decision_id}", title="A decision", mime_type="application/json")
    def decision(decision_id: int) -> str:
        """A past decision with the evidence it rested on, and its outcomes."""
        return json.dumps(_found(lambda: service.explain(decision_id)), ensure_ascii=False)


def _gate(service: GateService, body: Any, threshold: float | None, paper: bool) -> Gate:
    """The server's gate with the settings of a call in place of its own."""
    settings = {} if body is None else body.model_dump(exclude_none=True)
    settings |= {} if threshold is None else {"threshold": threshold}
    settings |= {"paper": True} if paper else {}
    return _told(lambda: Gate.from_settings(settings, service.settings.gate))


def _question(text: str, skill: str, gate: Gate, **fields: Any) -> Question:
    present = {name: value for name, value in fields.items() if value is not None}
    return Question(text=text, skill=skill, gate=gate, source="mcp", **present)


def _bank(service: GateService) -> dict[str, Any]:
    return {**service.status(), "location": None, "skills": service.skill_names()}


def _told(action: Callable[[], T]) -> T:
    """Errors that a caller can do something about reach the model; all others stay in the server."""
    try:
        return action()
    except SkillDeltaError as error:
        raise ToolError(" ".join(str(error).split())) from error


def _found(action: Callable[[], T]) -> T:
    try:
        return action()
    except InputError as error:
        raise ResourceNotFoundError(" ".join(str(error).split())) from error
