"""A gate on a small bank, in process and behind the HTTP API."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from cli.conftest import pair_rows
from skilldelta.bank import Bank
from skilldelta.bank.importers import read_source
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.http_api import gate_app


@pytest.fixture
def bank_path(tmp_path: Path) -> Path:
    """A bank of eight pairs: the units skill helps on three of four tasks, the dates skill harms on two of four."""
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in pair_rows()))
    with Bank.open(tmp_path / "toy.bank", create=True) as opened:
        opened.add(read_source(path))
    return tmp_path / "toy.bank"


@pytest.fixture
def gate(bank_path: Path) -> Iterator[GateService]:
    with GateService.open(bank_path) as opened:
        yield opened


@pytest.fixture
def client(bank_path: Path) -> Iterator[TestClient]:
    """The API on a gate of its own, reached as a client of loopback."""
    with TestClient(gate_app(GateService.open(bank_path)), base_url="http://127.0.0.1:7345") as opened:
        yield opened


@pytest.fixture
def service_log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What the service logs, whatever another test or library of this process has done to its logger."""
    lines, logger = io.StringIO(), logging.getLogger("skilldelta.serve")
    handler = logging.StreamHandler(lines)
    monkeypatch.setattr(logging.root.manager, "_disable", logging.NOTSET)
    monkeypatch.setattr(logger, "disabled", False)
    before = logger.level
    logger.setLevel(logging.WARNING)
    logger.addHandler(handler)
    yield lines
    logger.removeHandler(handler)
    logger.setLevel(before)
