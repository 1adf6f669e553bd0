"""Whatever a request brings, the server's log has one line for it, and no control character in it."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from skilldelta.serve.service_log import log_to


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """The log of a server with --access-log; other tests get the loggers as they were."""
    loggers = [logging.getLogger(name) for name in ("skilldelta.serve", "uvicorn", "opentelemetry")]
    before = [(logger.handlers, logger.propagate, logger.level) for logger in loggers]
    access = logging.getLogger("skilldelta.serve.access")
    level, lines = access.level, io.StringIO()
    log_to(lines, access=True)
    yield lines
    access.setLevel(level)
    for logger, (handlers, propagate, old) in zip(loggers, before, strict=True):
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(old)


@pytest.mark.parametrize(
    "path", ["/a%0a2026-01-01 INFO GET /forged 200", "/%1b[31mred%1b]0;title%07", "/%c2%9b31m%e2%80%ae"]
)
def test_a_path_can_neither_forge_a_line_nor_speak_to_the_terminal(
    client: TestClient, stream: io.StringIO, path: str
) -> None:
    client.get(path)
    text = stream.getvalue()
    assert text.count("\n") == 1
    assert "GET /" in text
    assert all(character.isprintable() and character.isascii() for character in text.rstrip("\n"))


def test_messages_of_the_service_are_one_line_each_and_a_traceback_stays_readable(stream: io.StringIO) -> None:
    log = logging.getLogger("skilldelta.serve")
    log.error("bank: %s", "first\nsecond\x1b[0m")
    try:
        raise ValueError("told")
    except ValueError as error:
        log.error("failed: %s", "x", exc_info=error)
    first, *rest = stream.getvalue().splitlines()
    assert first.endswith(r"bank: first\nsecond\x1b[0m")
    assert rest[-1] == "ValueError: told"


def test_a_secret_behind_an_escaped_line_break_is_masked(stream: io.StringIO) -> None:
    logging.getLogger("skilldelta.serve.access").info("%s", "x\nsk-ant-0123456789abcdef")
    assert "0123456789abcdef" not in stream.getvalue()
