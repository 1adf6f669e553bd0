"""A blocking function in a thread of its own, awaited from the event loop.

The loop's shared pool has few threads and is waited for at the end, so a function that blocks for long has no place in it.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def in_own_thread(function: Callable[..., T], *arguments: object, name: str) -> T:
    """What the function returns or raises. Nobody waits for the thread when the caller is cancelled."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def succeed(value: T) -> None:
        if not future.done():
            future.set_result(value)

    def fail(error: Exception) -> None:
        if not future.done():
            future.set_exception(error)

    def work() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            try:
                value = function(*arguments)
            except Exception as error:
                loop.call_soon_threadsafe(fail, error)
            else:
                loop.call_soon_threadsafe(succeed, value)

    threading.Thread(target=work, daemon=True, name=name).start()
    return await future
