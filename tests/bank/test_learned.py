"""What was learned is cached for one revision of its panel, is bounded, and is never handed out damaged."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from skilldelta.bank import learned
from skilldelta.bank.batch import Batch
<<<<<<< HEAD
from skilldelta.bank.index import Index
=======
from skilldelta.bank.pair_reading import PairQuery
>>>>>>> main
from skilldelta.bank.store import Bank
from skilldelta.file_lock import file_lock
from skilldelta.records import Agent, Skill

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


<<<<<<< HEAD
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
=======
def test_more_evidence_makes_it_stale_and_its_revision_can_still_be_read(filled: Bank) -> None:
    old = filled.revision()
    filled.keep_learned("s", PARTS, revision=old)
    filled.add(Batch(executions=[skip("t1", 1.0, repetition=7)]))
    assert filled.learned("s", "lens") is None
    assert filled.status().learned.states == 0
    assert not filled.keep_learned("s", PARTS, revision=old), "learned from evidence that has moved on meanwhile"
    assert filled.keep_learned("other", PARTS, revision=filled.revision())
    assert (filled.learned_revision("s"), filled.learned_revision("other")) == (old, filled.revision())
    assert filled.learned("s", "lens", revision=old) == b"abc"
    assert filled.keep_learned("s", {"lens": b"new"}, revision=filled.revision())
    assert filled.learned("s", "lens", revision=old) is None


def test_what_was_learned_while_evidence_was_added_is_kept_and_never_in_place_of_something_newer(filled: Bank) -> None:
    asked = PairQuery(filled.agents()[0])
    mark = filled.mark(asked)
    filled.add(Batch(executions=[skip("t1", 1.0, repetition=7)]))
    how = {"revision": mark.revision, "removals": mark.removals}
    assert filled.keep_learned("s", PARTS, **how)
    assert filled.learned("s", "lens", revision=mark.revision) == b"abc"
    assert filled.keep_learned("s", {"lens": b"new"}, revision=filled.revision())
    assert not filled.keep_learned("s", PARTS, **how)
    assert filled.learned("s", "lens") == b"new"


def test_what_was_learned_before_something_was_forgotten_is_not_kept(filled: Bank) -> None:
    mark = filled.mark(PairQuery(filled.agents()[0]))
    filled.forget(task_id="t1")
    assert not filled.keep_learned("s", PARTS, revision=mark.revision, removals=mark.removals)


def test_freshness_tells_growth_from_removals_new_versions_and_other_panels(filled: Bank) -> None:
    asked = PairQuery(filled.agents()[0], suite=filled.suites()[0])
    mark = filled.mark(asked)
    assert filled.freshness(asked, mark) == "current"
    other = replace(skip("t1", 1.0), agent=Agent("somebody else"))
    filled.add(Batch(executions=[other]))
    assert filled.freshness(asked, mark) == "current", "another agent's executions are none of this panel's"
    filled.add(Batch(executions=[skip("t1", 1.0, repetition=7)]))
    assert filled.freshness(asked, mark) == "outdated"
    mark = replace(filled.mark(asked), versions=(("skill nobody changed", ()),))
    filled.add(Batch(skills=[Skill("brand new", "one"), Skill("skill nobody changed", "d1")]))
    assert filled.freshness(asked, mark) == "current", "what did not say its version is of the first one known"
    filled.add(Batch(skills=[Skill("skill nobody changed", "d2")]))
    assert filled.freshness(asked, mark) == "invalid"
    mark = filled.mark(asked)
    filled.forget(task_id="t1")
    assert filled.freshness(asked, mark) == "invalid"
>>>>>>> main


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
