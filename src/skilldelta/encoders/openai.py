"""Vectors from any OpenAI-compatible /embeddings endpoint.

What the endpoint answers is checked before it is believed: one vector per text, put in order by `index`, all of one
dimension, finite. The key travels in one header, to the given host only, and is never part of a message.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from copy import copy
from typing import Any

import numpy as np

from skilldelta.arrays import Vectors, unit_rows
from skilldelta.encoders import EncoderError, check_texts
from skilldelta.endpoint import EndpointReply, JsonEndpoint, NoAnswerError, one_line, read_json, run_blocking
from skilldelta.errors import InputError
from skilldelta.nouns import plural

# Statuses below 500 after which trying again may help.
_PASSING = (408, 425, 429)
_LONGEST_WAIT = 60.0  # seconds, whatever Retry-After asks for


class OpenAIEncoder:
    """One model behind one endpoint. `dimensions` asks the model for shorter vectors and is checked when given."""

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        dimensions: int | None = None,
        batch_size: int = 64,
        timeout: float = 60.0,
        attempts: int = 4,
        backoff: float = 0.5,
        proxy: str | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if not model:
            raise InputError("the encoder 'openai' needs a model; name one, such as text-embedding-3-small")
        if batch_size < 1 or attempts < 1:
            raise InputError(f"batch_size and attempts must be at least 1, got {batch_size} and {attempts}")
        self._endpoint = JsonEndpoint(base_url, "/embeddings", api_key=api_key or "", timeout=timeout, proxy=proxy)
        self._place = self._endpoint.place
        self._model = model
        self._dimensions = dimensions
        self._batch_size = batch_size
        self._attempts = attempts
        self._backoff = backoff
        self._sleep = sleep
        self._seen_dimension = dimensions

    @property
    def identity(self) -> str:
        """Such as "openai/api.example.com/v1/text-embedding-3-small/native/l2"; known without asking the endpoint.

        The address belongs to it, because two hosts may serve different weights under one model name.
        """
        url = self._endpoint.url
        place = f"{url.netloc}{url.path}".removesuffix("/embeddings")
        return f"openai/{place}/{self._model}/{self._dimensions or 'native'}/l2"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) unit rows; the batches are sent one after another."""
        checked = check_texts(texts)
        if not checked:
            return np.empty((0, self._seen_dimension or 0), np.float32)
        return unit_rows(run_blocking(lambda: self._encode_batches(checked)))

    async def _encode_batches(self, texts: list[str]) -> list[list[float]]:
        rows: list[list[float]] = []
        endpoint = copy(self._endpoint)  # connections belong to one event loop, and threads may encode at the same time
        try:
            for start in range(0, len(texts), self._batch_size):
                rows += await self._encode_batch(endpoint, texts[start : start + self._batch_size])
        finally:
            await endpoint.close()
        return rows

    async def _encode_batch(self, endpoint: JsonEndpoint, texts: list[str]) -> list[list[float]]:
        body: dict[str, object] = {"model": self._model, "input": texts}
        if self._dimensions is not None:
            body["dimensions"] = self._dimensions
        vectors = _vectors_in_order(await self._post(endpoint, body), len(texts), self._place)
        for vector in vectors:
            self._seen_dimension = self._seen_dimension or len(vector)
            if len(vector) != self._seen_dimension:
                raise EncoderError(
                    f"{self._place} answered {plural(len(vector), 'dimension')} where {self._seen_dimension} were expected; "
                    f"check the model {self._model!r} and its dimensions"
                )
        return vectors

    async def _post(self, endpoint: JsonEndpoint, body: dict[str, object]) -> Any:
        """The parsed answer; rate limits, server errors and transport errors are tried again with growing waits."""
        content = json.dumps(body).encode()
        for attempt in range(1, self._attempts + 1):
            wait = None
            try:
                answer = await endpoint.post(content)
            except NoAnswerError as error:
                reason = str(error)
            else:
                if answer.status not in _PASSING and answer.status < 500:
                    return self._document(answer)
                reason, wait = f"HTTP {answer.status}", _retry_after(answer)
            if attempt < self._attempts:
                await self._sleep(wait if wait is not None else self._backoff * 2 ** (attempt - 1))
        raise EncoderError(
            f"{self._place} did not answer in {plural(self._attempts, 'attempt')} (last: {reason}); "
            "check that it runs, or choose another encoder"
        )

    def _document(self, answer: EndpointReply) -> Any:
        if not 200 <= answer.status < 300:
            raise self._refused(answer)
        try:
            return read_json(answer.body)
        except ValueError:
            raise EncoderError(f"{self._place} did not answer JSON; check the base URL") from None

    def _refused(self, answer: EndpointReply) -> InputError:
        """What a 3xx or 4xx means for the person who set up the endpoint."""
        status = answer.status
        if status in (401, 403):
            credentials = "the API key it was given" if self._endpoint.key else "a request without an API key; give one"
            return InputError(f"{self._place} refused {credentials} (HTTP {status}); check the key and what it may do")
        if status < 400:
            return InputError(f"{self._place} redirects (HTTP {status}); give the address it redirects to")
        if status == 404:
            return InputError(f"{self._place} does not exist, or has no model {self._model!r} (HTTP 404); check both")
        return InputError(f"{self._place} refused the texts (HTTP {status}): {self._excerpt(answer)}")

    def _excerpt(self, answer: EndpointReply) -> str:
        """The start of an error's body as one line, with the key blotted out should the server echo it."""
        text = answer.body[:2000].decode("utf-8", "replace")
        if self._endpoint.key:
            text = text.replace(self._endpoint.key, "[key]")
        return one_line(text) or "it gave no reason"


def _retry_after(answer: EndpointReply) -> float | None:
    """Seconds the server asks to wait, where it says so as a number."""
    try:
        seconds = float(answer.headers.get("retry-after", ""))
    except ValueError:
        return None
    return min(seconds, _LONGEST_WAIT) if seconds >= 0 else None


def _vectors_in_order(answer: Any, count: int, place: str) -> list[list[float]]:
    """The vectors by their `index`; anything but exactly one for each text is refused."""
    items = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise EncoderError(f'{place} answered without a list "data"; it is not an OpenAI-compatible endpoint')
    by_index = {item.get("index"): item.get("embedding") for item in items if isinstance(item.get("index"), int)}
    if len(items) != count or set(by_index) != set(range(count)):
        raise EncoderError(
            f"{place} answered {plural(len(items), 'vector')} for {plural(count, 'text')}, or not one for each index"
        )
    return [_vector(by_index[index], place) for index in range(count)]


def _vector(values: Any, place: str) -> list[float]:
    if not isinstance(values, list) or not values:
        raise EncoderError(f"{place} answered an embedding that is not a list of numbers")
    numbers = [value if isinstance(value, int | float) else np.nan for value in values]
    try:
        finite = bool(np.isfinite(np.asarray(numbers, np.float64)).all())
    except OverflowError:
        finite = False
    if not finite:
        raise EncoderError(f"{place} answered an embedding with a value that is not a finite number")
    return numbers
