"""Work of the collector from the command line: run until it is done or a person stops it, and its logs afterwards."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from skilldelta.collect.session import Session

T = TypeVar("T")


def until_stopped(work: Coroutine[Any, Any, T]) -> T | None:
    """Run until done, or None after Ctrl-C or SIGTERM; what is in flight then is run again by the next start."""

    async def main() -> T | None:
        loop = asyncio.get_running_loop()
        task = loop.create_task(work)
        stopped = False

        def stop() -> None:
            nonlocal stopped
            stopped = True
            task.cancel()

        # Windows has no such handlers: Ctrl-C then cancels this coroutine and is raised again below.
        with suppress(NotImplementedError):
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(number, stop)
        try:
            result = await task
            return None if stopped else result
        except asyncio.CancelledError:
            if not stopped:
                raise
            return None

    try:
        return asyncio.run(main())
    except KeyboardInterrupt:
        return None


def write_session_logs(session: Session) -> None:
    """The Inspect logs of a collection, as far as it has come; nothing where it never began."""
    from datetime import UTC, datetime

    from skilldelta.collect.logs import write_logs
    from skilldelta.collect.manifest import MANIFEST_FILE, read_manifest

    if not (session.folder / MANIFEST_FILE).exists():
        return  # stopped before it began
    write_logs(session.folder, read_manifest(session.folder / MANIFEST_FILE), datetime.now(UTC))
