"""A small HTTP/1.1 client for JSON endpoints: POST a body, get status and body, connections kept alive.

General clients spend several milliseconds of processor time on a request, which is the whole budget of a collection at
high concurrency (`benchmarks/bench_collect.py`). This one does what an OpenAI-compatible endpoint needs and nothing else:
no redirects, no cookies, no compression, no proxies.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from skilldelta.collect.failures import TransportError
from skilldelta.errors import InputError

_LARGEST_HEAD = 64 * 1024
_LARGEST_BODY = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Response:
    """Status, headers with lower-case names, and the whole body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


@dataclass(slots=True)
class _Connection:
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    used: bool = False


@dataclass(slots=True)
class HttpClient:
    """One origin, a pool of connections as large as the number of requests at once."""

    origin: str
    timeout: float = 600.0
    _idle: list[_Connection] = field(default_factory=list)

    def __post_init__(self) -> None:
        parts = urlsplit(self.origin)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(
                f"the endpoint must be an http or https URL such as http://127.0.0.1:8000/v1, got {self.origin!r}"
            )

    async def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> Response:
        """One request and its whole answer. No answer within the timeout, or a broken one, is a TransportError."""
        head = self._head(path, len(body), headers)
        try:
            async with asyncio.timeout(self.timeout):
                return await self._exchange(head + body)
        except TimeoutError:
            raise TransportError(f"no answer from {self.origin} within {self.timeout:g} s") from None
        except (OSError, EOFError, ValueError, asyncio.LimitOverrunError) as error:
            raise TransportError(f"no usable answer from {self.origin}: {_reason(error)}") from None

    async def check(self) -> None:
        """Whether anything listens there; an InputError when not."""
        try:
            async with asyncio.timeout(min(self.timeout, 30.0)):
                self._idle.append(await self._connect())
        except (OSError, TimeoutError) as error:
            raise InputError(
                f"nothing answers at {self.origin} ({_reason(error)}); start the endpoint or mend the address"
            ) from None

    async def close(self) -> None:
        """Close what is idle; requests in flight are the caller's to cancel."""
        while self._idle:
            self._idle.pop().writer.close()

    def _head(self, path: str, length: int, headers: Mapping[str, str]) -> bytes:
        parts = urlsplit(self.origin)
        lines = [f"POST {parts.path.rstrip('/')}{path} HTTP/1.1", f"host: {parts.netloc.rpartition('@')[2]}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        lines += [f"content-length: {length}", "", ""]
        return "\r\n".join(lines).encode("latin-1")

    async def _exchange(self, request: bytes) -> Response:
        while True:
            connection = self._idle.pop() if self._idle else await self._connect()
            kept = False
            try:
                connection.writer.write(request)
                head = await _read_head(connection.reader)
                if not head and connection.used:
                    continue  # the server closed a kept-alive connection before it saw the request: try a fresh one
                response = await _read_response(head, connection.reader)
                kept = response.headers.get("connection", "").lower() != "close"
                return response
            except ConnectionError:
                if not connection.used:
                    raise
            finally:
                if kept:
                    connection.used = True
                    self._idle.append(connection)
                else:
                    connection.writer.close()

    async def _connect(self) -> _Connection:
        parts = urlsplit(self.origin)
        secure = ssl.create_default_context() if parts.scheme == "https" else None
        port = parts.port or (443 if secure else 80)
        reader, writer = await asyncio.open_connection(parts.hostname, port, ssl=secure, limit=_LARGEST_HEAD)
        return _Connection(reader, writer)


async def _read_head(reader: asyncio.StreamReader) -> bytes:
    """Status line and headers with their blank line; nothing when the connection was closed instead."""
    try:
        return await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise EOFError(f"the answer ends inside its headers: {error.partial[:40]!r}") from None
        return b""


async def _read_response(head: bytes, reader: asyncio.StreamReader) -> Response:
    if not head:
        raise EOFError("the connection was closed before an answer")
    if not head.startswith(b"HTTP/1."):
        raise ValueError(f"not an HTTP answer: {head[:40]!r}")
    status_line, *lines = head.decode("latin-1").split("\r\n")
    status = int(status_line.split(None, 2)[1])
    if status == 100:
        return await _read_response(await _read_head(reader), reader)
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    return Response(status, headers, await _read_body(headers, reader))


async def _read_body(headers: Mapping[str, str], reader: asyncio.StreamReader) -> bytes:
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return await _read_chunks(reader)
    if "content-length" not in headers:
        raise ValueError("an answer without length")
    length = int(headers["content-length"])
    if not 0 <= length <= _LARGEST_BODY:
        raise ValueError(f"an answer of {length} bytes")
    return await reader.readexactly(length)


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    parts: list[bytes] = []
    total = 0
    while size := int((await reader.readline()).split(b";")[0], 16):
        total += size
        if total > _LARGEST_BODY:
            raise ValueError(f"an answer of more than {_LARGEST_BODY} bytes")
        parts.append(await reader.readexactly(size))
        await reader.readline()
    while await reader.readline() not in (b"\r\n", b"\n", b""):
        pass
    return b"".join(parts)


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
