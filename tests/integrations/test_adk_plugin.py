"""A real agent of the Agent Development Kit with a model of our own: what it is sent, with the skill used and skipped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from integrations.gates import SKILL_TEXT, TASK, Desk

pytest.importorskip("google.adk", reason="google-adk is not installed; make test-frameworks runs this")

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from skilldelta.integrations.adk_plugin import SkillDeltaPlugin


class WatchedModel(BaseLlm):
    """Keeps the system instruction of each call."""

    model: str = "watched"
    instructions: list[str] = []  # noqa: RUF012 - a field of a pydantic model, copied per instance

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.instructions.append(str(llm_request.config.system_instruction))
        usage = types.GenerateContentResponseUsageMetadata(total_token_count=7)
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text="864")]), usage_metadata=usage)


def run(desk: Desk, *texts: str) -> list[str]:
    model = WatchedModel()
    agent = LlmAgent(name="clerk", model=model, instruction="Be brief.")
    plugins: list[Any] = [SkillDeltaPlugin(desk.gate())]
    runner = InMemoryRunner(app=App(name="shop", root_agent=agent, plugins=plugins))
    asyncio.run(_talk(runner, texts))
    return model.instructions


async def _talk(runner: InMemoryRunner, texts: tuple[str, ...]) -> None:
    session = await runner.session_service.create_session(app_name="shop", user_id="u")
    for text in texts:
        message = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=message):
            pass


def test_the_skill_is_behind_the_instruction_of_every_call_after_one_decision() -> None:
    desk = Desk("use")
    instructions = run(desk, TASK, "And in 4?")
    assert all(text.endswith(SKILL_TEXT) and text.count(SKILL_TEXT) == 1 for text in instructions)
    assert [question["text"] for question in desk.asked] == [TASK]


def test_a_skipped_skill_leaves_the_instruction_alone() -> None:
    assert SKILL_TEXT not in run(Desk("skip"), TASK)[0]


def test_the_tokens_of_an_invocation_are_recorded() -> None:
    desk = Desk("use")
    run(desk, TASK)
    assert desk.told == [{"decision_id": 1, "tokens": 7.0}]
