"""A real LangChain agent with its own fake model: what the model is sent, with the skill used and skipped."""

from __future__ import annotations

from typing import Any

import pytest

from integrations.gates import SKILL_TEXT, TASK, Desk

pytest.importorskip("langchain", reason="langchain is not installed; make test-frameworks runs this")

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langgraph.checkpoint.memory import InMemorySaver

from skilldelta.integrations.langchain_middleware import SkillDeltaMiddleware


class WatchedModel(GenericFakeChatModel):
    """LangChain's fake model, which keeps what it was sent."""

    seen: list[list[BaseMessage]] = []  # noqa: RUF012 - a field of a pydantic model, copied per instance

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        self.seen.append(messages)
        return super()._generate(messages, *args, **kwargs)


def model() -> WatchedModel:
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    return WatchedModel(messages=iter([AIMessage("864", usage_metadata=usage) for _ in range(4)]))


def agent(watched: WatchedModel, desk: Desk) -> Any:
    middleware = [SkillDeltaMiddleware(desk.gate())]
    return create_agent(watched, [], system_prompt="Be brief.", middleware=middleware, checkpointer=InMemorySaver())


def ask(subject: Any, thread: str, text: str = TASK) -> Any:
    return subject.invoke({"messages": [("user", text)]}, {"configurable": {"thread_id": thread}})


def test_the_skill_is_in_the_first_request_after_the_system_prompt() -> None:
    watched, desk = model(), Desk("use")
    ask(agent(watched, desk), "one")
    system = watched.seen[0][0]
    assert isinstance(system, SystemMessage)
    assert [block["text"] for block in system.content_blocks if block["type"] == "text"] == ["Be brief.", SKILL_TEXT]
    assert desk.asked[0]["text"] == TASK


def test_a_skipped_skill_leaves_the_request_as_it_is_without_the_gate() -> None:
    gated, plain = model(), model()
    ask(agent(gated, Desk("skip")), "one")
    create_agent(plain, [], system_prompt="Be brief.").invoke({"messages": [("user", TASK)]})
    assert [(m.type, m.content) for m in gated.seen[0]] == [(m.type, m.content) for m in plain.seen[0]]


def test_a_thread_has_one_decision_for_all_its_turns() -> None:
    watched, desk = model(), Desk("use")
    subject = agent(watched, desk)
    ask(subject, "one")
    ask(subject, "one", "And in 4?")
    assert len(desk.asked) == 1
    assert SKILL_TEXT in str(watched.seen[1][0].content)
    assert sum(SKILL_TEXT in str(message.content) for message in watched.seen[1]) == 1


def test_the_tokens_of_a_thread_are_recorded_with_its_decision() -> None:
    watched, desk = model(), Desk("skip")
    ask(agent(watched, desk), "one")
    assert desk.told == [{"decision_id": 1, "tokens": 15.0}]


async def _ask_async(watched: WatchedModel, desk: Desk) -> None:
    await agent(watched, desk).ainvoke({"messages": [("user", TASK)]}, {"configurable": {"thread_id": "one"}})


def test_asynchronous_agents_get_the_same() -> None:
    import asyncio

    watched, desk = model(), Desk("use")
    asyncio.run(_ask_async(watched, desk))
    assert SKILL_TEXT in str(watched.seen[0][0].content)
