"""A blocking function in a thread of its own, awaited from the event loop.

The loop's shared pool has few threads and is waited for at the end, so a function that blocks for long has no place in it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


async def in_own_thread(function: Callable[..., T], *arguments: object, name: str) -> T:
    """What the function returns or raises. Nobody waits for the thread when the caller is cancelled."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # a cancelled caller leaves it as it is, so the thread can always end

    def work() -> None:
        try:
            future.set_result(function(*arguments))
        except Exception as error:
            future.set_exception(error)

    threading.Thread(target=work, daemon=True, name=name).start()
    return await asyncio.wrap_future(future)
