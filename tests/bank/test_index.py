"""The in-memory index: lazy, fresh, exact, and never changed under a reader."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from skilldelta.bank.batch import Batch
from skilldelta.bank.index import Index
from skilldelta.bank.store import Bank
from skilldelta.records import Skill, Task
from skilldelta.support import Support

from .small import AGENT, NEW_SKILL, OTHER_AGENT, SKILL, TinyEncoder, skip, use

OTHER_SKILL = Skill.from_text("units", "Convert to SI units.")


def pair_of(task_id: str, family: str, skill: Skill = SKILL, y1: float = 1.0) -> Batch:
    """A new task with both arms."""
    task = Task(task_id, f"Question {task_id}?", family)
    return Batch([task], [skill], [skip(task_id, 0.0), use(task_id, y1, skill)])


def same(rows: Support, support: Support) -> bool:
    """Whether the index says exactly what the bank says, bit by bit."""
    arrays = ("task_ids", "families", "skills", "vectors", "y0", "y1", "r0", "r1", "gains")
    return rows.texts == support.texts and all(
        np.array_equal(getattr(rows, name), getattr(support, name)) for name in arrays
    )


@pytest.fixture
def index(filled: Bank) -> Index:
    return Index(filled, TinyEncoder(), AGENT)


def test_a_scope_is_the_banks_support_in_one_contiguous_matrix(filled: Bank, index: Index) -> None:
    for skill, family in ((None, None), ("dates", None), (None, "calendar"), ("dates", "travel")):
        rows = index.scope(skill=skill, family=family)
        assert same(rows, filled.support(TinyEncoder(), agent=AGENT, skill_id=skill, family=family))
        assert rows.vectors.dtype == np.float32
        assert rows.vectors.flags.c_contiguous


def test_an_unknown_scope_is_empty_and_as_wide_as_the_encoder(index: Index) -> None:
    rows = index.scope(skill="nothing")
    assert len(rows) == 0
    assert rows.vectors.shape == (0, 3)
    assert dict(rows.row_of_task) == {}


def test_a_scope_is_loaded_once_while_the_bank_stands_still(filled: Bank, index: Index) -> None:
    rows = index.scope(family="calendar")
    filled.vectors(TinyEncoder(), ["a question that is not a task"])
    assert index.scope(family="calendar") is rows


def test_a_grown_bank_is_noticed_and_only_new_texts_are_read(filled: Bank) -> None:
    encoder = TinyEncoder()
    index = Index(filled, encoder, AGENT)
    index.scope()
    encoder.encoded.clear()
    filled.add(pair_of("t4", "travel"))
    rows = index.scope()
    assert rows.task_ids.tolist() == ["t1", "t2", "t3", "t4"]
    assert encoder.encoded == ["Question t4?"]
    assert same(rows, filled.support(TinyEncoder(), agent=AGENT))


def test_new_repetitions_change_their_own_row_in_its_place(filled: Bank, index: Index) -> None:
    before = index.scope()
    filled.add(Batch(executions=[use("t1", 0.0, repetition=1)]))
    rows = index.scope()
    assert rows.gains.tolist() == [0.5, 0.0, -1.0]
    assert before.gains.tolist() == [1.0, 0.0, -1.0]
    assert same(rows, filled.support(TinyEncoder(), agent=AGENT))


def test_a_late_pair_of_an_early_task_takes_its_place_in_record_order(bank: Bank) -> None:
    tasks = [Task(f"t{i}", f"Question {i}?", "f") for i in range(4)]
    bank.add(Batch(tasks, [SKILL], [run for i in (0, 3) for run in (skip(f"t{i}", 0.0), use(f"t{i}", 1.0))]))
    index = Index(bank, TinyEncoder(), AGENT)
    assert index.scope().task_ids.tolist() == ["t0", "t3"]
    bank.add(Batch(executions=[skip("t1", 1.0), use("t1", 0.0)]))
    rows = index.scope()
    assert rows.task_ids.tolist() == ["t0", "t1", "t3"]
    assert {task: at.tolist() for task, at in rows.row_of_task.items()} == {"t0": [0], "t1": [1], "t3": [2]}
    assert same(rows, bank.support(TinyEncoder(), agent=AGENT))


def test_a_tasks_rows_are_found_under_every_skill(filled: Bank, index: Index) -> None:
    filled.add(Batch(skills=[OTHER_SKILL], executions=[use("t2", 1.0, OTHER_SKILL)]))
    rows = index.scope()
    assert rows.skills[rows.row_of_task["t2"]].tolist() == ["dates", "units"]


def test_a_shared_baseline_that_arrives_late_completes_the_pairs_of_every_skill(bank: Bank) -> None:
    task = Task("t1", "What?", "f")
    bank.add(Batch([task], [SKILL, OTHER_SKILL], [use("t1", 1.0), use("t1", 0.5, OTHER_SKILL)]))
    index = Index(bank, TinyEncoder(), AGENT)
    assert len(index.scope(skill="units")) == 0
    bank.add(Batch(executions=[skip("t1", 0.0)]))
    assert index.scope(skill="units").gains.tolist() == [0.5]
    assert index.scope(skill="dates").gains.tolist() == [1.0]


def test_other_agents_and_other_scopes_leave_the_rows_as_they_are(filled: Bank, index: Index) -> None:
    rows = index.scope(family="calendar")
    filled.add(pair_of("t4", "travel"))
    filled.add(Batch(executions=[use("t1", 0.0, agent=OTHER_AGENT)]))
    assert index.scope(family="calendar") is rows


def test_a_new_skill_version_empties_the_scope_of_the_old_one(filled: Bank, index: Index) -> None:
    assert len(index.scope(skill="dates")) == 3
    filled.add(Batch(skills=[NEW_SKILL]))
    assert len(index.scope(skill="dates")) == 0
    assert len(Index(filled, TinyEncoder(), AGENT, include_stale=True).scope(skill="dates")) == 3


def test_what_was_forgotten_leaves_the_index(filled: Bank, index: Index) -> None:
    index.scope()
    filled.forget(task_id="t2")
    filled.add(pair_of("t4", "travel"))
    rows = index.scope()
    assert rows.task_ids.tolist() == ["t1", "t3", "t4"]
    assert same(rows, filled.support(TinyEncoder(), agent=AGENT))


def test_what_another_process_committed_is_noticed(filled: Bank, index: Index, location: str) -> None:
    index.scope()
    with Bank.open(location) as other:
        other.add(pair_of("t4", "travel"))
    assert len(index.scope()) == 4


def test_rows_cannot_be_changed_by_their_readers(index: Index) -> None:
    rows = index.scope()
    for name in ("vectors", "gains", "y0", "y1"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(rows, name)[0] = 0


def test_many_small_growths_end_in_the_same_rows_as_one_reading(bank: Bank, rng: np.random.Generator) -> None:
    index = Index(bank, TinyEncoder(), AGENT)
    for number in rng.permutation(12):
        skill = (SKILL, OTHER_SKILL)[number % 2]
        bank.add(pair_of(f"t{number // 2}", "f", skill, y1=float(rng.integers(2))))
        index.scope()
        index.scope(skill="units")
    assert same(index.scope(), bank.support(TinyEncoder(), agent=AGENT))
    assert same(index.scope(skill="units"), bank.support(TinyEncoder(), agent=AGENT, skill_id="units"))


def test_readers_never_see_a_half_refreshed_scope(filled: Bank, index: Index) -> None:
    wrong: list[str] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            rows = index.scope()
            sizes = {len(rows.task_ids), len(rows.vectors), len(rows.gains), len(rows.texts), len(rows.r1)}
            if len(sizes) > 1 or any(rows.task_ids[at[0]] != task for task, at in rows.row_of_task.items()):
                wrong.append(f"rows of sizes {sizes}")

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(4, 16):
        filled.add(pair_of(f"t{number}", "travel"))
    done.set()
    for reader in readers:
        reader.join()
    assert wrong == []
    assert len(index.scope()) == 15


def test_scopes_that_were_not_asked_for_catch_up_with_everything_that_came_meanwhile(
    filled: Bank, index: Index
) -> None:
    """The changes of a panel are read once for all of its scopes."""
    names: list[tuple[str | None, str | None]] = [
        (None, None), ("dates", None), ("units", None), (None, "calendar"), ("dates", "travel")
    ]  # fmt: skip
    for skill_id, of_family in names:
        index.scope(skill=skill_id, family=of_family)
    for step in range(40):  # more than are remembered
        family, skill = ("calendar", "travel")[step % 2], (SKILL, OTHER_SKILL)[step // 2 % 2]
        filled.add(pair_of(f"more {step}", family, skill, y1=float(step % 3 == 0)))
        filled.add(
            Batch(executions=[use(f"more {step // 2}", 0.0, (SKILL, OTHER_SKILL)[step // 4 % 2], repetition=step + 1)])
        )
        for number, (skill_id, of_family) in enumerate(names):
            if step % (number + 1) == 0 or step == 39:
                support = filled.support(TinyEncoder(), agent=AGENT, skill_id=skill_id, family=of_family)
                assert same(index.scope(skill=skill_id, family=of_family), support)
    filled.add(Batch(skills=[NEW_SKILL], executions=[use("t1", 1.0, NEW_SKILL), skip("t1", 0.0, repetition=50)]))
    filled.forget(task_id="more 3")
    filled.add(pair_of("last", "calendar"))
    for skill_id, of_family in names:
        support = filled.support(TinyEncoder(), agent=AGENT, skill_id=skill_id, family=of_family)
        assert same(index.scope(skill=skill_id, family=of_family), support)
