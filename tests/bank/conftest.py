"""A bank of its own for every test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skilldelta.bank.store import Bank

from .small import THREE_PAIRS


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[Bank]:
    """An empty bank."""
    with Bank.open(tmp_path / "test.bank", timeout=5) as opened:
        yield opened


@pytest.fixture
def filled(bank: Bank) -> Bank:
    """A bank of three pairs."""
    bank.add(THREE_PAIRS)
    return bank
