"""Chat completions of an OpenAI-compatible endpoint: the request's bytes, the answer's meaning.

A request is a pure function of settings and messages, so that both arms send the same bytes but for the skill. Answers
that are no completion are transport errors; answers that mean "not like this" stop the collection.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from skilldelta.collect.arms import Message
from skilldelta.collect.failures import IncompleteError, StopCollectionError, TransportError
from skilldelta.collect.http import HttpClient, Response

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Sampling:
    """Everything a request carries besides the messages; None is left out of it."""

    model: str
    temperature: float = 0.0
    max_tokens: int = 1024
    top_p: float | None = None
    stop: tuple[str, ...] = ()


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
    client: HttpClient = field(init=False, repr=False)
    _turn: asyncio.Semaphore | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.client = HttpClient(self.base_url, timeout=self.timeout)

    def limit(self, calls_at_once: int) -> None:
        """Let no more calls be open at the same time; further ones wait for their turn."""
        self._turn = asyncio.Semaphore(calls_at_once)

    async def complete(self, sampling: Sampling, body: bytes) -> Completion:
        """One call. The returned model name is checked against the asked one."""
        headers = {"content-type": "application/json", "accept": "application/json"}
        if self.api_key:
            headers["authorization"] = f"Bearer {self.api_key}"
        async with self._turn or contextlib.nullcontext():
            started = time.monotonic()
            response = await self.client.post("/chat/completions", body, headers)
        seconds = time.monotonic() - started
        _refuse_failures(response, self.base_url, sampling.model)
        completion = _completion(response.body, seconds)
        check_model(self.expected_model or sampling.model, completion.model)
        return completion


def request_body(sampling: Sampling, messages: Sequence[Message], *, seed: int) -> bytes:
    """The request as sent; keys in one fixed order."""
    request: dict[str, Any] = {
        "model": sampling.model,
        "messages": [{"role": message.role, "content": message.content} for message in messages],
        "temperature": sampling.temperature,
        "max_tokens": sampling.max_tokens,
        "seed": seed,
    }
    if sampling.top_p is not None:
        request["top_p"] = sampling.top_p
    if sampling.stop:
        request["stop"] = list(sampling.stop)
    return _encode(request).encode()


def check_model(asked: str, returned: str) -> None:
    """Stop when another model answered. A date behind the asked name is the same model; no name at all is unchecked."""
    if not returned or returned.casefold() == asked.casefold():
        return
    dated = re.fullmatch(re.escape(asked) + r"-\d{2,4}(-?\d{2}){0,2}", returned, re.IGNORECASE)
    if not dated:
        raise StopCollectionError(
            f"asked for model {asked!r}, the endpoint answered as {returned!r}; "
            f"start the model that was asked for, or say --returned-model {returned!r} if it is the same"
        )


def _refuse_failures(response: Response, base_url: str, model: str) -> None:
    status = response.status
    if status == 200:
        return
    said = _error_text(response.body)
    if status in (401, 403):
        raise StopCollectionError(
            f"{base_url} refused the key (HTTP {status}: {said}); set the key's variable and run again"
        )
    if status == 404:
        raise StopCollectionError(f"{base_url} does not know model {model!r} or this path (HTTP 404: {said})")
    if status in (400, 413, 422):
        raise IncompleteError(f"{base_url} refused the request (HTTP {status}: {said})")
    raise TransportError(f"{base_url} answered HTTP {status}: {said}", retry_after=_retry_after(response))


def _completion(body: bytes, seconds: float) -> Completion:
    try:
        answer = json.loads(body)
        choice = answer["choices"][0]
        text = choice["message"].get("content")
        usage = answer.get("usage") or {}
        return Completion(
            text=text if isinstance(text, str) else "",
            model=str(answer.get("model") or ""),
            finish=str(choice.get("finish_reason") or ""),
            tokens_in=_count(usage.get("prompt_tokens")),
            tokens_out=_count(usage.get("completion_tokens")),
            seconds=seconds,
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        raise TransportError(f"the answer is not a chat completion: {body[:120]!r}") from None


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None


def _error_text(body: bytes) -> str:
    try:
        error = json.loads(body)["error"]
        said = error["message"] if isinstance(error, dict) else error
    except (ValueError, KeyError, TypeError):
        said = body.decode("utf-8", "replace")
    return " ".join(str(said).split())[:200] or "no reason given"


def _retry_after(response: Response) -> float | None:
    try:
        return max(0.0, float(response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None
