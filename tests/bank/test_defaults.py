"""Where no agent or suite is named, the bank knows which is meant; another one never leaves a question unanswered."""

from __future__ import annotations

import pytest

from skilldelta.bank.batch import Batch
from skilldelta.bank.store import Bank
from skilldelta.errors import InputError
from skilldelta.records import Agent, Task

from .small import AGENT, OTHER_AGENT, THREE_PAIRS, skip, use

IN_OTHER_SUITE = Batch(
    [Task("t1", "What day is it?", "calendar", "other")],
    executions=[skip("t1", 0.0, suite="other"), use("t1", 1.0, suite="other")],
)


def test_the_first_agent_and_suite_are_meant(filled: Bank) -> None:
    assert (filled.defaults().agent, filled.defaults().suite) == (AGENT, "default")
    filled.add(Batch(executions=[skip("t1", 1.0, agent=OTHER_AGENT)]))
    filled.add(IN_OTHER_SUITE)
    assert filled.resolve_agent(None) == AGENT
    assert filled.resolve_suite(AGENT, skill_id="dates") == "default"
    assert filled.resolve_suite(OTHER_AGENT, skill_id="dates") == "default"


def test_another_agent_or_suite_can_be_chosen(filled: Bank, location: str) -> None:
    filled.add(Batch(executions=[skip("t1", 1.0, agent=OTHER_AGENT)]))
    filled.add(IN_OTHER_SUITE)
    revision = filled.revision()
    filled.use(agent=OTHER_AGENT)
    filled.use(suite="other")
    assert filled.revision() > revision
    with Bank.open(location) as bank:
        assert bank.resolve_agent(None) == OTHER_AGENT
        assert bank.resolve_agent("model-a") == AGENT
        assert bank.resolve_suite(AGENT, skill_id="dates") == "other"
        assert bank.resolve_suite(AGENT, skill_id="dates", task_id="t2") == "default"
        assert bank.verify() == []


def test_what_is_forgotten_is_no_longer_meant(filled: Bank) -> None:
    filled.add(Batch(executions=[skip("t1", 1.0, agent=OTHER_AGENT)]))
    filled.use(agent=OTHER_AGENT)
    filled.forget(agent=OTHER_AGENT)
    assert filled.resolve_agent(None) == AGENT


def test_only_what_the_bank_has_can_be_chosen(filled: Bank) -> None:
    with pytest.raises(InputError, match="unknown agent 'nobody'"):
        filled.use(agent=Agent("nobody"))
    with pytest.raises(InputError, match="unknown suite 'defualt'; did you mean default"):
        filled.use(suite="defualt")
    assert filled.defaults().agent == AGENT


def test_a_bank_without_evidence_has_no_default(bank: Bank) -> None:
    assert (bank.defaults().agent, bank.defaults().suite) == (None, None)
    with pytest.raises(InputError, match="has no agent yet"):
        bank.resolve_agent(None)


def test_an_addition_says_that_decisions_stay_with_the_first_agent(bank: Bank) -> None:
    assert bank.add(THREE_PAIRS).notes == ()
    (note,) = bank.add(Batch(executions=[skip("t1", 1.0, agent=OTHER_AGENT)])).notes
    assert note.startswith("the bank has 2 agents now; decisions that name none stay with model-a, unless")
    assert bank.add(Batch(executions=[skip("t2", 1.0, agent=OTHER_AGENT)])).notes == ()


def test_an_addition_says_which_decisions_it_changes(bank: Bank) -> None:
    bank.add(Batch([Task("u1", "How many?", "units", "first")], executions=[skip("u1", 1.0, suite="first")]))
    bank.add(THREE_PAIRS)
    assert bank.resolve_suite(AGENT, skill_id="dates") == "default"
    task = Task("u2", "What date?", "calendar", "first")
    added = bank.add(Batch([task], executions=[skip("u2", 0.0, suite="first"), use("u2", 1.0, suite="first")]))
    assert bank.resolve_suite(AGENT, skill_id="dates") == "first"
    assert added.notes == (
        "decisions about dates that name no suite are made from suite first now, and were made from default; "
        "go back with: skilldelta bank use --suite default",
    )
