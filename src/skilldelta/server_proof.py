"""How a server proves that it belongs to the user who asks it, before it is sent a prompt or a token.

While a user's server is down, a process of another user can listen on its port. The server therefore shows that it knows a
key that only its user can read: it answers a random challenge with a keyed digest of the challenge and of the address it was
reached at. The address is part of it so that nobody passes the challenge on to the real server at another port.

Only the standard library is used, because hooks of agent harnesses load this file while a person waits.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import stat

from skilldelta.regular_file import read_regular

TYPE_CHECKING = False  # as `typing` has it, which takes 2 ms to load
if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULT_SERVER = "http://127.0.0.1:7345"
PROOF_PATH = "/v1/proof"
# A key that the user has copied from another machine; it stands for TLS where a server is asked over a plain connection.
KEY_VARIABLE = "SKILLDELTA_SERVER_KEY"
# Bytes of the key file, and characters of the shortest key that counts.
_MOST_BYTES = 1_000
_SHORTEST = 32
_PURPOSE = "skilldelta server"


def new_challenge() -> str:
    """A challenge that was never used before."""
    return os.urandom(32).hex()


def proof(key: str, address: str, challenge: str) -> str:
    """What a server answers that was reached at an address such as 127.0.0.1:7345."""
    message = f"{_PURPOSE}\n{address}\n{challenge}"
    return hmac.new(key.encode(), message.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def is_proof(document: object, key: str, address: str | None, challenge: str) -> bool:
    """Whether a server's answer proves that it has the key. None accepts any address: the key was copied by its user."""
    if not isinstance(document, dict):
        return False
    claimed, digest = document.get("address"), document.get("proof")
    if not isinstance(claimed, str) or not isinstance(digest, str) or address not in (None, claimed):
        return False
    return hmac.compare_digest(proof(key, claimed, challenge).encode(), digest.encode("utf-8", "replace"))


def known_key(environment: Mapping[str, str]) -> str:
    """The key of the user's server; empty where there is none, so that no server can be the user's."""
    pinned = environment.get(KEY_VARIABLE, "").strip()
    return pinned or _read(key_file(environment))


def key_file(environment: Mapping[str, str]) -> str:
    """Where the user's key is; empty where the user has no home."""
    home = environment.get("HOME") or environment.get("USERPROFILE") or ""
    state = environment.get("XDG_STATE_HOME") or environment.get("LOCALAPPDATA")
    state = state or (home and os.path.join(home, ".local", "state"))
    return os.path.join(state, "skilldelta", "server-key") if os.path.isabs(state) else ""


def own_key(environment: Mapping[str, str]) -> str:
    """The user's key, made if there is none; empty where it cannot be kept, so that hooks do not ask this server."""
    path = key_file(environment)
    if not path:
        return ""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        part = f"{path}.{os.urandom(8).hex()}.partial"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with os.fdopen(os.open(part, flags, 0o600), "wb") as file:
            file.write(os.urandom(32).hex().encode())
        try:
            os.link(part, path)  # unlike a rename, never over the key of a server that started at the same moment
        except FileExistsError:
            pass
        finally:
            os.unlink(part)
    except OSError:
        pass
    return _read(path)


def _read(path: str) -> str:
    """The key in a file that is its owner's alone; anything else is no key."""
    try:
        status = os.lstat(path)
        is_private = not hasattr(os, "getuid") or (
            status.st_uid == os.getuid() and not stat.S_IMODE(status.st_mode) & 0o077
        )
        key = read_regular(path, _MOST_BYTES, follow_links=False).decode("ascii").strip() if is_private else ""
    except (OSError, ValueError):
        return ""
    return key if len(key) >= _SHORTEST else ""
