"""Who may ask: the checks that every request passes before any route sees it.

Host: a name that is not the server's own is refused, so that no page can reach it by rebinding its own name. Origin: a
page of another origin may neither write nor read. Token: needed unless the server listens on this machine only. Then the
body's type and length, and the rate.
"""

from __future__ import annotations

import ipaddress
import re
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass

from skilldelta.serve.access_tokens import TokenFile, TokenScope
from skilldelta.serve.http_answers import Problem
from skilldelta.server_proof import PROOF_PATH

_SAFE_METHODS = frozenset({"GET", "HEAD"})
_OPEN_PATHS = frozenset({"/v1/health", PROOF_PATH})
# Files of the package itself: they hold nothing of the bank.
_ASSETS = ("/assets/",)
# Paths that need not write; their routes check that nothing is recorded for a token that may only read.
_QUESTIONS = frozenset({"/v1/decide", "/v1/decide/batch", "/v1/choose", "/v1/dashboard/try"})
# Clients whose requests are counted; the least recently seen make room.
_MOST_CLIENTS = 10_000
_HOST = re.compile(r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[A-Za-z0-9._-]+))(?::[0-9]{1,5})?")


@dataclass(frozen=True, slots=True)
class AdmissionRules:
    """What a request must satisfy."""

    tokens: TokenFile | None = None
    """Whose tokens are accepted; None asks for none, which is for loopback alone."""
    hosts: frozenset[str] = frozenset()
    """Names that the server has besides localhost."""
    any_address: bool = False
    """Whether Host may be any IP address; else it is a loopback address."""
    most_bytes: int = 4 << 20
    most_import_bytes: int = 64 << 20
    per_second: float | None = None
    """Requests per second and client, with a burst as large; None is no limit."""


@dataclass(frozen=True, slots=True)
class Admitted:
    """A request that may go on."""

    may_write: bool
    most_bytes: int


@dataclass(frozen=True, slots=True)
class RequestHead:
    """What is known of a request before its body."""

    method: str
    path: str
    client: str
    headers: Mapping[str, str]
    """Names in lower case."""


class Admission:
    """The checks, and what they remember of clients."""

    def __init__(self, rules: AdmissionRules) -> None:
        self._rules = rules
        self._rate = None if rules.per_second is None else _Rate(rules.per_second)

    def admit(self, head: RequestHead) -> Admitted:
        """Let a request pass, or raise the problem with it."""
        self._check_host(head)
        self._check_origin(head)
        if self._rate is not None and not self._rate.allows(head.client):
            raise Problem(429, "too many requests; wait a second", headers={"Retry-After": "1"})
        may_write = self._check_token(head)
        return Admitted(may_write, self._check_body(head))

    def _check_host(self, head: RequestHead) -> None:
        name = _host_name(head.headers.get("host", ""))
        if name == "localhost" or name in self._rules.hosts:
            return
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            address = None
        if address is None or not (self._rules.any_address or address.is_loopback):
            raise Problem(403, "the Host header does not name this server; start it with --allow-host NAME")

    def _check_origin(self, head: RequestHead) -> None:
        """Nothing from a page of another origin, except that a link may lead to the dashboard."""
        headers = head.headers
        is_api = head.path.startswith(("/v1", "/metrics"))
        if head.method in _SAFE_METHODS and not is_api:
            return
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != headers.get("host"):
            raise Problem(403, "requests from pages of another origin are refused")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise Problem(403, "requests from pages of another origin are refused")

    def _check_token(self, head: RequestHead) -> bool:
        """Whether the request may write; reading needs a token as well, where tokens are needed."""
        if self._rules.tokens is None:
            return True
        if head.method in _SAFE_METHODS and _is_open(head.path):
            return False
        scheme, _, secret = head.headers.get("authorization", "").partition(" ")
        challenge = {"WWW-Authenticate": 'Bearer realm="skilldelta"'}
        if scheme.lower() != "bearer" or not secret.strip():
            raise Problem(401, "a token is needed: Authorization: Bearer TOKEN", headers=challenge)
        token = self._rules.tokens.find(secret.strip(), time.time())
        if token is None:
            raise Problem(401, "the token is unknown, revoked or expired", headers=challenge)
        needed: TokenScope = "read" if head.method in _SAFE_METHODS or head.path in _QUESTIONS else "write"
        if not token.allows(needed):
            raise Problem(403, "the token may read only; create one with --scope write")
        return token.allows("write")

    def _check_body(self, head: RequestHead) -> int:
        """How many bytes the body may have; its type must be one that no page of another origin can send unasked."""
        most = self._rules.most_import_bytes if head.path == "/v1/import" else self._rules.most_bytes
        length = head.headers.get("content-length")
        if length is not None and (not length.isdecimal() or int(length[:20]) > most):
            raise Problem(413, f"the body may have {most:,} bytes at most")
        has_body = length not in (None, "0") or "transfer-encoding" in head.headers
        kind = head.headers.get("content-type", "").partition(";")[0].strip().lower()
        allowed = ("application/json", "application/octet-stream" if head.path == "/v1/import" else "application/json")
        if head.method not in _SAFE_METHODS and has_body and kind not in allowed:
            raise Problem(415, f"the body must be {' or '.join(dict.fromkeys(allowed))}")
        return most


# Ours, because what exists for ASGI counts per route behind the application, or needs a store of its own.
class _Rate:
    """A bucket per client that refills steadily; the least recently seen clients are forgotten."""

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, client: str) -> bool:
        now, most = time.monotonic(), max(1.0, self._per_second)
        left, since = self._left.pop(client, (most, now))
        left = min(most, left + (now - since) * self._per_second)
        self._left[client] = (left - 1 if left >= 1 else left, now)
        if len(self._left) > _MOST_CLIENTS:
            self._left.popitem(last=False)
        return left >= 1


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is reachable from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _host_name(host: str) -> str:
    """The Host header without its port; nothing where it is no host at all."""
    match = _HOST.fullmatch(host)
    return "" if match is None else (match["address"] or match["name"]).lower()


def _is_open(path: str) -> bool:
    return path in _OPEN_PATHS or path == "/" or (path.startswith(_ASSETS) and ".." not in path)
