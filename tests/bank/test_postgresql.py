"""What is special to a PostgreSQL bank: hidden passwords, one snapshot per read, and no wait without an end."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Table, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateTable

from skilldelta.bank import schema
from skilldelta.bank.batch import Batch
from skilldelta.bank.entries import RecordedOutcome
from skilldelta.bank.migrations import LATEST, m0001_first_tables
from skilldelta.bank.postgresql import PostgreSQL
from skilldelta.bank.reading import executions_query, read_executions
from skilldelta.bank.store import Bank
from skilldelta.errors import BankError
from skilldelta.records import Task

from .cluster import Cluster
from .small import AGENT, DECISION, OTHER_AGENT, THREE_PAIRS, TinyEncoder, skip


@pytest.mark.parametrize("made", m0001_first_tables._metadata().tables.values(), ids=lambda made: made.name)
def test_every_table_compiles_for_both_databases(made: Table) -> None:
    large = str(CreateTable(made).compile(dialect=postgresql.dialect()))  # type: ignore[no-untyped-call]
    small = str(CreateTable(made).compile(dialect=sqlite.dialect())).replace('"', "")
    assert "SERIAL" not in large  # keys are given by the bank, not by a sequence
    if "key" in made.c:
        assert "key BIGINT NOT NULL" in large
        assert "key INTEGER NOT NULL" in small  # SQLite's own row id


def test_the_location_hides_the_password() -> None:
    location = PostgreSQL("postgresql://ann:secret@db.example/bank", timeout=1).location
    assert location == "postgresql://ann:***@db.example/bank"


def test_a_read_sees_one_moment_whatever_is_written_meanwhile(postgres_location: str) -> None:
    with Bank.open(postgres_location, create=True) as bank, Bank.open(postgres_location) as other:
        bank.add(THREE_PAIRS)
        with bank._database.read() as connection:
            before = connection.execute(select(func.count()).select_from(schema.agents)).scalar()
            other.add(Batch(executions=[skip("t1", 1.0, agent=OTHER_AGENT)]))
            query = executions_query(connection)
            assert {stored.execution.agent for stored in read_executions(connection, query)} == {AGENT}
            assert connection.execute(select(func.count()).select_from(schema.agents)).scalar() == before == 1
            with pytest.raises(DBAPIError, match="read-only transaction"):
                connection.execute(delete(schema.executions))
        assert len(bank.agents()) == 2


def refusal(action: Callable[[], object], *, within: float) -> str:
    """The one line with which an action ends, in bounded time."""
    start = time.monotonic()
    with pytest.raises(BankError) as error:
        action()
    assert time.monotonic() - start < within
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_server_that_accepts_and_says_nothing_is_given_up() -> None:
    pytest.importorskip("psycopg")
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"postgresql://ann:secret@127.0.0.1:{server.getsockname()[1]}/bank"
        message = refusal(lambda: Bank.open(url, timeout=1), within=8)
    assert "cannot be reached (connection timeout expired); check the URL and the server" in message
    assert "secret" not in message


def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    pytest.importorskip("psycopg")
    message = refusal(lambda: Bank.open("postgresql://ann:secret@127.0.0.1:1/bank"), within=8)
    assert "ann:***@127.0.0.1:1/bank cannot be reached" in message
    assert "secret" not in message


def _backends(bank: Bank) -> list[int]:
    query = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
    with bank._database.read() as connection:
        return [int(pid) for (pid,) in connection.exec_driver_sql(query)]


def test_a_server_that_freezes_is_given_up_in_bounded_time(postgres: Cluster, postgres_location: str) -> None:
    with Bank.open(postgres_location, timeout=1, create=True) as bank:
        bank.add(THREE_PAIRS)
        frozen = [postgres.process_id, *_backends(bank)]
        for process in frozen:
            os.kill(process, signal.SIGSTOP)
        try:
            message = refusal(lambda: bank.pairing(agent=AGENT), within=15)
            again = refusal(lambda: bank.add(THREE_PAIRS), within=15)
        finally:
            for process in frozen:
                os.kill(process, signal.SIGCONT)
        assert "cannot be reached" in message
        assert "cannot be reached" in again
        assert len(bank.pairing(agent=AGENT).pairs) == 3  # the same object goes on when the server does


def test_silence_amid_an_answer_ends_the_connection(postgres_location: str) -> None:
    with Bank.open(postgres_location, timeout=1, create=True) as bank:
        with bank._database.read() as connection:
            own = int(connection.exec_driver_sql("SELECT pg_backend_pid()").scalar() or 0)

        def freeze_and_ask() -> None:
            with bank._database.read() as connection:
                connection.exec_driver_sql("SELECT 1")
                os.kill(own, signal.SIGSTOP)
                try:
                    connection.exec_driver_sql("SELECT 2")
                finally:
                    os.kill(own, signal.SIGCONT)

        assert "the server said nothing for 1.5 s" in refusal(freeze_and_ask, within=10)


def test_a_statement_that_takes_too_long_is_ended_by_the_server(postgres_location: str) -> None:
    with Bank.open(postgres_location, timeout=1, create=True) as bank:

        def sleep() -> None:
            with bank._database.read() as connection:
                connection.exec_driver_sql("SELECT pg_sleep(60)")

        assert "took too long" in refusal(sleep, within=10)


def test_a_dropped_connection_costs_a_write_under_way_and_nothing_more(postgres_location: str) -> None:
    with Bank.open(postgres_location, timeout=5, create=True) as bank, Bank.open(postgres_location) as other:
        bank.add(THREE_PAIRS)

        def drop_and_write() -> None:
            with bank._database.write() as connection:
                connection.execute(delete(schema.executions))
                pid = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
                with other._database.read() as killer:
                    killer.exec_driver_sql(f"SELECT pg_terminate_backend({pid}, 2000)")
                connection.execute(delete(schema.executions))

        assert "cannot be reached (terminating connection" in refusal(drop_and_write, within=10)
        assert len(list(bank.executions())) == 6
        assert bank.add(THREE_PAIRS).unchanged == 10


def test_pooled_connections_that_were_dropped_are_replaced(postgres_location: str) -> None:
    with Bank.open(postgres_location, create=True) as bank, Bank.open(postgres_location) as other:
        bank.add(THREE_PAIRS)
        assert bank.revision() == 1
        with other._database.read() as killer:
            killer.exec_driver_sql(
                "SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity"
                " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            )
        assert bank.revision() == 1
        assert len(bank.pairing(agent=AGENT).pairs) == 3
        assert bank.add(THREE_PAIRS).unchanged == 10


def test_a_writer_that_holds_the_lock_is_waited_for_and_then_named(postgres_location: str) -> None:
    with Bank.open(postgres_location, create=True) as holder, Bank.open(postgres_location, timeout=0.2) as waiting:
        with holder._database.write():
            message = refusal(lambda: waiting.add(THREE_PAIRS), within=5)
            assert waiting.revision() == 0  # readers do not wait
        assert "is being written by another program" in message
        assert waiting.add(THREE_PAIRS).executions == 6


def test_two_processes_that_make_a_bank_at_once_make_one(postgres_location: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        banks = list(pool.map(lambda _: Bank.open(postgres_location, create=True), range(4)))
    assert {bank.status().schema_version for bank in banks} == {LATEST}
    for bank in banks:
        bank.close()


def test_postgres_is_another_spelling_of_postgresql(postgres_location: str) -> None:
    short = postgres_location.replace("postgresql+psycopg://", "postgres://")
    assert short.startswith("postgres://")
    with Bank.open(short, create=True) as bank:
        assert bank.add(THREE_PAIRS).executions == 6


def test_a_large_learned_state_is_kept_however_short_the_wait_for_the_lock_is(postgres_location: str) -> None:
    """The patience of the cache is for other writers, and not for the time that 40 MB take."""
    with Bank.open(postgres_location, create=True) as bank:
        bank.add(THREE_PAIRS)
        data = os.urandom(40_000_000)
        assert bank.keep_learned("large", {"part": data}, revision=1)
        assert bank.learned("large", "part", revision=1) == data


def test_many_rows_are_copied_and_read_back_as_they_were(postgres_location: str) -> None:
    texts = ["plain", "tab\tand\\backslash", "line\nbreak", "quote \" and '", "日本", "\\N", "", "\x01"]
    tasks = [Task(f"t{i}", f"{texts[i % len(texts)]} {i}?", texts[i % len(texts)]) for i in range(500)]
    runs = [skip(task.task_id, i / 500, tokens=0.1 * i if i % 3 else None) for i, task in enumerate(tasks)]
    with Bank.open(postgres_location, create=True) as bank:
        bank.add(Batch(tasks, executions=runs))
        assert bank.tasks() == tasks
        assert list(bank.executions()) == runs
        assert bank.verify() == []
        bad = [Task(f"n{i}", f"a\0b {i}", "f") for i in range(500)]
        with pytest.raises(BankError) as error:
            bank.add(Batch(bad))
        assert "\n" not in str(error.value)
        assert bank.tasks() == tasks


def test_reading_roles_need_no_right_to_write(postgres: Cluster, postgres_location: str) -> None:
    with Bank.open(postgres_location, create=True) as bank:
        bank.add(THREE_PAIRS)
    postgres.execute(
        "DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA skilldelta TO reader; "
        "GRANT SELECT ON ALL TABLES IN SCHEMA skilldelta TO reader"
    )
    try:
        with Bank.open(postgres_location.replace("postgres@", "reader@")) as bank:
            assert len(bank.support(TinyEncoder(), agent=AGENT)) == 3
            assert bank.status().vectors == {}
            assert not bank.keep_learned("s", {"p": b"x"}, revision=1)
            with pytest.raises(BankError, match="cannot be written"):
                bank.add(Batch(executions=[skip("t1", 1.0, repetition=3)]))
    finally:
        postgres.execute("DROP OWNED BY reader; DROP ROLE reader")


def test_the_documented_grants_are_enough_for_a_server(postgres: Cluster, postgres_location: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "bank.md").read_text(encoding="utf-8")
    grants = [block for block in page.split("```") if "TO serving" in block]
    assert len(grants) == 1
    with Bank.open(postgres_location, create=True) as bank:
        bank.add(THREE_PAIRS)
    postgres.execute("DROP ROLE IF EXISTS serving; CREATE ROLE serving LOGIN")
    postgres.execute(grants[0].removeprefix("text\n"))
    try:
        with Bank.open(postgres_location.replace("postgres@", "serving@")) as bank:
            assert len(bank.support(TinyEncoder(), agent=AGENT)) == 3
            assert bank.status().vectors == {"tiny/3": 3}
            assert bank.keep_learned("s", {"p": b"x"}, revision=1)
            decision = bank.record_decision(DECISION)
            bank.record_outcome(RecordedOutcome(decision, 1.0, success=1))
            assert bank.forget_decisions() == 1
            with pytest.raises(BankError, match="cannot be written"):
                bank.add(Batch(executions=[skip("t1", 1.0, repetition=3)]))
    finally:
        postgres.execute("DROP OWNED BY serving; DROP ROLE serving")
