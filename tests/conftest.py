"""Fixtures that several test folders share, and what a machine must have for tests not to be skipped.

On a plain machine, tests that need a system package skip with a reason. Where the packages are meant to be there, as in
CI, SKILLDELTA_REQUIRE names them, and a skip for the want of one is a failure: SKILLDELTA_REQUIRE="bubblewrap Chromium".
"""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import numpy as np
import pytest

_SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip for the want of a required package into a failure."""
    report = yield
    reason = str(report.longrepr[2]) if report.skipped and isinstance(report.longrepr, tuple) else ""
    lacking = [name for name in os.environ.get("SKILLDELTA_REQUIRE", "").split() if name.lower() in reason.lower()]
    if lacking:
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid}: {lacking[0]} is required here (SKILLDELTA_REQUIRE). {reason}"
    return report


@pytest.fixture(autouse=True, scope="session")
def state_of_its_own() -> Iterator[None]:
    """Servers and hooks that tests start keep nothing in the home of whoever runs the tests. Short, for a socket's path."""
    before = os.environ.get("XDG_STATE_HOME")
    with tempfile.TemporaryDirectory(prefix="sd-", ignore_cleanup_errors=True) as folder:
        os.environ["XDG_STATE_HOME"] = folder
        yield
    if before is None:
        del os.environ["XDG_STATE_HOME"]
    else:
        os.environ["XDG_STATE_HOME"] = before


@pytest.fixture(autouse=True)
def no_width_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Output has its own width in every test: parallel runs set COLUMNS for their workers."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def rng() -> np.random.Generator:
    """The one source of randomness of a test."""
    return np.random.default_rng(20260101)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data beside a developer's or CI's checkout; a user's clone does not have it."""
    folder = _SHARED / "data"
    if not folder.is_dir():
        pytest.skip("the real data folder ../shared/data is not beside this checkout")
    return folder


@pytest.fixture(autouse=True)
def loggers_as_they_were() -> Iterator[None]:
    """A server that a test starts in this process takes over its loggers; the next test finds them as they were."""
    loggers = [logging.getLogger(name) for name in ("skilldelta.serve", "uvicorn", "opentelemetry")]
    before = [(logger.handlers, logger.propagate, logger.level) for logger in loggers]
    yield
    for logger, (handlers, propagate, level) in zip(loggers, before, strict=True):
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)
