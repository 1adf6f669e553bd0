"""A real Pydantic AI agent with its FunctionModel: what the model is sent, with the skill used and skipped."""

from __future__ import annotations

from typing import Any

import pytest

from integrations.gates import SKILL_TEXT, TASK, Desk

pytest.importorskip("pydantic_ai", reason="pydantic_ai is not installed; make test-frameworks runs this")

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from skilldelta.integrations.pydantic_ai_capability import SkillDeltaCapability


def watched_agent(seen: list[str], *capabilities: Any) -> Agent[None, str]:
    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append(info.instructions or "")
        return ModelResponse(parts=[TextPart("864")])

    return Agent(FunctionModel(answer), instructions="Be brief.", capabilities=capabilities)


def test_the_skill_is_part_of_the_instructions_of_the_first_request() -> None:
    seen: list[str] = []
    desk = Desk("use")
    watched_agent(seen, SkillDeltaCapability(desk.gate())).run_sync(TASK)
    assert seen[0].startswith("Be brief.")
    assert seen[0].endswith(SKILL_TEXT)
    assert desk.asked[0]["text"] == TASK


def test_a_skipped_skill_leaves_the_instructions_alone() -> None:
    seen: list[str] = []
    watched_agent(seen, SkillDeltaCapability(Desk("skip").gate())).run_sync(TASK)
    watched_agent(seen).run_sync(TASK)
    assert seen[0] == seen[1] == "Be brief."


def test_a_conversation_has_one_decision_for_all_its_runs() -> None:
    seen: list[str] = []
    desk = Desk("use")
    agent = watched_agent(seen, SkillDeltaCapability(desk.gate()))
    first = agent.run_sync(TASK)
    agent.run_sync("And in 4?", message_history=first.all_messages())
    assert [question["text"] for question in desk.asked] == [TASK]
    assert SKILL_TEXT in seen[1]


def test_the_tokens_of_a_run_are_recorded() -> None:
    desk = Desk("skip")
    watched_agent([], SkillDeltaCapability(desk.gate())).run_sync(TASK)
    assert desk.told[0]["decision_id"] == 1
    assert desk.told[0]["tokens"] > 0
