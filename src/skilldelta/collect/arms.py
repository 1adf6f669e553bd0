"""The two arms: one conversation per execution, identical but for the skill text.

The use arm has one message more, the skill as a system message after the system prompt; or, where a suite says so, the
skill stands in the user's message. The skip arm is exactly the agent without the skill: no empty section, no leftover
instruction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from skilldelta.collect.suite import AgentSettings
from skilldelta.records import Condition

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    content: str


def arm_messages(
    task_text: str, condition: Condition, settings: AgentSettings, *, skill_text: str, prefill: str = ""
) -> list[Message]:
    """The messages of one arm. The prompt and `prefill`, which begins the assistant's turn, are the same in both arms."""
    system = settings.system
    if condition == "use" and settings.skill_system:
        system += settings.skill_system.replace("{skill}", skill_text)
    messages = [Message("system", system)] if system else []
    if condition == "use" and not settings.skill_prompt and not settings.skill_system:
        messages.append(Message("system", skill_text))
    prompt = settings.prompt.replace("{task}", task_text) if settings.prompt else task_text
    if condition == "use" and settings.skill_prompt:
        before, _, after = settings.skill_prompt.partition("{task}")
        # Filled one place at a time, since a skill's text and a task's may hold braces of their own.
        prompt = before.replace("{skill}", skill_text) + prompt + after.replace("{skill}", skill_text)
    messages.append(Message("user", prompt))
    if prefill:
        messages.append(Message("assistant", prefill))
    return messages
