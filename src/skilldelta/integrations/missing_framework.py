"""The one line that a user sees who imports an adapter without its framework."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def required(package: str) -> Iterator[None]:
    """Import a framework inside; where it is missing, the error says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"this adapter needs {package}; run: pip install {package}", name=error.name
        ) from error
