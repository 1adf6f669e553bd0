"""The two arms: one conversation per execution, identical but for the skill text.

The use arm has one message more, the skill as a system message after the system prompt. The skip arm is exactly the
agent without the skill: no empty section, no leftover instruction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from skilldelta.records import Condition

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    content: str


def arm_messages(
    task_text: str, condition: Condition, *, skill_text: str, system: str, prefill: str = ""
) -> list[Message]:
    """The messages of one arm; `prefill` begins the assistant's turn and is the same in both arms."""
    messages = [Message("system", system)] if system else []
    if condition == "use":
        messages.append(Message("system", skill_text))
    messages.append(Message("user", task_text))
    if prefill:
        messages.append(Message("assistant", prefill))
    return messages
