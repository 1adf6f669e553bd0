"""Fixtures that several test folders share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

_SHARED = Path(__file__).resolve().parents[2] / "shared"


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
