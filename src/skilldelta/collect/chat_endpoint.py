"""Chat completions of an OpenAI-compatible endpoint: the request's bytes, the answer's meaning.

A request is a pure function of settings and messages, so that both arms send the same bytes but for the skill. Answers
that are no completion are transport errors; answers that mean "not like this" stop the collection.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from skilldelta.collect.arms import Message
from skilldelta.collect.execution_errors import IncompleteError, StopCollectionError, TransportError
from skilldelta.collect.suite import AgentSettings
from skilldelta.endpoint import EndpointReply, JsonEndpoint, NoAnswerError, one_line, read_json

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
# A larger count is a fault of the endpoint.
_MOST_TOKENS = 10**12


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model answered, and what the endpoint says it cost."""

    text: str
    model: str
    finish: str
    tokens_in: int | None
    tokens_out: int | None
    seconds: float = field(compare=False)
    """From sending the request to its whole answer; waiting for a turn is not the model's time."""


@dataclass(slots=True)
class ChatEndpoint:
    """An OpenAI-compatible endpoint. The key is held, never stored or logged."""

    base_url: str
    api_key: str = field(default="", repr=False)
    timeout: float = 600.0
    expected_model: str = ""
    """The name the endpoint is known to answer with, when it is another than the one asked."""
    proxy: str | None = field(default=None, repr=False)
    client: JsonEndpoint = field(init=False, repr=False)
    _turn: asyncio.Semaphore | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.client = JsonEndpoint(
            self.base_url, "/chat/completions", api_key=self.api_key, timeout=self.timeout, proxy=self.proxy
        )

    def limit(self, calls_at_once: int) -> None:
        """Let no more calls be open at the same time; further ones wait for their turn."""
        self._turn = asyncio.Semaphore(calls_at_once)

    async def complete(self, model: str, body: bytes) -> Completion:
        """One request, never sent again from here. The returned model name is checked against the asked one."""
        async with self._turn or contextlib.nullcontext():
            started = time.monotonic()
            try:
                answer = await self.client.post(body)
            except NoAnswerError as error:
                raise TransportError(str(error), may_be_paid=error.sent) from None
        seconds = time.monotonic() - started
        _refuse_failures(answer, self.base_url, model)
        completion = _completion(answer.body, seconds)
        check_model(self.expected_model or model, completion.model)
        return completion


def request_body(model: str, settings: AgentSettings, messages: Sequence[Message], *, seed: int) -> bytes:
    """The request as sent; keys in one fixed order. A lone surrogate, which UTF-8 cannot hold, goes as its JSON escape."""
    request: dict[str, Any] = {
        "model": model,
        "messages": [{"role": message.role, "content": message.content} for message in messages],
    }
    if settings.temperature is not None:
        request["temperature"] = settings.temperature
    request[settings.max_tokens_field] = settings.max_tokens
    if settings.send_seed:
        request["seed"] = seed
    if settings.top_p is not None:
        request["top_p"] = settings.top_p
    if settings.stop:
        request["stop"] = list(settings.stop)
    return _encode({**request, **reasoning_fields(model, settings)}).encode("utf-8", "backslashreplace")


def reasoning_fields(model: str, settings: AgentSettings) -> dict[str, Any]:
    """The fields of a request that steer how a model thinks, and whatever else a suite adds.

    Families of models know different switches: the name's last part decides. An effort that is asked for replaces them.
    """
    name = model.rsplit("/", 1)[-1].lower()
    fields: dict[str, Any] = {}
    if settings.reasoning_effort:
        fields = {"reasoning_effort": settings.reasoning_effort}
    elif settings.thinking is not None:
        if "qwen3" in name:
            fields = {"chat_template_kwargs": {"enable_thinking": settings.thinking}}
        elif "glm-5" in name or "kimi" in name:
            fields = {"enable_thinking": settings.thinking}
        elif "gpt-5" in name and not settings.thinking:
            fields = {"reasoning_effort": "minimal"}
    return {**fields, **settings.extra_body}


def check_model(requested: str, returned: str) -> None:
    """Stop when another model answered. A date behind the asked name is the same model; no name at all is unchecked."""
    if not returned or returned.casefold() == requested.casefold():
        return
    dated = re.fullmatch(re.escape(requested) + r"-\d{2,4}(-?\d{2}){0,2}", returned, re.IGNORECASE)
    if not dated:
        raise StopCollectionError(
            f"asked for model {requested!r}, the endpoint answered as {returned!r}; "
            f"start the model that was asked for, or say --returned-model {returned!r} if it is the same",
            may_be_paid=True,
        )


def _refuse_failures(answer: EndpointReply, base_url: str, model: str) -> None:
    status = answer.status
    if status == 200:
        return
    message = _error_text(answer.body)
    if status in (401, 403):
        raise StopCollectionError(
            f"{base_url} refused the key (HTTP {status}: {message}); set the key's variable and run again"
        )
    if status == 404:
        raise StopCollectionError(f"{base_url} does not know model {model!r} or this path (HTTP 404: {message})")
    if 300 <= status < 400:
        raise StopCollectionError(
            f"{base_url} redirects (HTTP {status}), and a key is not handed on; give the address it redirects to"
        )
    if status in (400, 413, 422):
        raise IncompleteError(f"{base_url} refused the request (HTTP {status}: {message})", may_be_paid=False)
    raise TransportError(f"{base_url} answered HTTP {status}: {message}", retry_after=_retry_after(answer))


def _completion(body: bytes, seconds: float) -> Completion:
    try:
        answer = read_json(body)
        choice = answer["choices"][0]
        text = choice["message"].get("content")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        raise TransportError(f"the answer is not a chat completion: {body[:120]!r}", may_be_paid=True) from None
    usage = answer.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    return Completion(
        text=text if isinstance(text, str) else "",
        model=_name(answer.get("model")),
        finish=_name(choice.get("finish_reason")),
        tokens_in=_count(usage.get("prompt_tokens")),
        tokens_out=_count(usage.get("completion_tokens")),
        seconds=seconds,
    )


def _name(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int | None:
    """A count of tokens; what cannot be one is unknown."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST_TOKENS else None


def _error_text(body: bytes) -> str:
    try:
        error = read_json(body)["error"]
        message = error["message"] if isinstance(error, dict) else error
    except (ValueError, KeyError, TypeError):
        message = body[:2000].decode("utf-8", "replace")
    return one_line(str(message)) or "no reason given"


def _retry_after(answer: EndpointReply) -> float | None:
    try:
        seconds = float(answer.headers["retry-after"])
    except (KeyError, ValueError):
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
