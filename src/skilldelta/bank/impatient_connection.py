"""PostgreSQL connections that give up on a server that has gone silent.

The server's own statement timeout is no help when the server is frozen or a network drops its packets without a word:
then nothing arrives, and a plain connection waits for ever. Here every wait has an end.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

import psycopg
from psycopg.abc import PQGen


class ImpatientConnection(psycopg.Connection[Any]):
    """A connection that closes itself when the server said nothing for `patience` seconds."""

    patience = 60.0

    def wait(self, gen: PQGen[Any], *arguments: Any, **options: Any) -> Any:
        """Run an exchange with the server; the driver wakes it several times per second, even when nothing came."""
        return super().wait(self._impatient(gen), *arguments, **options)

    def _impatient(self, gen: PQGen[Any]) -> Generator[Any, Any, Any]:
        last_sign = time.monotonic()
        try:
            awaited = next(gen)
            while True:
                ready = yield awaited
                now = time.monotonic()
                if ready:
                    last_sign = now
                elif now - last_sign > self.patience:
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"the server said nothing for {self.patience:g} s")
                awaited = gen.send(ready)
        except StopIteration as finished:
            return finished.value
