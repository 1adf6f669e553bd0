"""Decisions and judgements are kept beside the evidence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skilldelta.bank.store import Bank
from skilldelta.errors import InputError
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
