"""Any OpenAI-compatible agent, behind a LiteLLM proxy: a callback that adds the skill to a conversation where it helps.

A proxy sees single requests and no conversations. The first user message stands for the conversation, together with the
session id where the client sends one, so every step of a conversation gets the same decision, and the skill stands at the
same place in every request, which keeps the provider's prompt cache useful.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from typing import Any

from skilldelta.integrations.skill_gate import (
    GatedSkill,
    SkillGate,
    first_user_text,
    required,
    with_system_text,
    with_text_below,
)

with required("litellm"):
    from litellm.integrations.custom_logger import CustomLogger


class SkillDeltaCallback(CustomLogger):
    """For `litellm_settings: {callbacks: my_gate.callback}`, where my_gate.py holds `callback = SkillDeltaCallback(gate)`."""

    def __init__(self, gate: SkillGate, *, only_with_tools: bool = True) -> None:
        """Requests without tools are an agent's side calls, such as titles; `only_with_tools=False` gates them too."""
        super().__init__()
        self._gate = gate
        self._only_with_tools = only_with_tools

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        """The request, with the skill where the gate says use; a request that is not understood passes unchanged."""
        if self._only_with_tools and not data.get("tools"):
            return data
        turns = data.get("messages") if "messages" in data else data.get("input")
        task = turns if isinstance(turns, str) else first_user_text(turns) if isinstance(turns, list) else ""
        if not task:
            return data
        answer = await asyncio.to_thread(self._gate.decide, task, conversation=_conversation(data, task))
        return with_skill(data, answer, call_type) if answer.use else data


def with_skill(data: Mapping[str, Any], answer: GatedSkill, call_type: str) -> dict[str, Any]:
    """A copy of the request with the skill behind its system prompt, in the place that the interface has for it."""
    if "messages" not in data:
        return {**data, "instructions": with_text_below(data.get("instructions"), answer.text)}
    if call_type == "anthropic_messages":
        return {**data, "system": _system_blocks(data.get("system"), answer.text)}
    return {**data, "messages": with_system_text(data["messages"], answer.text)}


def _system_blocks(system: Any, text: str) -> list[Any]:
    blocks = [{"type": "text", "text": system}] if isinstance(system, str) and system else system or []
    return [*blocks, {"type": "text", "text": text}]


def _conversation(data: Mapping[str, Any], task: str) -> str:
    session = data.get("litellm_session_id") or (data.get("metadata") or {}).get("session_id") or ""
    return hashlib.sha256(f"{session}\0{task}".encode("utf-8", "surrogatepass")).hexdigest()
