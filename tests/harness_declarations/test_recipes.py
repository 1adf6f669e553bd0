"""What each harness prints is read as what it says, and what it does not say is unknown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skilldelta.harnesses import harness_named
from skilldelta.harnesses.harness import Recipe, Reply


def recipe(name: str) -> Recipe:
    declared = harness_named(name).recipe
    assert declared is not None
    return declared


def lines(*events: dict[str, Any]) -> str:
    return "warning: not JSON\n" + "".join(json.dumps(event) + "\n" for event in events)


def test_claude_code_counts_cached_tokens_too() -> None:
    usage = {"input_tokens": 3, "cache_creation_input_tokens": 4, "cache_read_input_tokens": 5, "output_tokens": 6}
    printed = lines({"type": "result", "result": "yes", "usage": usage, "total_cost_usd": 0.5, "modelUsage": {"m": {}}})
    assert recipe("claude-code").read(printed) == Reply("yes", 18.0, 0.5, "m")


def test_codex_adds_up_turns_and_answers_with_its_last_message() -> None:
    message = {"type": "item.completed", "item": {"type": "agent_message", "text": "first"}}
    last = {"type": "item.completed", "item": {"type": "agent_message", "text": "last"}}
    turn = {"type": "turn.completed", "usage": {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 1}}
    assert recipe("codex").read(lines(message, turn, last, turn)) == Reply("last", 22.0)


def test_gemini_adds_up_its_models() -> None:
    models = {"a": {"tokens": {"total": 4}}, "b": {"tokens": {"total": 6}}}
    printed = "Loaded.\n" + json.dumps({"response": "yes", "stats": {"models": models}}, indent=2)
    assert recipe("gemini").read(printed) == Reply("yes", 10.0, model="a,b")


def test_opencode_answers_with_the_text_of_its_last_message() -> None:
    def text(message: str, said: str) -> dict[str, Any]:
        return {"type": "text", "part": {"type": "text", "messageID": message, "text": said}}

    def step(message: str, tokens: int) -> dict[str, Any]:
        part = {"type": "step-finish", "messageID": message, "tokens": {"total": tokens}, "cost": 0.5}
        return {"type": "step_finish", "part": part}

    printed = lines(text("1", "let me see"), step("1", 5), text("2", "ye"), text("2", "s"), step("2", 7))
    assert recipe("opencode").read(printed) == Reply("yes", 12.0, 1.0)


def test_pi_adds_up_its_replies() -> None:
    def reply(said: str, tokens: int) -> dict[str, Any]:
        content = [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": said}]
        usage = {"totalTokens": tokens, "cost": {"total": 0.25}}
        return {
            "type": "message_end",
            "message": {"role": "assistant", "content": content, "usage": usage, "model": "m"},
        }

    user = {"type": "message_end", "message": {"role": "user", "content": [{"type": "text", "text": "?"}]}}
    assert recipe("pi").read(lines(user, reply("hm", 2), reply("yes", 3))) == Reply("yes", 5.0, 0.5, "m")


def test_dsh_prints_its_answer() -> None:
    assert recipe("dsh").read("yes\n") == Reply("yes")


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini", "opencode", "pi"])
@pytest.mark.parametrize(
    "printed",
    [
        "",
        "null",
        "[1]",
        "{",
        '{"type": "result", "is_error": true, "result": "x"}',
        '{"type": "result", "result": 3}',
        '{"type": "error", "error": "x"}\n{"type": "turn.failed"}',
        '{"type": "message_end", "message": {"role": "assistant", "stopReason": "error"}}',
        '{"error": {"message": "quota"}}',
        "[" * 100_000,
    ],
)
def test_an_output_without_an_answer_is_incomplete_and_never_a_failure(name: Any, printed: str) -> None:
    with pytest.raises(ValueError):
        recipe(name).read(printed)


@pytest.mark.parametrize("count", ["many", -1, None, True, 1e30, {"x": 1}])
def test_a_count_that_is_none_is_unknown(count: Any) -> None:
    printed = lines({"type": "result", "result": "yes", "usage": {"input_tokens": count}})
    assert recipe("claude-code").read(printed).tokens is None
