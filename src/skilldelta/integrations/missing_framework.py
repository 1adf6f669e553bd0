"""The one line that a user sees who imports an adapter without its framework."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from skilldelta.errors import MissingExtraError, SkillDeltaError


class MissingFrameworkError(MissingExtraError):
    """An agent framework that is not installed; whoever uses one installs it, so it is no extra of ours."""

    def __init__(self, package: str) -> None:
        SkillDeltaError.__init__(self, f"this adapter needs {package}; install it with: pip install {package}")


@contextmanager
def required(package: str) -> Iterator[None]:
    """Import a framework inside; where it is missing, the error says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingFrameworkError(package) from error
