"""What agents of a model have in common: the settings of a suite, the conversation of an arm, the `code` solver.

`generate`: the reply is the answer. `code`: the reply is a function, its return value in the sandbox is the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skilldelta.collect.agents.base import Attempt, fingerprint
from skilldelta.collect.arms import Message, arm_messages
from skilldelta.collect.budget import Prices
from skilldelta.collect.code_answer import PREFILL, STOP
from skilldelta.collect.sandbox import Sandbox
from skilldelta.collect.suite import AgentSettings
from skilldelta.records import Agent


@dataclass(slots=True)
class ModelAgent:
    """A model with its settings. `sandbox` is there exactly when the solver is `code`."""

    name: str
    model: str
    wanted: AgentSettings
    sandbox: Sandbox | None = None
    prices: Prices | None = None
    needs_workdir: bool = False

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the fingerprint is made of, for the manifest."""
        raise NotImplementedError

    @property
    def asking_settings(self) -> dict[str, Any]:
        """How a model is asked; prompts that are not used leave a fingerprint as it was before there were any."""
        prompts = {"prompt": self.wanted.prompt, "skill_prompt": self.wanted.skill_prompt}
        return {
            "temperature": self.wanted.temperature,
            "max_tokens": self.wanted.max_tokens,
            "top_p": self.wanted.top_p,
            "stop": list(self.stop),
            "system": self.wanted.system,
            **{name: text for name, text in prompts.items() if text},
        }

    @property
    def identity(self) -> Agent:
        return Agent(self.name, fingerprint(self.settings))

    @property
    def stop(self) -> tuple[str, ...]:
        """The code solver's stop texts belong to its protocol."""
        return STOP if self.sandbox else self.wanted.stop

    def messages(self, attempt: Attempt) -> list[Message]:
        """The conversation of one arm."""
        planned = attempt.planned
        prefill = PREFILL if self.sandbox else ""
        return arm_messages(
            planned.task.text, planned.condition, self.wanted, skill_text=attempt.skill_text, prefill=prefill
        )

    async def identify(self) -> None:
        """Everything is known before the agent is run."""
