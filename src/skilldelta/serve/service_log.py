"""The server's log on standard error: one line per event, with known secrets and whatever looks like one masked.

Control characters, and whatever is not ASCII, are escaped.
"""

from __future__ import annotations

import logging
from typing import TextIO

from skilldelta.redaction import redacted

_FORMAT = "%(asctime)s %(levelname)s %(message)s"


class _MaskedFormatter(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name that logging gave it
        # What a request brings must neither start a line of its own nor speak to the terminal.
        # Secrets go first: an escaped line break ends in a letter, which would hide where a secret begins.
        record.message = redacted(record.message).encode("unicode_escape").decode("ascii")
        return super().formatMessage(record)

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
