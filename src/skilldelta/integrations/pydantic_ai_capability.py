"""Pydantic AI: a capability that adds the skill to an agent's instructions where it helps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from skilldelta.integrations.skill_gate import GatedSkill, SkillGate, plain_text, required

with required("pydantic-ai-slim"):
    import anyio.to_thread
    from pydantic_ai import RunContext
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import UserPromptPart
    from pydantic_ai.run import AgentRunResult


@dataclass
class SkillDeltaCapability(AbstractCapability[Any]):
    """`Agent(model, capabilities=[SkillDeltaCapability(gate)])`; runs of one conversation have one decision."""

    gate: SkillGate
    answer: GatedSkill | None = None
    """The decision of one run; the capability that an agent is built with has none."""

    async def for_run(self, ctx: RunContext[Any]) -> AbstractCapability[Any]:
        """A copy that holds the run's decision."""
        task, conversation = first_user_text(ctx), ctx.conversation_id or ""
        answer = await anyio.to_thread.run_sync(lambda: self.gate.decide(task, conversation=conversation))
        return replace(self, answer=answer)

    def get_instructions(self) -> str | None:
        """The skill's text, or nothing."""
        return self.answer.text if self.answer and self.answer.use else None

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Record the tokens of the run."""
        answer, tokens = self.answer, float(ctx.usage.total_tokens)
        if answer is not None and tokens:
            await anyio.to_thread.run_sync(lambda: self.gate.record(answer, tokens=tokens))
        return result


def first_user_text(ctx: RunContext[Any]) -> str:
    """The text that opened the conversation: from its history, else the run's own prompt."""
    parts = (part for message in ctx.messages for part in message.parts)
    return plain_text(next((part.content for part in parts if isinstance(part, UserPromptPart)), ctx.prompt))
