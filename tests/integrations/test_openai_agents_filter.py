"""A real agent of the OpenAI Agents SDK with a model of our own: what it is sent, with the skill used and skipped."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from integrations.gates import SKILL_TEXT, TASK, Desk

pytest.importorskip("agents", reason="openai-agents is not installed; make test-frameworks runs this")

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from skilldelta.integrations.openai_agents_filter import TokenRecorder, skill_filter


class WatchedModel(Model):
    """Calls the tool once, then answers; keeps the instructions of each call."""

    def __init__(self) -> None:
        self.instructions: list[str | None] = []

    async def get_response(
        self, system_instructions: str | None, input: Any, *args: Any, **kwargs: Any
    ) -> ModelResponse:
        self.instructions.append(system_instructions)
        output: Any = (
            ResponseFunctionToolCall(arguments="{}", call_id="1", name="stock", type="function_call")
            if len(self.instructions) == 1
            else _message("864")
        )
        return ModelResponse(output=[output], usage=Usage(requests=1, total_tokens=20), response_id=None)

    def stream_response(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


def _message(text: str) -> ResponseOutputMessage:
    content = ResponseOutputText(annotations=[], text=text, type="output_text")
    return ResponseOutputMessage(id="m", content=[content], role="assistant", status="completed", type="message")


@function_tool
def stock() -> str:
    """The number of pallets in stock."""
    return "3"


def run(desk: Desk) -> WatchedModel:
    set_tracing_disabled(True)
    model, gate = WatchedModel(), desk.gate()
    agent = Agent(name="clerk", instructions="Be brief.", model=model, tools=[stock])
    config = RunConfig(call_model_input_filter=skill_filter(gate, conversation="c1"))
    hooks = TokenRecorder(gate, conversation="c1")
    asyncio.run(Runner.run(agent, TASK, run_config=config, hooks=hooks))
    return model


def test_every_model_call_has_the_skill_behind_the_instructions_after_one_decision() -> None:
    desk = Desk("use")
    assert run(desk).instructions == [f"Be brief.\n\n{SKILL_TEXT}"] * 2
    assert [question["text"] for question in desk.asked] == [TASK]


def test_a_skipped_skill_leaves_the_instructions_alone() -> None:
    assert run(Desk("skip")).instructions == ["Be brief.", "Be brief."]


def test_the_tokens_of_a_run_are_recorded() -> None:
    desk = Desk("use")
    run(desk)
    assert desk.told == [{"decision_id": 1, "tokens": 40.0}]
