"""Vectors from any OpenAI-compatible /embeddings endpoint, with the standard library's HTTP client.

What the endpoint answers is checked before it is believed: one vector a text, put in order by `index`, all of one
dimension, finite. The key travels in one header, to the given host only, and is never part of a message.
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import SplitResult, urlsplit, urlunsplit

import numpy as np

from skilldelta.encoders.base import EncoderError, check_texts
from skilldelta.errors import InputError
from skilldelta.nouns import plural
from skilldelta.support import Vectors, unit_rows

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
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if not model:
            raise InputError("the encoder 'openai' needs a model; name one, such as text-embedding-3-small")
        if batch_size < 1 or attempts < 1:
            raise InputError(f"batch_size and attempts must be at least 1, got {batch_size} and {attempts}")
        self._url = _endpoint(base_url)
        self._model = model
        self._key = _checked_key(api_key)
        self._dimensions = dimensions
        self._batch_size = batch_size
        self._timeout = timeout
        self._attempts = attempts
        self._backoff = backoff
        self._sleep = sleep
        self._seen_dimension = dimensions

    @property
    def identity(self) -> str:
        """Such as "openai/api.example.com/v1/text-embedding-3-small/native/l2"; known without asking the endpoint.

        The address belongs to it, because two hosts may serve different weights under one model name.
        """
        place = f"{self._url.netloc}{self._url.path}".removesuffix("/embeddings")
        return f"openai/{place}/{self._model}/{self._dimensions or 'native'}/l2"

    def encode(self, texts: Sequence[str]) -> Vectors:
        """(n, dim) unit rows; the batches are sent one after another."""
        checked = check_texts(texts)
        rows: list[list[float]] = []
        for start in range(0, len(checked), self._batch_size):
            rows += self._encode_batch(checked[start : start + self._batch_size])
        return unit_rows(rows) if rows else np.empty((0, self._seen_dimension or 0), np.float32)

    def _encode_batch(self, texts: list[str]) -> list[list[float]]:
        body: dict[str, object] = {"model": self._model, "input": texts}
        if self._dimensions is not None:
            body["dimensions"] = self._dimensions
        vectors = _vectors_in_order(self._post(body), len(texts), self._place)
        for vector in vectors:
            self._seen_dimension = self._seen_dimension or len(vector)
            if len(vector) != self._seen_dimension:
                raise EncoderError(
                    f"{self._place} answered {plural(len(vector), 'dimension')} where {self._seen_dimension} were expected; "
                    f"check the model {self._model!r} and its dimensions"
                )
        return vectors

    def _post(self, body: dict[str, object]) -> Any:
        """The parsed answer; rate limits, server errors and transport errors are tried again with growing waits."""
        for attempt in range(1, self._attempts + 1):
            try:
                return self._request(body)
            except urllib.error.HTTPError as error:
                with error:
                    if not _is_passing(error.code):
                        raise self._refused(error) from None
                    reason, wait = f"HTTP {error.code}", _retry_after(error)
            except (OSError, http.client.HTTPException) as error:
                reason, wait = _transport_reason(error), None
            if attempt < self._attempts:
                self._sleep(wait if wait is not None else self._backoff * 2 ** (attempt - 1))
        raise EncoderError(
            f"{self._place} did not answer in {self._attempts} attempts (last: {reason}); "
            "check that it runs, or choose another encoder"
        )

    def _request(self, body: dict[str, object]) -> Any:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = urllib.request.Request(
            urlunsplit(self._url), data=json.dumps(body).encode(), headers=headers, method="POST"
        )
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=self._timeout) as answer:
            content = answer.read()
        try:
            return json.loads(content)
        except (ValueError, RecursionError):
            raise EncoderError(f"{self._place} did not answer JSON; check the base URL") from None

    def _refused(self, error: urllib.error.HTTPError) -> InputError:
        """What a 3xx or 4xx means for the person who set up the endpoint."""
        if error.code in (401, 403):
            known = "the API key it was given" if self._key else "a request without an API key; give one"
            return InputError(f"{self._place} refused {known} (HTTP {error.code}); check the key and what it may do")
        if error.code < 400:
            return InputError(f"{self._place} redirects (HTTP {error.code}); give the address it redirects to")
        if error.code == 404:
            return InputError(f"{self._place} does not exist, or has no model {self._model!r} (HTTP 404); check both")
        return InputError(f"{self._place} refused the texts (HTTP {error.code}): {self._excerpt(error)}")

    def _excerpt(self, error: urllib.error.HTTPError) -> str:
        """The start of an error's body as one line, with the key blotted out should the server echo it."""
        try:
            text = error.read(2000).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException):
            text = ""
        if self._key:
            text = text.replace(self._key, "[key]")
        return " ".join(text.split())[:200] or "it gave no reason"

    @property
    def _place(self) -> str:
        """The address for messages, without its query, which may hold a secret."""
        return urlunsplit(self._url._replace(query=""))


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect is reported: following it would hand the key to another host."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


def _endpoint(base_url: str) -> SplitResult:
    """The address of /embeddings below a base URL, such as https://host/v1."""
    try:
        url = urlsplit(base_url.strip())
        url.port  # noqa: B018  (a port that is no number raises here)
    except ValueError:
        raise InputError(
            "the base URL of the embeddings endpoint is not a URL; write one like https://host/v1"
        ) from None
    if url.username or url.password:
        raise InputError("the base URL of the embeddings endpoint must not hold a user or key; give the key by itself")
    if url.scheme not in ("http", "https") or not url.hostname:
        raise InputError(f"the base URL must start with http:// or https:// and a host, got {base_url[:80]!r}")
    path = url.path.rstrip("/")
    return url._replace(path=path if path.endswith("/embeddings") else f"{path}/embeddings", fragment="")


def _checked_key(api_key: str | None) -> str:
    key = (api_key or "").strip()
    if not key.isascii() or not key.isprintable():
        raise InputError("the API key has a character that no HTTP header can carry; copy it again")
    return key


def _is_passing(code: int) -> bool:
    return code in (408, 425, 429) or code >= 500


def _retry_after(error: urllib.error.HTTPError) -> float | None:
    """Seconds the server asks to wait, where it says so as a number."""
    try:
        seconds = float(error.headers.get("Retry-After", ""))
    except ValueError:
        return None
    return min(seconds, _LONGEST_WAIT) if seconds >= 0 else None


def _transport_reason(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    return " ".join(f"{type(reason).__name__}: {reason}".split())[:120]


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
