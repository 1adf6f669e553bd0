"""OpenAI Agents SDK: a filter of the model's input that adds the skill to the instructions where it helps."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from skilldelta.integrations.skill_gate import GatedSkill, SkillGate, first_user_text, required, with_text_below

with required("openai-agents"):
    from agents import RunHooks
    from agents.run import CallModelData, ModelInputData


def skill_filter(
    gate: SkillGate, *, conversation: str = ""
) -> Callable[[CallModelData[Any]], Awaitable[ModelInputData]]:
    """For `RunConfig(call_model_input_filter=skill_filter(gate))`.

    The SDK calls it before every model call and tells no conversation, so a conversation is known by the name given here,
    else by its first user message: the decision is the same at every step.
    """

    async def add_skill(data: CallModelData[Any]) -> ModelInputData:
        model_data = data.model_data
        task = first_user_text(model_data.input)
        answer = await asyncio.to_thread(gate.decide, task, conversation=conversation or task)
        if not answer.use:
            return model_data
        return ModelInputData(
            input=model_data.input, instructions=with_text_below(model_data.instructions, answer.text)
        )

    return add_skill


class TokenRecorder(RunHooks[Any]):
    """For `Runner.run(…, hooks=TokenRecorder(gate, conversation=…))`: records what the run took with its decision."""

    def __init__(self, gate: SkillGate, *, conversation: str) -> None:
        self._gate = gate
        self._conversation = conversation

    async def on_agent_end(self, context: Any, agent: Any, output: Any) -> None:
        """Record the run's tokens; a run whose gate was not asked has no decision to record them with."""
        answer: GatedSkill | None = self._gate.answer_of(self._conversation)
        if answer is not None and context.usage.total_tokens:
            await asyncio.to_thread(self._gate.record, answer, tokens=float(context.usage.total_tokens))
