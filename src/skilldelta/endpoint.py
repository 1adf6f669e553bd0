"""A JSON endpoint: POST a document, get the status, the headers and the whole body. The client is aiohttp.

One call of `post` sends at most one request: aiohttp sends a request again after a reset only for idempotent methods,
and redirects are not followed, so a key never reaches another host. Everything that arrives is bounded: the body after
decompression, the headers, interim answers (100 Continue), and the time. What an answer means is the caller's knowledge.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import SplitResult, urlsplit, urlunsplit

from skilldelta.errors import InputError, SkillDeltaError

if TYPE_CHECKING:
    import aiohttp

T = TypeVar("T")
# Bytes of an answer, answers of status 1xx before it, and digits of an integer that is read as one.
LARGEST_BODY = 64 * 1024 * 1024
_MOST_INTERIM = 100
_LONGEST_INTEGER = 18
_CONNECT_SECONDS = 30.0


class NoAnswerError(SkillDeltaError):
    """No usable answer arrived. `sent` tells whether the request may have reached the endpoint, and so been paid."""

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent


@dataclass(frozen=True, slots=True)
class EndpointReply:
    """What came back; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class JsonEndpoint:
    """One address. Use from one event loop at a time, and `close` before that loop ends."""

    def __init__(
        self, base_url: str, path: str, *, api_key: str = "", timeout: float = 600.0, proxy: str | None = None
    ) -> None:
        self.url = _below(check_base_url(base_url), path)
        self.key = check_key(api_key)
        self.timeout = check_timeout(timeout)
        self._address = urlunsplit(self.url)
        self._proxy = _checked_proxy(proxy)
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.key:
            self._headers["Authorization"] = f"Bearer {self.key}"
        self._session: aiohttp.ClientSession | None = None

    @property
    def place(self) -> str:
        """The address for messages, without its query, which may hold a secret."""
        return urlunsplit(self.url._replace(query=""))

    async def post(self, body: bytes) -> EndpointReply:
        """One request and its whole answer, or a NoAnswerError; never a second request."""
        import aiohttp

        try:
            async with self._opened().post(
                self._address, data=body, allow_redirects=False, proxy=self._proxy
            ) as response:
                content = await _read_bounded(response)
                headers = {name.lower(): value for name, value in response.headers.items()}
                return EndpointReply(response.status, headers, content)
        except aiohttp.ClientConnectorError as error:
            raise NoAnswerError(f"{self.place} cannot be reached: {_reason(error)}", sent=False) from None
        except aiohttp.ConnectionTimeoutError:
            raise NoAnswerError(f"{self.place} cannot be reached: the connection timed out", sent=False) from None
        except TimeoutError:
            raise NoAnswerError(
                f"timed out: no answer from {self.place} within {self.timeout:g} s", sent=True
            ) from None
        except (aiohttp.ClientError, OSError, EOFError, ValueError) as error:
            raise NoAnswerError(f"no usable answer from {self.place}: {_reason(error)}", sent=True) from None

    async def check(self) -> None:
        """Whether anything listens there (or at the proxy on the way); an InputError when not."""
        self._opened()
        way = urlsplit(self._proxy) if self._proxy else self.url
        port = way.port or (443 if way.scheme == "https" else 80)
        try:
            async with asyncio.timeout(min(self.timeout, _CONNECT_SECONDS)):
                _, writer = await asyncio.open_connection(way.hostname, port)
        except (OSError, TimeoutError, UnicodeError) as error:
            through = f" through the proxy {way.hostname}:{port}" if self._proxy else ""
            raise InputError(
                f"nothing answers at {self.place}{through} ({_reason(error)}); start the endpoint or correct the address"
            ) from None
        writer.close()

    def _opened(self) -> aiohttp.ClientSession:
        """No cookies, no environment (proxies are arguments), and no bound on connections: the caller limits its calls."""
        import aiohttp

        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=self._headers,
                response_class=_response_class(),
                timeout=aiohttp.ClientTimeout(total=self.timeout, sock_connect=min(self.timeout, _CONNECT_SECONDS)),
                trust_env=False,
            )
        return self._session

    async def close(self) -> None:
        """Close the connections; requests in flight are the caller's to cancel."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()


def read_json(body: bytes | str) -> Any:
    """A document from outside; a ValueError for what is none, is nested too deeply or is not UTF-8.

    An integer too long for any count is read as a float (infinite, if need be): converting thousands of digits is slow,
    and the rest of the document is still worth having.
    """
    text = body if isinstance(body, str) else body.decode(json.detect_encoding(body), "surrogatepass")
    try:
        return _decoder.decode(text.removeprefix("\ufeff"))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def run_blocking(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine from ordinary code; where an event loop is running already (a notebook), in a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(work())).result()


def check_base_url(base_url: str) -> SplitResult:
    """An address such as https://host/v1, or an InputError that does not show what may be a secret."""
    url = _http_url(base_url.strip())
    # No spaces, controls or lone surrogates, which no request line can carry.
    if url is None or not all(sign.isprintable() and not sign.isspace() for sign in base_url.strip()):
        excerpt = "" if "@" in base_url else f", got {base_url[:80]!r}"
        raise InputError(f"the base URL must be an http or https URL such as http://127.0.0.1:8000/v1{excerpt}")
    if "@" in url.netloc:
        raise InputError("the base URL must not hold a user or key; give the key by its environment variable")
    return url


