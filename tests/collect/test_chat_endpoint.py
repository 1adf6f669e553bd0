from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from collect.endpoint import completion, serving
from skilldelta.collect.arms import Message
from skilldelta.collect.chat_endpoint import ChatEndpoint, Completion, check_model, request_body
from skilldelta.collect.execution_errors import IncompleteError, StopCollectionError, TransportError
from skilldelta.collect.suite import AgentSettings

SETTINGS = AgentSettings(temperature=0.2, max_tokens=9, stop=("\n",))


def ask(answer: Any, *, key: str = "", model: str | None = None) -> Completion:
    with serving(lambda request: answer, model=model) as endpoint:
        return complete(ChatEndpoint(endpoint.url, key, timeout=10))


def complete(chat: ChatEndpoint) -> Completion:
    async def main() -> Completion:
        try:
            return await chat.complete("m", request_body("m", SETTINGS, [], seed=1))
        finally:
            await chat.client.close()

    return asyncio.run(main())


def test_a_request_is_the_same_bytes_every_time_and_leaves_out_what_is_not_set() -> None:
    body = request_body("m", AgentSettings(), [Message("user", "é")], seed=3)
    expected = '{"model":"m","messages":[{"role":"user","content":"é"}],"temperature":0.0,"max_tokens":1024}'
    assert body == expected.encode()
    assert b'"stop":["\\n"]' in request_body("m", SETTINGS, [], seed=3)


def test_a_completion_is_read_with_its_tokens() -> None:
    assert ask("hello") == Completion("hello", "m", "stop", 10, 2, seconds=0.0)


def test_an_empty_completion_is_an_answer_not_an_error() -> None:
    body = completion("", model="m").replace(b'"content": ""', b'"content": null')
    assert ask((200, body)).text == ""


def test_the_key_is_sent_and_never_shown() -> None:
    with serving(lambda request: "x") as endpoint:
        chat = ChatEndpoint(endpoint.url, "sk-secret", timeout=10)
        complete(chat)
    assert endpoint.headers[0]["authorization"] == "Bearer sk-secret"
    assert "sk-secret" not in repr(chat)


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        ((401, b'{"error": {"message": "bad key"}}'), StopCollectionError, "refused the key (HTTP 401: bad key)"),
        ((404, b'{"error": "no such model"}'), StopCollectionError, "does not know model 'm'"),
        ((400, b'{"error": {"message": "too long"}}'), IncompleteError, "too long"),
        ((429, b"slow down"), TransportError, "HTTP 429: slow down"),
        ((500, b""), TransportError, "HTTP 500: no reason given"),
        ((302, b""), StopCollectionError, "redirects (HTTP 302)"),
        ((500, b'{"error": "\\u001b[31m\\ud800"}'), TransportError, "HTTP 500: \ufffd[31m\ufffd"),
        ((200, b"[" * 100_000), TransportError, "not a chat completion"),
        ((200, b'{"choices": ' + b"[" * 100_000), TransportError, "not a chat completion"),
        ((200, b"<html>"), TransportError, "not a chat completion"),
        ((200, b'{"choices": []}'), TransportError, "not a chat completion"),
        ((200, b'{"choices": [{"message": "text"}]}'), TransportError, "not a chat completion"),
    ],
)
def test_what_is_not_a_completion_is_called_by_its_meaning(answer: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        ask(answer)
    assert said in str(caught.value)


@pytest.mark.parametrize(("asked", "returned"), [("m", "m"), ("m", "M"), ("gpt-x", "gpt-x-2024-08-06"), ("m", "")])
def test_the_asked_model_and_its_dated_name_pass(asked: str, returned: str) -> None:
    check_model(asked, returned)


@pytest.mark.parametrize(("asked", "returned"), [("m", "n"), ("gpt-x", "gpt-x-mini"), ("gpt-x-mini", "gpt-x")])
def test_another_model_stops_the_collection(asked: str, returned: str) -> None:
    with pytest.raises(StopCollectionError, match="the endpoint answered as"):
        check_model(asked, returned)


def test_a_returned_name_that_was_announced_passes() -> None:
    with serving(lambda request: "x", model="weights.gguf") as endpoint:
        chat = ChatEndpoint(endpoint.url, timeout=10, expected_model="weights.gguf")
        assert complete(chat).text == "x"


@pytest.mark.parametrize(
    "usage",
    [
        b"9" * 5_000,
        b"9" * 4_000,
        b"-1",
        b"NaN",
        b"Infinity",
        b"1e999",
        b'"12"',
        b"true",
        b"[1]",
        b"null",
        b"1.5",
    ],
)
def test_a_usage_that_is_no_count_of_tokens_is_unknown_and_the_answer_is_kept(usage: bytes) -> None:
    body = completion("hello", model="m").replace(b'"prompt_tokens": 10', b'"prompt_tokens": ' + usage)
    answer = ask((200, body))
    assert (answer.text, answer.tokens_in, answer.tokens_out) == ("hello", None, 2)


@pytest.mark.parametrize("usage", ["many", [], 7, None])
def test_a_usage_of_another_kind_is_unknown(usage: Any) -> None:
    document = json.loads(completion("hello", model="m")) | {"usage": usage}
    answer = ask((200, json.dumps(document).encode()))
    assert (answer.text, answer.tokens_in, answer.tokens_out) == ("hello", None, None)


def test_a_lone_surrogate_is_read_and_can_be_sent_again() -> None:
    assert ask("x\ud800y").text == "x\ud800y"
    assert rb'"content":"x\ud800y"' in request_body("m", SETTINGS, [Message("user", "x\ud800y")], seed=0)
