"""Access tokens of a server: random, shown once, kept as digests in a file that only its owner can read.

They stand beside the server and not in the bank: a bank is copied, exported and shared, and access to a machine's server
is no part of the evidence. A token has 256 random bits, so that one SHA-256 is enough to keep it.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from skilldelta.errors import InputError, unknown_name
from skilldelta.file_lock import LockHeldError, file_lock
from skilldelta.files import json_document, write_text
from skilldelta.records import text_digest

TokenScope = Literal["read", "write"]
SCOPES: tuple[TokenScope, ...] = ("read", "write")

PREFIX = "skd_"
# Bytes of the file of tokens, a few hundred for each.
_MOST_BYTES = 1 << 20
_LOCK_SECONDS = 10.0
# A hundred years, so that the date can be shown in lists of tokens.
_MOST_DAYS = 36_500


@dataclass(frozen=True, slots=True)
class AccessToken:
    """One token as it is kept. Who may write may read as well."""

    name: str
    digest: str
    scope: TokenScope
    created: float
    """Seconds since 1970, UTC."""
    expires: float | None = None

    def allows(self, scope: TokenScope) -> bool:
        """Whether the token covers a scope."""
        return self.scope == "write" or scope == "read"


class TokenFile:
    """The tokens of one file; a change of the file is noticed. Threads may share it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[int, int, int] | None = None
        self._tokens: tuple[AccessToken, ...] = ()
        self._reading = threading.Lock()

    def tokens(self) -> tuple[AccessToken, ...]:
        """Every token, expired ones included, in order of creation."""
        with self._reading:
            stamp = self._stamp()
            if stamp != self._seen:
                self._tokens = () if stamp is None else _read(self.path)
                self._seen = stamp
            return self._tokens

    def find(self, secret: str, now: float) -> AccessToken | None:
        """The valid token with that secret. Every stored digest is compared, in constant time."""
        offered = text_digest(secret)
        match = None
        for token in self.tokens():
            if hmac.compare_digest(token.digest, offered) and (token.expires is None or now < token.expires):
                match = token
        return match

    def create(self, name: str, scope: TokenScope, *, now: float, days: float | None = None) -> str:
        """Add a token and return its secret, which is not kept."""
        if not name or len(name) > 100 or not name.isprintable():
            raise InputError(f"a token needs a printable name of at most 100 characters, got {name[:40]!r}")
        if days is not None and not 0 < days <= _MOST_DAYS:
            raise InputError(f"a token expires after at most {_MOST_DAYS:,} days, got {days:g}; leave it out for never")
        secret = PREFIX + secrets.token_urlsafe(32)
        expires = None if days is None else now + days * 86_400
        token = AccessToken(name, text_digest(secret), scope, now, expires)

        def added(tokens: Sequence[AccessToken]) -> list[AccessToken]:
            if any(token.name == name for token in tokens):
                raise InputError(f"there is a token {name!r} already; revoke it first, or choose another name")
            return [*tokens, token]

        self._change(added)
        return secret

    def revoke(self, name: str) -> AccessToken:
        """Remove a token; running servers refuse it from now on."""
        gone: list[AccessToken] = []

        def without(tokens: Sequence[AccessToken]) -> list[AccessToken]:
            gone.extend(token for token in tokens if token.name == name)
            if not gone:
                raise _unknown(name, tokens)
            return [token for token in tokens if token.name != name]

        self._change(without)
        return gone[0]

    def _change(self, change: Callable[[Sequence[AccessToken]], list[AccessToken]]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            with file_lock(self.path.with_name(self.path.name + ".lock"), timeout=_LOCK_SECONDS):
                tokens = change(_read(self.path) if self.path.exists() else ())
                document = {"tokens": [asdict(token) for token in tokens]}
                write_text(self.path, json.dumps(document, indent=2) + "\n", private=True)
        except LockHeldError:
            raise InputError(f"another process is changing {self.path}; try again") from None

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            state = self.path.stat()
        except FileNotFoundError:
            return None
        return state.st_mtime_ns, state.st_ino, state.st_size


def _unknown(name: str, tokens: Sequence[AccessToken]) -> InputError:
    if not tokens:
        return InputError(f"there is no token {name!r}; there are none at all")
    return unknown_name("token", name, [token.name for token in tokens])


def _read(path: Path) -> tuple[AccessToken, ...]:
    document = json_document(path, most=_MOST_BYTES)
    listed = document.get("tokens")
    if not isinstance(listed, list):
        raise _not_tokens(path)
    return tuple(_token(row, path) for row in listed)


def _token(row: Any, path: Path) -> AccessToken:
    try:
        token = AccessToken(**row)
    except TypeError:
        raise _not_tokens(path) from None
    texts = all(isinstance(value, str) for value in (token.name, token.digest))
    numbers = isinstance(token.created, int | float) and (
        token.expires is None or isinstance(token.expires, int | float)
    )
    if not (texts and numbers and token.scope in SCOPES and len(token.digest) == 64 and token.digest.isascii()):
        raise _not_tokens(path)
    return token


def _not_tokens(path: Path) -> InputError:
    return InputError(f"{path} is not a list of tokens; remove it, and create new ones with: skilldelta token create")
