"""The server's side of `relay`: hooks of the same user, run in a process that has everything loaded.

A Unix socket that only its owner can open; the peer's user is checked again where the system tells it. What runs here is the
hook itself, with the words, variables and folder of the process that was started. Whatever it does not answer plainly is
declined, and that process then does the whole work: nothing about a decision depends on which way it came.
"""

from __future__ import annotations

import logging
import os
import socket
import stat
import struct
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from skilldelta.serve.hooks.hook_event import MOST_BYTES
from skilldelta.serve.hooks.relay import ANSWERED, DECLINED, MAGIC, socket_path

_MOST_HEAD = 1 << 20
_MOST_AT_ONCE = 32
_PATIENCE = 5.0
"""Seconds that a peer has for its request, and for taking the answer."""

_log = logging.getLogger("skilldelta.serve")


class StartedHook(NamedTuple):
    """A hook as its harness has started it."""

    words: list[str]
    environment: Mapping[str, str]
    folder: Path
    event: bytes


AnswerHook = Callable[[StartedHook], str | None]
"""What goes to the harness; None leaves the answer to the process that was started."""


@contextmanager
def relaying(port: int, environment: Mapping[str, str], answer: AnswerHook) -> Iterator[None]:
    """Answer the hooks that ask the server on this port. Where that is impossible, they ask over HTTP as ever."""
    path = socket_path(environment, str(port))
    listener = _listener(path) if path and hasattr(socket, "AF_UNIX") else None
    if listener is None:
        yield
        return
    ended = threading.Event()
    with listener:
        threading.Thread(target=_accept, args=(listener, answer, ended), name="hooks", daemon=True).start()
        try:
            yield
        finally:
            ended.set()
            with suppress(OSError):
                os.unlink(path)
            with suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts


def _listener(path: str) -> socket.socket | None:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with suppress(FileNotFoundError):
            if stat.S_ISSOCK(os.lstat(path).st_mode):  # of a server that was killed: the port is ours
                os.unlink(path)
        listener.bind(path)
        os.chmod(path, 0o600)  # before it listens, so that nobody else is ever heard
        listener.listen(64)
        return listener
    except OSError as error:
        _log.warning("hooks are answered over HTTP only: %s", error.strerror or error)
        listener.close()
        return None


def _accept(listener: socket.socket, answer: AnswerHook, ended: threading.Event) -> None:
    """Until the end, whatever fails meanwhile: nobody would be heard by a socket that listens without a thread."""
    free = threading.Semaphore(_MOST_AT_ONCE)
    while not ended.is_set():
        free.acquire()
        try:
            connection, _ = listener.accept()
            threading.Thread(target=_serve, args=(connection, answer, free), daemon=True).start()
        except (OSError, RuntimeError):  # no more files or threads for now, or the end
            free.release()
            ended.wait(0.1)


def _serve(connection: socket.socket, answer: AnswerHook, free: threading.Semaphore) -> None:
    with connection, suppress(Exception):  # who gets no answer does the work itself
        try:
            connection.settimeout(_PATIENCE)
            hook = _received(connection) if _is_own(connection) else None
            output = None if hook is None else answer(hook)
            connection.sendall(DECLINED if output is None else ANSWERED + output.encode())
        finally:
            free.release()


def _is_own(connection: socket.socket) -> bool:
    """Whether the peer is this very user, where the system can tell; the file's permissions say the same."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return bool(struct.unpack("3i", peer)[1] == os.getuid())


def _received(connection: socket.socket) -> StartedHook | None:
    """The hook that a peer hands over; None where it is of another version, or too large."""
    with connection.makefile("rb") as stream:
        magic, *lengths = stream.readline(200).split()
        if magic != MAGIC.encode() or len(lengths) != 2:
            return None
        of_head, of_event = (int(length) for length in lengths)
        if not (0 <= of_head <= _MOST_HEAD and 0 <= of_event <= MOST_BYTES + 1):
            return None
        head, event = stream.read(of_head), stream.read(of_event)
    if len(head) < of_head or len(event) < of_event:
        return None
    folder, count, *rest = os.fsdecode(head).split("\0")
    words, variables = rest[: int(count)], rest[int(count) :]
    environment = {name: value for name, _, value in (variable.partition("=") for variable in variables)}
    return StartedHook(words, environment, Path(folder), event)
