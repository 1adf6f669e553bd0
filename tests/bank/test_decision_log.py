"""Decisions and judgements are kept beside the evidence."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Any

import pytest

from skilldelta.bank.entries import DecisionFilter, Logged, RecordedOutcome
from skilldelta.bank.store import Bank
from skilldelta.errors import ConflictError, InputError, NotRecordedError
from skilldelta.records import Agent, Judgement

from .small import AGENT, DECISION, OTHER_AGENT, SKILL


def test_decisions_are_kept_newest_first_and_move_no_revision(filled: Bank) -> None:
    revision = filled.revision()
    assert [filled.record_decision(DECISION), filled.record_decision(replace(DECISION, action="skip"))] == [1, 2]
    newest, oldest = filled.decisions()
    assert newest == replace(DECISION, action="skip", decision_id=2)
    assert oldest == replace(DECISION, decision_id=1)
    assert filled.decisions(limit=1) == [newest]
    assert filled.revision() == revision


def test_judgements_are_kept_once_and_never_changed(filled: Bank) -> None:
    judgement = Judgement(AGENT, "default", "t1", "dates", SKILL.digest, use=True, tokens=12.0, answer="yes")
    assert filled.add_judgements([judgement]) == 1
    assert filled.add_judgements([judgement]) == 0
    assert filled.judgements(AGENT, "default") == [judgement]
    assert filled.judgements(OTHER_AGENT, "default") == []
    with pytest.raises(InputError, match="came again"):
        filled.add_judgements([replace(judgement, use=False)])
    assert filled.forget(skill_id="dates").judgements == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"agent": Agent("model-x")}, "unknown agent 'model-x'; did you mean model-a"),
        ({"skill_id": "date"}, "unknown skill 'date'; did you mean dates"),
        ({"task_id": "t"}, "unknown task 't'"),
    ],
)
def test_a_judgement_about_something_unknown_is_refused(filled: Bank, change: dict[str, object], words: str) -> None:
    judgement = Judgement(AGENT, "default", "t1", "dates", SKILL.digest, use=True)
    with pytest.raises(InputError) as error:
        filled.add_judgements([replace(judgement, **change)])  # type: ignore[arg-type]
    assert words in str(error.value)


ASKED = replace(DECISION, conversation="c1", source="a harness", text="What day is it?")


def test_a_conversation_gets_one_decision_per_skill(filled: Bank) -> None:
    first, again, other = filled.record_decisions([ASKED, replace(ASKED, action="skip"), replace(ASKED, skill_id="x")])
    assert (first.id, first.is_new, again.id, again.is_new, other.is_new) == (1, True, 1, False, True)
    assert filled.record_decisions([ASKED])[0].is_new is False
    assert filled.decision_in("c1", "dates") == replace(ASKED, decision_id=1)
    assert filled.decision_in("c2", "dates") is None
    assert filled.record_decision(DECISION) == 3  # no conversation: never a repetition
    assert filled.record_decision(DECISION) == 4
    assert filled.verify() == []


@pytest.mark.parametrize("number", [0, -1, 2**63, 10**20])
def test_a_number_that_no_decision_can_have_is_unknown(filled: Bank, number: int) -> None:
    assert filled.decision(number) is None
    with pytest.raises(InputError, match="the log has no decision"):
        filled.record_outcome(RecordedOutcome(number, 1.0, success=1.0))


def test_an_outcome_is_recorded_once_and_contradictions_are_refused(filled: Bank) -> None:
    decision_id = filled.record_decision(ASKED)
    outcome = RecordedOutcome(decision_id, 5.0, success=1, tokens=20, key="k1")
    assert filled.record_outcome(outcome).is_new is True
    assert filled.record_outcome(replace(outcome, time=9.0)).is_new is False
    with pytest.raises(ConflictError, match="has the key 'k1'"):
        filled.record_outcome(replace(outcome, success=0))
    with pytest.raises(NotRecordedError, match="no decision 99"):
        filled.record_outcome(replace(outcome, decision_id=99))
    without_key = replace(outcome, key="", success=0.5)
    kept = [filled.record_outcome(without_key).is_new for _ in range(2)]
    assert kept == [True, False]
    found = filled.decision(decision_id)
    assert found is not None
    assert [(one.success, one.tokens, one.time) for one in found.outcomes] == [(1.0, 20.0, 5.0), (0.5, 20.0, 5.0)]


def test_one_bad_outcome_does_not_keep_the_others_out(filled: Bank) -> None:
    decision_id = filled.record_decision(DECISION)
    good, bad = filled.record_outcomes(
        [RecordedOutcome(decision_id, 1.0, success=1), RecordedOutcome(77, 1.0, success=1)]
    )
    assert good == Logged(1, is_new=True)
    assert isinstance(bad, NotRecordedError)
    assert filled.status().outcomes == 1


@pytest.mark.parametrize("values", [{}, {"success": 1.5}, {"tokens": -1}, {"seconds": float("nan")}])
def test_an_outcome_that_says_nothing_or_nonsense_is_refused(values: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        RecordedOutcome(1, 1.0, **values)


def test_decisions_are_filtered_searched_and_paged(filled: Bank) -> None:
    filled.record_decisions(
        [
            replace(DECISION, text="100% of_it", source="a"),
            replace(DECISION, action="skip", skill_id="units", reason="no eligible support"),
            replace(DECISION, agent=OTHER_AGENT),
        ]
    )

    def ids(**chosen: Any) -> list[int]:
        return [found.decision_id for found in filled.decisions(None, DecisionFilter(**chosen))]

    assert ids(action="skip") == ids(skill_id="units") == ids(search="ELIGIBLE") == [2]
    assert ids(agent=OTHER_AGENT.name) == [3]
    assert ids(source="a") == ids(search="0% OF_") == [1]
    assert ids(search="%") == [1]  # a wildcard is a character like any other
    assert ids(before=3) == [2, 1]


def test_forgotten_decisions_take_their_outcomes_along_and_their_ids_are_not_given_again(filled: Bank) -> None:
    filled.record_decisions([replace(ASKED, time=10.0), replace(ASKED, time=20.0, conversation="c2")])
    filled.record_outcome(RecordedOutcome(1, 30.0, success=1))
    assert (filled.count_decisions(15.0), filled.count_decisions()) == (1, 2)
    assert filled.forget_decisions(before=15.0) == 1
    assert [found.decision_id for found in filled.decisions()] == [2]
    assert filled.forget_decisions() == 1
    assert filled.status().outcomes == 0
    assert filled.record_decision(ASKED) == 3
    assert filled.verify() == []


def test_the_database_itself_refuses_a_second_decision_of_a_conversation(sqlite_filled: Bank) -> None:
    sqlite_filled.record_decision(ASKED)
    sqlite_filled.record_decision(DECISION)
    insert = "INSERT INTO requests VALUES (2, 'dates', 'c1', '', NULL, 0)"
    with pytest.raises(sqlite3.IntegrityError):
        sqlite3.connect(sqlite_filled.location).execute(insert)


def test_decisions_that_need_not_be_durable_are_seen_at_once_and_settled_later(filled: Bank) -> None:
    (logged,) = filled.record_decisions([ASKED], durable=False)
    with Bank.open(filled._database._opened_at) as other:
        assert other.decision(logged.id) == replace(ASKED, decision_id=logged.id)
    filled.settle()
    assert filled.record_outcome(RecordedOutcome(logged.id, 1.0, success=1)).is_new
    assert filled.verify() == []


def test_only_what_is_durable_waits_for_the_disk(sqlite_filled: Bank) -> None:
    with sqlite_filled._database.write(durable=False) as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 1
    with sqlite_filled._database.write() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
