"""What was learned is cached for one revision of its panel, is bounded, and is never handed out damaged."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from skilldelta.bank import learned
from skilldelta.bank.batch import Batch
from skilldelta.bank.index import Index
from skilldelta.bank.pair_reading import PairQuery
from skilldelta.bank.store import Bank
from skilldelta.file_lock import file_lock
from skilldelta.records import Skill

from .small import AGENT, NEW_SKILL, OTHER_AGENT, THREE_PAIRS, TinyEncoder, skip

PARTS = {"lens": b"abc", "names": b"12345"}


def index_of(bank: Bank) -> Index:
    return Index(bank, TinyEncoder(), AGENT, suite="default")


def test_parts_come_back_and_the_bank_does_not_change(filled: Bank) -> None:
    revision, panel = filled.revision(), filled.panel_revision(AGENT, "default")
    index = index_of(filled)
    assert index.keep_learned("s", PARTS, index.whole()[1])
    assert (
        index.learned("s", "lens", revision=index.revision()),
        index.learned("s", "names", revision=index.revision()),
    ) == (b"abc", b"12345")
    assert (
        index.learned("s", "other", revision=index.revision()),
        index.learned("t", "lens", revision=index.revision()),
    ) == (None, None)
    assert (filled.revision(), filled.panel_revision(AGENT, "default")) == (revision, panel)
    status = filled.status().learned
    assert (status.states, status.size_bytes) == (1, 8)
    assert filled.verify() == []


def test_the_last_writer_of_a_name_wins_whole(filled: Bank) -> None:
    index = index_of(filled)
    assert index.keep_learned("s", PARTS, index.whole()[1])
    assert index.keep_learned("s", {"lens": b"new"}, index.whole()[1])
    assert (
        index.learned("s", "lens", revision=index.revision()),
        index.learned("s", "names", revision=index.revision()),
    ) == (b"new", None)


def test_more_evidence_of_its_own_panel_makes_it_stale_and_its_revision_can_still_be_read(filled: Bank) -> None:
    index = index_of(filled)
    old = index.whole()[1]
    assert index.keep_learned("s", PARTS, old)
    filled.add(Batch(executions=[skip("t1", 1.0, repetition=7)]))
    new = index.whole()[1]
    assert index.learned("s", "lens", revision=new.revision) is None
    assert index.learned_revision("s") == old.revision
    assert index.learned("s", "lens", revision=old.revision) == b"abc"
    assert index.keep_learned("s", {"lens": b"new"}, new)
    assert index.learned("s", "lens", revision=old.revision) is None
    assert not index.keep_learned("s", PARTS, old), "never in place of something newer"
    assert filled.status().learned.states == 1


def test_what_was_learned_while_evidence_was_added_is_kept(filled: Bank) -> None:
    index = index_of(filled)
    mark = index.whole()[1]
    filled.add(Batch(executions=[skip("t1", 1.0, repetition=7)]))
    assert index.keep_learned("s", PARTS, mark)
    assert index.learned("s", "lens", revision=mark.revision) == b"abc"


def test_what_was_learned_before_something_was_forgotten_is_not_kept(filled: Bank) -> None:
    index = index_of(filled)
    mark = index.whole()[1]
    filled.forget(task_id="t1")
    assert not index.keep_learned("s", PARTS, mark)


def test_more_evidence_of_another_agent_leaves_it_as_it_is(filled: Bank) -> None:
    index = index_of(filled)
    mark = index.whole()[1]
    index.keep_learned("s", PARTS, mark)
    filled.add(Batch(executions=[skip("t1", 1.0, agent=OTHER_AGENT)]))
    assert index.whole()[1].revision == mark.revision
    assert index.learned("s", "lens", revision=index.revision()) == b"abc"


def test_freshness_tells_growth_from_removals_new_versions_and_other_panels(filled: Bank) -> None:
    asked = PairQuery(filled.agents()[0], suite=filled.suites()[0])
    mark = filled.mark(asked)
    assert filled.freshness(asked, mark) == "current"
    filled.add(Batch(executions=[skip("t1", 1.0, agent=OTHER_AGENT)], skills=[Skill("brand new", "one")]))
    assert filled.freshness(asked, mark) == "current", "another agent and another skill are none of this panel's"
    filled.add(Batch(executions=[skip("t1", 1.0, repetition=7)]))
    assert filled.freshness(asked, mark) == "outdated"
    mark = filled.mark(asked)
    filled.add(Batch(skills=[NEW_SKILL]))
    assert filled.freshness(asked, mark) == "invalid"
    mark = filled.mark(asked)
    filled.forget(task_id="t1")
    assert filled.freshness(asked, mark) == "invalid"


def test_other_code_takes_the_place_of_what_earlier_code_has_learned(filled: Bank) -> None:
    index = index_of(filled)
    for name in ("a 1.0", "b 1.0", "a 1.1"):
        assert index.keep_learned(name, PARTS, index.whole()[1])
    cached = [name for name in ("a 1.0", "b 1.0", "a 1.1") if index.learned(name, "lens", revision=index.revision())]
    assert cached == ["b 1.0", "a 1.1"]


def test_forgetting_anything_forgets_what_was_learned(filled: Bank) -> None:
    """It may hold words of the texts that are forgotten."""
    index = index_of(filled)
    index.keep_learned("s", PARTS, index.whole()[1])
    filled.forget(task_id="t1")
    assert filled.status().learned.states == 0


@pytest.mark.parametrize("damage", ["data = substr(data, 2)", "checksum = 7", "part = 'names' || part"])
def test_a_damaged_part_is_not_handed_out(filled: Bank, damage: str) -> None:
    index = index_of(filled)
    index.keep_learned("s", {"lens": b"abc"}, index.whole()[1])
    filled._cache.change(1, lambda connection: connection.exec_driver_sql(f"UPDATE learned_states SET {damage}"))
    assert index.learned("s", "lens", revision=index.revision()) is None
    assert index.learned("s", "nameslens", revision=index.revision()) is None
    assert index.keep_learned("s", {"lens": b"abc"}, index.whole()[1])
    assert index.learned("s", "lens", revision=index.revision()) == b"abc"


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
