"""The server's log on standard error: one line per event, with known secrets and whatever looks like one masked."""

from __future__ import annotations

import logging
from typing import TextIO

from skilldelta.redaction import redacted

_FORMAT = "%(asctime)s %(levelname)s %(message)s"


class _MaskedFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))


def log_to(stream: TextIO, *, access: bool) -> None:
    """Send the log of the service, and of the server below it, to a stream; with `access` a line per request."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_MaskedFormatter(_FORMAT))
    for name in ("skilldelta.serve", "uvicorn", "opentelemetry"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.WARNING)
    logging.getLogger("skilldelta.serve.access").setLevel(logging.INFO if access else logging.WARNING)
