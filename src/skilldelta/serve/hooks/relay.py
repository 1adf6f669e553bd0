"""The shortest way to an answer: a hook hands its words, settings and event to the running server of the same user.

A harness starts a process per prompt, and loading this package takes that process longer than the decision. The server has
it loaded, so the server runs the hook (`relay_server`), and this file only carries bytes. It therefore imports next to
nothing. Where nobody listens, or the server declines, the process goes on and runs the hook itself.

The socket is in the user's state folder, and only its owner can open it. The hook that the server runs asks over HTTP like
any other, with the token that was handed over, so this way leads to nothing that was closed before.
"""

from __future__ import annotations

import os
import select
import stat
import time

from skilldelta.version import __version__

TYPE_CHECKING = False  # as `typing` has it, which takes 2 ms to load
if TYPE_CHECKING:
    import _socket
    from collections.abc import Mapping, Sequence

MAGIC = f"skilldelta-hook-{__version__}"
"""Another version may read other options, so it declines."""
ANSWERED, DECLINED = b"+", b"-"
NEAR = "http://127.0.0.1:"

_DEFAULT_PORT = "7345"
_SENT = ("HOME", "XDG_STATE_HOME", "LOCALAPPDATA", "CLAUDE_PLUGIN_DATA")
"""Variables that a hook reads, besides its own."""
_MOST_EVENT = (16 << 20) + 1
"""One byte more than a hook takes, so that a longer event is noticed."""
_PATIENCE = 0.5
"""Seconds that a harness has for its event."""
_LONGEST_PATH = 100
"""Bytes of a socket's path; systems take 104 to 108."""


class Relayed:
    """What became of an event."""

    __slots__ = ("event", "output", "seconds")

    def __init__(self, output: bytes | None = None, event: bytes = b"", seconds: float = 0.0) -> None:
        self.output = output
        """What the harness is told; None where the process has to answer itself."""
        self.event = event
        """What was read of standard input on the way."""
        self.seconds = seconds
        """How long the server was waited for."""


def relay(words: Sequence[str], environment: Mapping[str, str]) -> Relayed:
    """Hand the event on standard input to the server that the words or the environment name."""
    event, started, connection = b"", time.monotonic(), None
    try:
        limit = _seconds(words, environment, "timeout", 1.0)
        connection = None if os.isatty(0) else _connected(words, environment, limit)
        if connection is None:
            return Relayed()
        event, is_whole = _standard_input()
        started = time.monotonic()
        output = _asked(connection, request(words, environment, event), started + limit) if is_whole else None
        return Relayed(output, event, time.monotonic() - started)
    except Exception:  # never the agent's problem: the hook has another way
        return Relayed(None, event, time.monotonic() - started)
    finally:
        if connection is not None:
            connection.close()


def socket_path(environment: Mapping[str, str], port: str) -> str:
    """Where the server of a port listens for hooks; empty where there is no place for it."""
    home = environment.get("HOME", "")
    state = environment.get("XDG_STATE_HOME") or (home and os.path.join(home, ".local", "state"))
    path = os.path.join(state, "skilldelta", f"hooks-{port}.sock")
    return path if os.path.isabs(state) and len(os.fsencode(path)) <= _LONGEST_PATH else ""


def request(words: Sequence[str], environment: Mapping[str, str], event: bytes) -> bytes:
    """A hook as bytes: a line with the version and two lengths, what the hook was started with, the event."""
    own = [f"{name}={value}" for name, value in environment.items() if name.startswith("SKILLDELTA_") or name in _SENT]
    head = os.fsencode("\0".join((os.getcwd(), str(len(words)), *words, *own)))
    return f"{MAGIC} {len(head)} {len(event)}\n".encode() + head + event


def _connected(words: Sequence[str], environment: Mapping[str, str], limit: float) -> _socket.socket | None:
    """A connection to the user's own server, if it listens."""
    url = _said(words, environment, "server") or NEAR + _DEFAULT_PORT
    port = url.removeprefix(NEAR).removesuffix("/")
    path = socket_path(environment, port) if url.startswith(NEAR) and port.isdecimal() else ""
    try:
        status = os.lstat(path)
        if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.getuid():
            return None
        from _socket import AF_UNIX, SOCK_STREAM, socket  # `socket` takes 2 ms to load

        connection = socket(AF_UNIX, SOCK_STREAM)
    except (OSError, AttributeError, ImportError):  # nobody listens, or the system has no such sockets
        return None
    try:
        connection.settimeout(limit)
        connection.connect(path)
    except OSError:
        connection.close()
        return None
    return connection


def _standard_input() -> tuple[bytes, bool]:
    """The event, and whether that is all of it. One that does not come at once is left to the hook, which has a clock."""
    event, until = bytearray(), time.monotonic() + _PATIENCE
    while len(event) < _MOST_EVENT:
        if not select.select([0], [], [], max(until - time.monotonic(), 0.0))[0]:
            return bytes(event), False
        part = os.read(0, 1 << 20)
        if not part:
            break
        event += part
    return bytes(event), True


def _asked(connection: _socket.socket, question: bytes, deadline: float) -> bytes | None:
    connection.sendall(question)
    answer = b""
    while True:
        connection.settimeout(max(deadline - time.monotonic(), 0.001))
        part = connection.recv(1 << 20)
        if not part:
            return answer[1:] if answer[:1] == ANSWERED else None
        answer += part


def _said(words: Sequence[str], environment: Mapping[str, str], name: str) -> str:
    """The value that a flag or a variable gives to an option."""
    value = environment.get(f"SKILLDELTA_{name.upper()}", "")
    for word, following in zip(words, [*words, ""][1:], strict=True):
        if word == f"--{name}":
            value = following
        elif word.startswith(f"--{name}="):
            value = word.partition("=")[2]
    return value


def _seconds(words: Sequence[str], environment: Mapping[str, str], name: str, default: float) -> float:
    try:
        seconds = float(_said(words, environment, name))
    except ValueError:  # not given, or whoever reads all options says what is wrong
        return default
    return seconds if 0 < seconds <= 3600 else default
