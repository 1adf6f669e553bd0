"""The process of a hook: an event from standard input, one answer to standard output, exit code 0.

Claude Code takes exit code 2 for an order to throw the prompt away, and what a hook prints for its answer, so nothing that
goes wrong may show there. A deadline runs beside everything: when it is reached, the fallback answers.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout, suppress
from typing import IO, Any, NoReturn

from skilldelta.cli.hook_deadline import Deadline
from skilldelta.cli.hook_options import OptionError, read_options
from skilldelta.cli.hook_setup import hook_settings
from skilldelta.serve.hooks.hook_event import MOST_BYTES
from skilldelta.serve.hooks.hook_run import answer, fallback_answer
from skilldelta.serve.hooks.hook_settings import HookSettings
from skilldelta.serve.hooks.relay import Relayed

_NOT_RELAYED = Relayed()


def main(words: Sequence[str], relayed: Relayed, deadline: Deadline) -> NoReturn:
    """Answer the event on standard input and leave at once, whatever threads still wait for a server."""
    code = 0
    with suppress(Exception):
        code = run(words, os.environ, relayed, deadline)
    with suppress(Exception):
        sys.stdout.flush()
    os._exit(code)


def run(
    words: Sequence[str],
    environment: Mapping[str, str],
    relayed: Relayed = _NOT_RELAYED,
    deadline: Deadline | None = None,
) -> int:
    """0, or 2 where a person at a terminal has mistyped something."""
    typed = sys.stdin is not None and sys.stdin.isatty()
    try:
        host, options = read_options(words, environment)
        settings = hook_settings(host, options, environment)
    except (OptionError, OSError) as error:
        _tell(f"error: {error}")
        return 2 if typed else 0
    if typed:
        _tell("error: a hook reads its harness's event from standard input; see skilldelta hook --help")
        return 2
    spent = settings.server._replace(spent=relayed.seconds)
    if deadline is None:  # started through click
        deadline = Deadline(options["time_limit"])
        deadline.start()
    reply = _Reply(settings._replace(server=spent), options)
    deadline.last_words = reply.time_is_up
    reply.give(relayed.event)
    deadline.meet()
    return 0


class _Reply:
    """One answer, by whoever is first: the gate, or the deadline."""

    def __init__(self, settings: HookSettings, options: Mapping[str, Any]) -> None:
        self._settings = settings
        self._options = options
        self._content = b""
        self._given = threading.Lock()

    def give(self, begun: bytes) -> None:
        """Answer the event whose beginning was read already."""
        self._content = begun + _event(MOST_BYTES + 1 - len(begun))
        found = answer(self._settings, self._content, ask_bank=self._ask_bank)
        self._given.acquire()  # never released: there is one answer
        _write(found.output)
        if found.failure:
            self._report(found.failure)

    def _ask_bank(self, path: str, document: dict[str, Any]) -> dict[str, Any]:
        from skilldelta.cli.hook_bank import ask_bank

        with redirect_stdout(sys.stderr):
            return ask_bank(self._options, path, document)

    def time_is_up(self) -> None:
        """What the fallback says, unless an answer is on its way."""
        if self._given.acquire(blocking=False):
            with suppress(Exception):
                _write(fallback_answer(self._settings, self._content))
                self._report(f"no answer within {self._options['time_limit']:g} s")

    def _report(self, failure: str) -> None:
        from skilldelta.redaction import keep_secrets_of, redacted
        from skilldelta.serve.hooks.failure_log import log_failure

        keep_secrets_of(os.environ)
        if self._settings.state is not None:
            log_failure(self._settings.state, self._settings.host, redacted(failure))
        _tell(f"skilldelta: {redacted(failure)}")


def _event(most: int) -> bytes:
    stream: IO[bytes] | None = getattr(sys.stdin, "buffer", None)
    try:
        return b"" if stream is None else stream.read(max(most, 0))
    except (OSError, ValueError):
        return b""


def _write(output: str) -> None:
    if output:
        with suppress(OSError, ValueError):
            sys.stdout.write(output + "\n")
            sys.stdout.flush()


def _tell(line: str) -> None:
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(" ".join(line.split()) + "\n")