def check_key(key: str | None) -> str:
    """A key that an HTTP header can carry."""
    stripped = (key or "").strip()
    if not stripped.isascii() or not stripped.isprintable():
        raise InputError("the API key has a character that no HTTP header can carry; copy it again")
    return stripped


def check_timeout(seconds: float) -> float:
    """A positive, finite number of seconds."""
    if not math.isfinite(seconds) or seconds <= 0:
        raise InputError(f"the timeout must be a number of seconds above 0, got {seconds:g}")
    return seconds


def one_line(text: str, most: int = 200) -> str:
    """Text of a stranger as it may be shown: one line, no control characters, not too long."""
    words = " ".join(text.split())
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in words)[:most]


def _response_class() -> type[aiohttp.ClientResponse]:
    """aiohttp's response, which skips interim answers without end; ours counts them."""
    import aiohttp

    class BoundedResponse(aiohttp.ClientResponse):
        async def start(self, connection: Any) -> aiohttp.ClientResponse:
            protocol = connection.protocol
            read, reads = protocol.read, 0

            async def counted() -> Any:
                nonlocal reads
                reads += 1
                if reads > _MOST_INTERIM:
                    raise aiohttp.ClientPayloadError(f"more than {_MOST_INTERIM} interim answers")
                return await read()

            protocol.read = counted
            try:
                return await super().start(connection)
            finally:
                del protocol.read

    return BoundedResponse


async def _read_bounded(response: aiohttp.ClientResponse) -> bytes:
    """The body, decompressed piece by piece, so that a small answer cannot fill the memory."""
    parts: list[bytes] = []
    size = 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > LARGEST_BODY:
            response.close()
            raise ValueError(f"an answer of more than {LARGEST_BODY >> 20} MB")
        parts.append(part)
    return b"".join(parts)


def _bounded_integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _LONGEST_INTEGER else float(digits)


_decoder = json.JSONDecoder(parse_int=_bounded_integer)


def _below(url: SplitResult, path: str) -> SplitResult:
    """The address of `path` below the base; a base that ends with it already stays as it is."""
    base = url.path.rstrip("/")
    return url._replace(path=base if base.endswith(path) else base + path, fragment="")


def _checked_proxy(proxy: str | None) -> str | None:
    if proxy and _http_url(proxy) is None:
        raise InputError("the proxy must be an http or https URL; correct the environment's http_proxy or https_proxy")
    return proxy or None


def _http_url(address: str) -> SplitResult | None:
    """The parts of an http or https URL; None for anything else."""
    try:
        url = urlsplit(address)
        return url if url.scheme in ("http", "https") and url.hostname and url.port != 0 else None
    except ValueError:
        return None


def _reason(error: BaseException) -> str:
    return one_line(str(error)) or type(error).__name__
