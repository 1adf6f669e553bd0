"""What was learned is cached for one revision of its panel, is bounded, and is never handed out damaged."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from skilldelta.bank import learned
from skilldelta.bank.batch import Batch
from skilldelta.bank.index import Index
from skilldelta.bank.store import Bank
from skilldelta.file_lock import file_lock

from .small import AGENT, OTHER_AGENT, THREE_PAIRS, TinyEncoder, skip

PARTS = {"lens": b"abc", "names": b"12345"}


def index_of(bank: Bank) -> Index:
    return Index(bank, TinyEncoder(), AGENT, suite="default")


def test_parts_come_back_and_the_bank_does_not_change(filled: Bank) -> None:
    revision, panel = filled.revision(), filled.panel_revision(AGENT, "default")
    index = index_of(filled)
    assert index.keep_learned("s", PARTS, revision=index.revision())
    assert (index.learned("s", "lens"), index.learned("s", "names")) == (b"abc", b"12345")
    assert (index.learned("s", "other"), index.learned("t", "lens")) == (None, None)
    assert (filled.revision(), filled.panel_revision(AGENT, "default")) == (revision, panel)
    status = filled.status().learned
    assert (status.states, status.size_bytes) == (1, 8)
    assert filled.verify() == []


def test_the_last_writer_of_a_name_wins_whole(filled: Bank) -> None:
    index = index_of(filled)
    assert index.keep_learned("s", PARTS, revision=index.revision())
    assert index.keep_learned("s", {"lens": b"new"}, revision=index.revision())
    assert (index.learned("s", "lens"), index.learned("s", "names")) == (b"new", None)


def test_more_evidence_of_its_own_panel_makes_it_stale(filled: Bank) -> None:
    index = index_of(filled)
    old = index.revision()
    index.keep_learned("s", PARTS, revision=old)
    filled.add(Batch(executions=[skip("t1", 1.0, repetition=7)]))
    assert index.learned("s", "lens") is None
    assert not index.keep_learned("s", PARTS, revision=old), "learned from evidence that has moved on meanwhile"
    assert index.keep_learned("s", PARTS, revision=index.revision())
    assert filled.status().learned.states == 1


def test_more_evidence_of_another_agent_leaves_it_as_it_is(filled: Bank) -> None:
    index = index_of(filled)
    index.keep_learned("s", PARTS, revision=index.revision())
    filled.add(Batch(executions=[skip("t1", 1.0, agent=OTHER_AGENT)]))
    assert index.learned("s", "lens") == b"abc"


def test_other_code_takes_the_place_of_what_earlier_code_has_learned(filled: Bank) -> None:
    index = index_of(filled)
    for name in ("a 1.0", "b 1.0", "a 1.1"):
        assert index.keep_learned(name, PARTS, revision=index.revision())
    cached = [name for name in ("a 1.0", "b 1.0", "a 1.1") if index.learned(name, "lens")]
    assert cached == ["b 1.0", "a 1.1"]


def test_forgetting_anything_forgets_what_was_learned(filled: Bank) -> None:
    """It may hold words of the texts that are forgotten."""
    index = index_of(filled)
    index.keep_learned("s", PARTS, revision=index.revision())
    filled.forget(task_id="t1")
    assert filled.status().learned.states == 0


@pytest.mark.parametrize("damage", ["data = substr(data, 2)", "checksum = 7", "part = 'names' || part"])
def test_a_damaged_part_is_not_handed_out(filled: Bank, damage: str) -> None:
    index = index_of(filled)
    index.keep_learned("s", {"lens": b"abc"}, revision=index.revision())
    filled._cache.change(1, lambda connection: connection.exec_driver_sql(f"UPDATE learned_states SET {damage}"))
    assert index.learned("s", "lens") is None
    assert index.learned("s", "nameslens") is None
    assert index.keep_learned("s", {"lens": b"abc"}, revision=index.revision())
    assert index.learned("s", "lens") == b"abc"


def test_the_oldest_states_make_room_and_one_that_is_too_large_is_not_kept(
    filled: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter(range(9))
    monkeypatch.setattr(filled, "_clock", lambda: float(next(times)))
    monkeypatch.setattr(learned.keep, "__kwdefaults__", {"limit": 10})
    assert filled.keep_learned("a", {"p": b"1234"}, revision=1)
    assert filled.keep_learned("b", {"p": b"1234"}, revision=1)
    assert filled.keep_learned("c", {"p": b"123456"}, revision=1)
    assert [filled.learned(name, "p", revision=1) for name in "abc"] == [None, b"1234", b"123456"]
    assert not filled.keep_learned("d", {"p": b"12345678901"}, revision=1)


def test_a_locked_or_read_only_cache_is_not_waited_for(sqlite_bank: Bank) -> None:
    filled = sqlite_bank
    filled.add(THREE_PAIRS)
    assert filled.keep_learned("first", PARTS, revision=1)
    cache = Path(f"{filled.location}.cache") / "derived.bank"
    with file_lock(Path(f"{cache}.lock"), timeout=1):
        assert not filled.keep_learned("s", PARTS, revision=1)
    foreign = sqlite3.connect(cache, isolation_level=None)
    foreign.execute("BEGIN IMMEDIATE")
    assert not filled.keep_learned("s", PARTS, revision=1)
    foreign.close()
    with Bank.open(filled.location, readonly=True) as readonly:
        assert not readonly.keep_learned("s", PARTS, revision=1)
        assert readonly.learned("s", "lens", revision=1) is None
        assert readonly.learned("first", "lens", revision=1) == b"abc"
