"""What goes in once, stays, and is never changed."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.bank.batch import Added, Batch, Known
from skilldelta.bank.store import Bank
from skilldelta.errors import InputError
from skilldelta.records import Agent, Skill, Task

from .small import AGENT, NEW_SKILL, OTHER_AGENT, SKILL, TASKS, THREE_PAIRS, skip, use, vector


def everything(bank: Bank) -> tuple[object, ...]:
    """All that a bank says, to compare before and after."""
    return (bank.tasks(), bank.skills(), bank.agents(), list(bank.executions()), bank.revision(), bank.status().vectors)


def test_a_batch_comes_back_as_it_went_in(bank: Bank) -> None:
    added = bank.add(THREE_PAIRS)
    assert added == Added(tasks=3, skills=1, agents=1, executions=6, vectors=0, unchanged=0)
    assert bank.tasks() == list(TASKS)
    assert bank.skills() == [SKILL]
    assert bank.agents() == [AGENT]
    assert bank.suites() == ["default"]
    assert list(bank.executions()) == list(THREE_PAIRS.executions)


def test_adding_the_same_batch_twice_adds_nothing_and_says_so(bank: Bank) -> None:
    batch = Batch(THREE_PAIRS.tasks, THREE_PAIRS.skills, THREE_PAIRS.executions, [vector("What day is it?", 1, 0, 0)])
    bank.add(batch)
    before = everything(bank)
    assert bank.add(batch) == Added(unchanged=3 + 1 + 6 + 1, known=Known(3, 1, 6, 1))
    assert everything(bank) == before


def test_a_batch_that_repeats_itself_counts_the_repeats_as_unchanged(bank: Bank) -> None:
    added = bank.add(Batch(tasks=[TASKS[0], TASKS[0]], executions=[skip("t1", 1.0), skip("t1", 1.0)]))
    assert (added.tasks, added.executions, added.unchanged) == (1, 1, 2)


def test_the_same_key_with_another_outcome_is_refused_with_both_values_and_the_bank_is_unchanged(filled: Bank) -> None:
    before = everything(filled)
    batch = Batch(tasks=[Task("t9", "New?", "travel")], executions=[skip("t9", 1.0), use("t1", 0.25, tokens=7.0)])
    with pytest.raises(InputError) as error:
        filled.add(batch)
    message = str(error.value)
    assert "\n" not in message
    for part in ("'model-a'", "'default'", "'t1'", "'use'", "'dates'", "repetition 0", "success 1", "success 0.25"):
        assert part in message
    assert "another agent or suite name" in message
    assert everything(filled) == before


def test_two_outcomes_for_one_key_within_a_batch_are_refused(bank: Bank) -> None:
    with pytest.raises(InputError, match="came again"):
        bank.add(Batch(tasks=TASKS, executions=[skip("t1", 1.0), skip("t1", 0.0)]))
    assert bank.tasks() == []


@pytest.mark.parametrize(
    "differing",
    [
        use("t1", 0.0, agent=OTHER_AGENT),
        use("t1", 0.0, agent=Agent("model-a", "other settings")),
        use("t1", 0.0, skill=NEW_SKILL),
        use("t1", 0.0, repetition=1),
        skip("t1", 1.0, skill_id="dates", skill_digest=SKILL.digest),
    ],
)
def test_every_part_of_the_key_tells_executions_apart(filled: Bank, differing: object) -> None:
    assert filled.add(Batch(executions=[differing])).executions == 1  # type: ignore[list-item]


def test_a_failed_attempt_does_not_use_up_its_repetition(bank: Bank) -> None:
    failed = skip("t1", None, status="transport_error")
    bank.add(Batch(tasks=TASKS, executions=[failed]))
    assert bank.add(Batch(executions=[skip("t1", 1.0)])).executions == 1
    assert bank.add(Batch(executions=[failed, skip("t1", 1.0)])).unchanged == 2
    assert list(bank.executions()) == [failed, skip("t1", 1.0)]
    with pytest.raises(InputError, match="came again"):
        bank.add(Batch(executions=[skip("t1", 0.0)]))


def test_the_success_of_an_execution_that_was_not_completed_is_no_observation(bank: Bank) -> None:
    bank.add(Batch(tasks=TASKS, executions=[skip("t1", 0.0, status="incomplete")]))
    (stored,) = bank.executions()
    assert stored.success is None


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (Task("t1", "Another question?", "calendar"), ["text", "'What day is it?'", "'Another question?'"]),
        (Task("t1", "What day is it?", "travel"), ["family", "'calendar'", "'travel'"]),
    ],
)
def test_a_known_task_with_another_text_or_family_is_refused(filled: Bank, task: Task, words: list[str]) -> None:
    before = everything(filled)
    with pytest.raises(InputError) as error:
        filled.add(Batch(tasks=[task]))
    assert all(word in str(error.value) for word in [*words, "another suite name"])
    assert everything(filled) == before


def test_a_known_task_that_comes_without_its_family_is_unchanged(filled: Bank) -> None:
    assert filled.add(Batch(tasks=[Task("t1", "What day is it?")])).unchanged == 1


def test_a_later_batch_fills_in_a_family_and_words_that_were_missing_and_says_so(bank: Bank) -> None:
    run = skip("t1", 1.0)
    bank.add(Batch(tasks=[Task("t1", "t1")], executions=[run]))
    before = bank.panel_revision(run.agent, run.suite)
    added = bank.add(Batch(tasks=[Task("t1", "Sum the rows.", family="sums")], executions=[run]))

    assert list(bank.tasks()) == [Task("t1", "Sum the rows.", family="sums")]
    assert added.notes == ("1 task got the family or the words that the bank had not",)
    assert bank.panel_revision(run.agent, run.suite) != before
    assert bank.add(Batch(tasks=[Task("t1", "t1")])).notes == ()
    assert list(bank.tasks()) == [Task("t1", "Sum the rows.", family="sums")]


def test_one_task_id_may_name_two_tasks_in_two_suites(filled: Bank) -> None:
    filled.add(Batch(tasks=[Task("t1", "Elsewhere?", "x", "other")]))
    assert filled.suites() == ["default", "other"]
    assert [task.text for task in filled.tasks("other")] == ["Elsewhere?"]


def test_an_execution_of_an_unknown_task_is_refused(filled: Bank) -> None:
    with pytest.raises(InputError, match=r"'t7'.*give the task too"):
        filled.add(Batch(executions=[skip("t7", 1.0)]))


def test_a_skill_digest_that_contradicts_its_text_is_refused(bank: Bank) -> None:
    with pytest.raises(InputError, match=r"'dates' has digest 'abc' but the SHA-256"):
        bank.add(Batch(skills=[Skill("dates", "text", "abc")]))


def test_a_skill_text_without_a_digest_gets_its_own(bank: Bank) -> None:
    bank.add(Batch(skills=[Skill("dates", SKILL.text)]))
    assert bank.skills() == [SKILL]


def test_a_version_known_by_digest_alone_takes_its_text_when_that_arrives(bank: Bank) -> None:
    bank.add(Batch(tasks=TASKS, executions=[use("t1", 1.0)]))
    assert bank.skills() == [Skill("dates", "", SKILL.digest)]
    assert bank.add(Batch(skills=[SKILL])).skills == 1
    assert bank.skills() == [SKILL]


@pytest.mark.parametrize(
    ("execution", "words"),
    [
        (skip("t1", 1.5), "success must lie in [0, 1], got 1.5"),
        (skip("t1", -0.1), "got -0.1"),
        (skip("t1", float("nan")), "got nan"),
        (skip("t1", 1.0, tokens=float("nan")), "tokens must be a finite number"),
        (skip("t1", 1.0, seconds=float("inf")), "seconds must be a finite number"),
        (skip("t1", 1.0, cost_usd=-1.0), "cost_usd must be a finite number"),
        (skip("t1", 1.0, repetition=-1), "repetition must be a whole number from 0, got -1"),
        (skip("t1", 1.0, status="done"), "status must be one of completed"),
        (use("t1", 1.0, skill=Skill("")), "must name the skill"),
    ],
)
def test_a_value_that_no_execution_can_have_is_refused(bank: Bank, execution: object, words: str) -> None:
    with pytest.raises(InputError) as error:
        bank.add(Batch(tasks=TASKS, executions=[execution]))  # type: ignore[list-item]
    assert words in str(error.value)
    assert bank.tasks() == []


@pytest.mark.parametrize("task", [Task("", "Who?"), Task("t1", ""), Task("t1", "  \n"), Task("t1", "a \ud800 b")])
def test_a_task_without_an_id_or_a_text_that_can_be_stored_is_refused(bank: Bank, task: Task) -> None:
    with pytest.raises(InputError):
        bank.add(Batch(tasks=[task]))
    assert bank.revision() == 0


@pytest.mark.parametrize(
    ("vectors", "words"),
    [
        ([vector("a", 0, 0, 0)], "is zero and has no direction"),
        ([vector("a", 1, float("nan"), 0)], "not finite"),
        ([vector("a", 1, 0, 0), vector("b", 1, 0)], "unequal dimensions"),
        ([vector("a", 1, 0, 0), vector("a", 0, 1, 0)], "a different one came"),
    ],
)
def test_vectors_without_a_direction_or_of_unequal_dimensions_are_refused(
    bank: Bank, vectors: list[object], words: str
) -> None:
    with pytest.raises(InputError) as error:
        bank.add(Batch(vectors=vectors))  # type: ignore[arg-type]
    assert words in str(error.value)
    assert bank.status().vectors == {}


def test_vectors_of_another_dimension_under_one_identity_are_refused(bank: Bank) -> None:
    bank.add(Batch(vectors=[vector("a", 1, 0, 0)]))
    with pytest.raises(InputError, match=r"'tiny/3' has vectors of dimension 3 and one of 2 came"):
        bank.add(Batch(vectors=[vector("b", 1, 0)]))
    with pytest.raises(InputError, match="a different one came"):
        bank.add(Batch(vectors=[vector("a", 0, 1, 0)]))
    assert bank.add(Batch(vectors=[vector("a", 0, 1, encoder="other/2")])).vectors == 1


def test_vectors_are_stored_at_length_one(bank: Bank) -> None:
    bank.add(Batch(vectors=[vector("a", 3, 0, 4)]))
    with bank._database.read() as connection:
        blob = connection.exec_driver_sql("SELECT vector FROM vectors").scalar_one()
    assert np.frombuffer(blob, np.float32).tolist() == pytest.approx([0.6, 0.0, 0.8])
    assert bank.verify() == []


def test_more_vectors_than_one_piece_with_repeats_are_stored_once(bank: Bank, rng: np.random.Generator) -> None:
    rows = rng.standard_normal((5000, 3))
    given = [vector(str(i), *row) for i, row in enumerate(rows)]
    added = bank.add(Batch(vectors=[*given, given[0], given[4999]]))
    assert (added.vectors, added.unchanged) == (5000, 2)
