"""A bank of its own for every test, in SQLite and, where its programs are installed, in PostgreSQL."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from skilldelta.bank import schema
from skilldelta.bank.store import Bank

from .cluster import Cluster, running_cluster, server_programs
from .small import THREE_PAIRS


@pytest.fixture(scope="session")
def postgres() -> Iterator[Cluster]:
    """One server for all tests."""
    if sys.platform == "win32":
        pytest.skip("the private PostgreSQL server listens on a Unix socket")
    programs = server_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server programs (initdb, pg_ctl) are installed")
    pytest.importorskip("psycopg")
    with running_cluster(programs) as cluster:
        yield cluster


@pytest.fixture
def postgres_location(postgres: Cluster) -> str:
    """The URL of a database without a bank."""
    postgres.execute("DROP SCHEMA IF EXISTS skilldelta CASCADE")
    return postgres.url


@pytest.fixture
def postgres_emptied(postgres: Cluster) -> str:
    """The URL of a database whose bank, if it has one, is empty: sooner done than making the tables again."""
    made = [name for (name,) in postgres.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'skilldelta'")]
    if set(made) != {table.name for table in schema.TABLES}:
        postgres.execute("DROP SCHEMA IF EXISTS skilldelta CASCADE")
        return postgres.url
    tables = ", ".join(f"skilldelta.{name}" for name in made if name != "meta")
    postgres.execute(f"TRUNCATE {tables}; DELETE FROM skilldelta.meta WHERE name <> 'schema_version'")
    return postgres.url


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the test's bank is: a path, or a URL."""
    if request.param == "sqlite":
        return str(tmp_path / "test.bank")
    url: str = request.getfixturevalue("postgres_emptied")
    return url


@pytest.fixture
def bank(location: str) -> Iterator[Bank]:
    """An empty bank."""
    with Bank.open(location, timeout=5, create=True) as opened:
        yield opened


@pytest.fixture
def filled(bank: Bank) -> Bank:
    """A bank of three pairs."""
    bank.add(THREE_PAIRS)
    return bank


@pytest.fixture
def sqlite_bank(tmp_path: Path) -> Iterator[Bank]:
    """An empty bank in a file, for tests that open the file themselves."""
    with Bank.open(tmp_path / "test.bank", timeout=5, create=True) as opened:
        yield opened


@pytest.fixture
def sqlite_filled(sqlite_bank: Bank) -> Bank:
    """A bank of three pairs in a file."""
    sqlite_bank.add(THREE_PAIRS)
    return sqlite_bank
