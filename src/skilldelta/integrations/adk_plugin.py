"""Google Agent Development Kit: a plugin that adds the skill to the instructions of an invocation where it helps."""

from __future__ import annotations

import asyncio
from typing import Any

from skilldelta.integrations.skill_gate import SkillGate, required

with required("google-adk"):
    from google.adk.plugins.base_plugin import BasePlugin


class SkillDeltaPlugin(BasePlugin):
    """`Runner(app=App(…, plugins=[SkillDeltaPlugin(gate)]), …)`; a session has one decision."""

    def __init__(self, gate: SkillGate) -> None:
        super().__init__(name="skilldelta")
        self._gate = gate
        self._tokens: dict[str, float] = {}

    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> None:
        """Decide when the session's first message arrives; the message itself stays as it is."""
        text = "\n".join(part.text for part in user_message.parts or [] if part.text)
        await asyncio.to_thread(self._gate.decide, text, conversation=invocation_context.session.id)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Add the skill's text to the system instruction."""
        answer = self._gate.answer_of(_session(callback_context))
        if answer is not None and answer.use:
            llm_request.append_instructions([answer.text])

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        """Count what the session's model calls take."""
        usage = llm_response.usage_metadata
        if usage is not None and usage.total_token_count and not llm_response.partial:
            session = _session(callback_context)
            self._tokens[session] = self._tokens.get(session, 0.0) + usage.total_token_count

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """Record the invocation's tokens with the session's decision."""
        session = invocation_context.session.id
        answer, tokens = self._gate.answer_of(session), self._tokens.pop(session, 0.0)
        if answer is not None and tokens:
            await asyncio.to_thread(self._gate.record, answer, tokens=tokens)


def _session(callback_context: Any) -> str:
    return str(callback_context.session.id)
