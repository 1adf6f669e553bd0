"""LangChain and LangGraph: a middleware for `create_agent` that adds the skill to the system message where it helps."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NotRequired

from skilldelta.integrations.skill_gate import GatedSkill, SkillGate, required

with required("langchain"):
    from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage


class GateState(AgentState[Any]):
    """What the middleware keeps in the agent's state: the answer, and how many messages it was charged for."""

    skilldelta: NotRequired[GatedSkill]  # type: ignore[valid-type]


class SkillDeltaMiddleware(AgentMiddleware[GateState, Any, Any]):
    """`create_agent(model, tools, middleware=[SkillDeltaMiddleware(gate)])`.

    The decision is made before the agent's first model call and kept in its state, so a thread with a checkpointer has one
    decision for all its turns.
    """

    state_schema = GateState

    def __init__(self, gate: SkillGate) -> None:
        super().__init__()
        self._gate = gate

    def before_agent(self, state: GateState, runtime: Any) -> dict[str, Any] | None:
        """Decide, unless this thread has a decision."""
        if "skilldelta" in state:
            return None
        return {"skilldelta": self._gate.decide(first_user_text(state["messages"]))}

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]) -> Any:
        """Add the skill's text to the system message; a skipped skill leaves the request as it is."""
        return handler(_with_skill(request))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> Any:
        """The same for asynchronous agents."""
        return await handler(_with_skill(request))

    def after_agent(self, state: GateState, runtime: Any) -> None:
        """Record the tokens that the thread has taken so far, where the model reports them."""
        used = [
            m.usage_metadata["total_tokens"] for m in state["messages"] if isinstance(m, AIMessage) and m.usage_metadata
        ]
        if used and "skilldelta" in state:
            self._gate.record(state["skilldelta"], tokens=float(sum(used)))


def first_user_text(messages: list[Any]) -> str:
    """The text of the conversation's first human message."""
    return next((str(message.text) for message in messages if isinstance(message, HumanMessage)), "")


def _with_skill(request: ModelRequest) -> ModelRequest:
    answer: GatedSkill | None = request.state.get("skilldelta")
    if answer is None or not answer.use:
        return request
    system = request.system_message
    before = [] if system is None else [*system.content_blocks]
    return request.override(system_message=SystemMessage([*before, {"type": "text", "text": answer.text}]))
