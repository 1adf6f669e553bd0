"""Nothing that is stored changes without `verify` and its readers noticing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skilldelta.bank import learned, schema
from skilldelta.bank.backup import upgrade_bank
from skilldelta.bank.batch import Batch
from skilldelta.bank.entries import RecordedOutcome
from skilldelta.bank.index import Index
from skilldelta.bank.schema import checksum_of, row_checksum
from skilldelta.bank.store import Bank
from skilldelta.errors import BankError
from skilldelta.records import Skill, Task

from .flips import FilledBank, data_of, flipped
from .older import JUDGEMENT, current_bank, older_bank
from .small import AGENT, DECISION, THREE_PAIRS, TinyEncoder, use, vector, with_a_script
from .test_verify import tamper


@pytest.fixture
def everything(filled: Bank) -> Bank:
    """A bank with a row in every table."""
    filled.add(Batch(vectors=[vector("What day is it?", 0.0, 0.6, 0.8)]))
    decision_id = filled.record_decision(
        replace(DECISION, conversation="c1", source="a harness", text="What day is it?")
    )
    filled.record_outcome(RecordedOutcome(decision_id, 1_700_000_001.5, success=1))
    filled.add_judgements([JUDGEMENT])
    filled.add(Batch(listed=[replace(use("t1", 1.0), condition="listed", loaded=True)]))
    return filled


def test_every_row_of_every_table_has_its_checksum(everything: Bank) -> None:
    everything.add(Batch(skills=[Skill("dates2", "", "0" * 64), with_a_script("dates3", "Run it.", "print(1)")]))
    everything.add(Batch([Task("t9", "Zero?", "f")], executions=[use("t9", -0.0, tokens=-0.0, seconds=1e-300)]))
    everything.forget(task_id="t3")
    backend = everything._database.backend
    with everything._database.write() as connection:
        learned.keep(connection, backend, "state", {"part": b"weights"}, revision=1, now=0.0)
    everything.use(agent=AGENT)
    assert everything.verify() == []
    with everything._database.read() as connection:
        for table in schema.TABLES:
            assert connection.execute(table.select()).first() is not None, table.name


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE executions SET success = 1 - success WHERE key = 2", "1 row of executions changed since stored"),
        ("UPDATE executions SET tokens = 11 WHERE key = 1", "1 row of executions"),
        ("UPDATE executions SET tokens = NULL WHERE key = 1", "1 row of executions"),
        ("UPDATE executions SET recorded_at = 5 WHERE key = 6", "1 row of executions"),
        ("UPDATE executions SET attempt = 7 WHERE key = 1", "1 row of executions"),
        ("UPDATE tasks SET family = 'travel' WHERE task_id = 't1'", "1 row of tasks"),
        ("UPDATE agents SET name = 'model-b'", "1 row of agents"),
        ("UPDATE skills SET skill_id = 'date' WHERE skill_id = 'dates'", "1 row of skills"),
        ("UPDATE encoders SET identity = 'tiny/4'", "1 row of encoders"),
        ("UPDATE decisions SET gain = -gain", "1 row of decisions"),
        ("UPDATE judgements SET tokens = 4", "1 row of judgements"),
        ("UPDATE listed_executions SET loaded = 0", "1 row of listed_executions"),
        ("UPDATE meta SET value = 9 WHERE name = 'revision'", "1 row of meta"),
        ("UPDATE commits SET mark = mark + 1 WHERE number = 2", "1 row of commits"),
        ("DELETE FROM commits WHERE number = 2", "the list of commits has"),
    ],
)
def test_verification_finds_a_changed_row(everything: Bank, change: str, words: str) -> None:
    assert everything.verify() == []
    tamper(everything, change)
    problems = everything.verify()
    assert any(words in problem for problem in problems), problems
    assert len(problems) <= 2


def test_verification_finds_a_vector_that_turned(bank: Bank) -> None:
    bank.add(Batch(vectors=[vector("one", 1.0, 0.0, 0.0), vector("two words", 0.0, 1.0, 0.0)]))
    one = np.array([0.0, 0.6, 0.8], np.float32).tobytes().hex().upper()
    tamper(bank, f"UPDATE vectors SET vector = x'{one}'")
    assert "2 rows of vectors changed since stored (wrong checksum): " in bank.verify()[0]


@pytest.mark.parametrize("column", ["success = 1 - success", "tokens = 0.5", "repetition = 4", "status = 'incomplete'"])
def test_an_execution_that_changed_is_not_used(filled: Bank, column: str) -> None:
    tamper(filled, f"UPDATE executions SET {column} WHERE key = 1")
    message = "execution .* in the bank was changed"
    for read in (
        lambda: filled.pairing(agent=AGENT),
        lambda: list(filled.executions()),
        lambda: Index(filled, TinyEncoder(), AGENT).scope(family="calendar"),
    ):
        with pytest.raises(BankError, match=message):
            read()
    assert len(Index(filled, TinyEncoder(), AGENT).scope(family="travel")) == 1  # the others are


def test_a_vector_that_changed_is_not_used(filled: Bank) -> None:
    filled.add(Batch(vectors=[vector("What day is it?", 0.0, 0.6, 0.8)]))
    tamper(filled, "UPDATE vectors SET vector = x'000000000000000000000000'")
    with pytest.raises(BankError, match=r"the vector of text .* by encoder 'tiny/3' in the bank was changed"):
        filled.support(TinyEncoder(), agent=AGENT)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE executions SET repetition = 'many' WHERE key = 1",
        "UPDATE executions SET recorded_at = 'now' WHERE key = 1",
        "UPDATE vectors SET vector = 'text'",
        "UPDATE tasks SET text = x'FF' WHERE key = 1",
        "UPDATE tasks SET text = CAST(text AS BLOB) WHERE key = 1",
        "UPDATE tasks SET text_digest = 5 WHERE key = 1",
        "UPDATE skills SET text = 7 WHERE skill_id = 'dates'",
        "UPDATE tasks SET text = CAST(x'FF' AS TEXT) WHERE key = 1",
    ],
)
def test_a_value_of_another_type_is_found_in_one_line(sqlite_filled: Bank, change: str) -> None:
    sqlite_filled.add(Batch(vectors=[vector("What day is it?", 0.0, 0.6, 0.8)]))
    tamper(sqlite_filled, change)
    try:
        problems = sqlite_filled.verify()
    except BankError as error:
        problems = [str(error)]
    assert "changed since stored" in problems[-1] or "is damaged" in problems[-1]


def test_a_table_that_cannot_be_described_is_damage(sqlite_filled: Bank) -> None:
    """SQLite quotes the damaged statement in its complaint, in bytes that are no text."""
    path = Path(sqlite_filled.location)
    sqlite_filled.close()
    raw = path.read_bytes()
    path.write_bytes(
        raw.replace(b"CREATE TABLE judgements", b"CREATE TABLE judgem\xa0nts").replace(b"(key", b"(\xa0ey")
    )
    with pytest.raises(BankError, match="is damaged"):
        Bank.open(path)


def test_columns_of_unlike_types_and_lengths_do_not_look_alike() -> None:
    rows = [
        (1,),
        (1.0,),
        ("1",),
        (b"1",),
        (None,),
        ("", "a"),
        ("a", ""),
        (b"", "a", ""),
        (0,),
        (0.0,),
        (),
        (True, 1),
        (1,) * 3,
    ]
    assert len({row_checksum(row) for row in rows}) == len(rows)
    assert row_checksum((True,)) == row_checksum((1,))  # SQLite has no other truth
    assert row_checksum((-0.0,)) == row_checksum((0.0,))


def test_an_upgrade_from_the_first_version_computes_the_checksums(tmp_path: Path) -> None:
    current_bank(tmp_path / "new.bank")
    older_bank(str(tmp_path / "old.bank"), 1, tmp_path / "new.bank")
    upgrade_bank(tmp_path / "old.bank")
    with Bank.open(tmp_path / "old.bank") as bank:
        with bank._database.read() as connection:
            for table in schema.TABLES:
                for *stored, checksum in connection.execute(table.select()):
                    assert checksum_of(table.name)(stored) == checksum
        tamper(bank, "UPDATE executions SET success = 0.5 WHERE key = 1")
        assert "1 row of executions changed since stored (wrong checksum): 1" in bank.verify()


def test_a_first_version_in_the_place_of_a_newer_bank_is_upgraded(tmp_path: Path) -> None:
    current_bank(tmp_path / "my.bank")
    older_bank(str(tmp_path / "old.bank"), 1, tmp_path / "my.bank")
    (tmp_path / "old.bank").replace(tmp_path / "my.bank")
    upgrade_bank(tmp_path / "my.bank")
    with Bank.open(tmp_path / "my.bank") as bank:
        assert bank.verify() == []
        assert bank.add(THREE_PAIRS).unchanged == 10


@pytest.mark.parametrize("kind", ["random", "aimed"])
def test_no_flipped_bit_changes_data_in_silence(tmp_path: Path, rng: np.random.Generator, kind: str) -> None:
    assert_no_silent_flip(tmp_path, rng, kind, 40)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "count"), [("random", 900), ("aimed", 100)])
def test_no_flipped_bit_of_many_changes_data_in_silence(
    tmp_path: Path, rng: np.random.Generator, kind: str, count: int
) -> None:
    assert_no_silent_flip(tmp_path, rng, kind, count)


def assert_no_silent_flip(folder: Path, rng: np.random.Generator, kind: str, count: int) -> None:
    """Flip one bit at a time; what verification passes must read as before."""
    source = FilledBank.made(folder / "source.bank", rng)
    noticed = silent = harmless = 0
    for number in range(count):
        path = folder / f"flipped{number}.bank"
        offset = source.any_offset(rng) if kind == "random" else source.aimed_offset(rng)
        flipped(source.path, path, offset, int(rng.integers(8)))
        try:
            with Bank.open(path, readonly=True) as bank:
                problems = bank.verify()
            same = data_of(path) == source.data
        except BankError:
            problems, same = ["refused"], False
        noticed += bool(problems)
        harmless += not problems and same
        silent += not problems and not same
        path.unlink()
    print(f"{kind}: {count} flips, {noticed} noticed, {harmless} changed nothing, {silent} silent")
    assert silent == 0
    assert noticed > count / 4
