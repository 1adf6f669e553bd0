"""A hook's questions answered in its own process, in the documents that the server would send.

What nobody could answer, such as a skill that the bank does not know, is in the decision log with the fallback: a hook has
no other place to say it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from skilldelta.advisor.failure import fallback_advice
from skilldelta.advisor.recording import decision_record
from skilldelta.bank.entries import RecordedOutcome
from skilldelta.errors import InputError
from skilldelta.gate import Action, Gate, Question
from skilldelta.records import Agent, Skill
from skilldelta.serve.gate_service import GateService, StillWanted
from skilldelta.serve.hooks.hook_run import OUTCOMES, NobodyWaitsError
from skilldelta.skill_folder import VERSION_FIELDS


def answer_from(
    service: GateService,
    path: str,
    document: Mapping[str, Any],
    *,
    fallback: Action = "skip",
    still_wanted: StillWanted = lambda: True,
) -> dict[str, Any]:
    """What the server answers at a path."""
    if path == OUTCOMES:
        logged = service.record_outcome(RecordedOutcome(time=time.time(), **document))
        return {"outcome_id": logged.id}
    names = document["skills"]
    questions = [_question(service, document, name) for name in names]
    try:
        choice = service.choose(questions, still_wanted).to_dict()
    except InputError as error:
        answers = [_unanswered(service, question, error, fallback) for question in questions]
        return {"choice": names[0] if fallback == "use" else None, "decisions": answers}
    if not still_wanted():
        raise NobodyWaitsError("whoever asked has gone")
    return choice


def _question(service: GateService, document: Mapping[str, Any], skill: str) -> Question:
    apart = ("skill", "skills", *VERSION_FIELDS.values(), "gate")
    fields = {name: value for name, value in document.items() if name not in apart}
    for name, of_skills in VERSION_FIELDS.items():
        values = document.get(of_skills, {})
        if skill in values:
            fields[name] = values[skill]
    gate = Gate.from_settings(document.get("gate", {}), service.settings.gate)
    return Question(skill=skill, gate=gate, **fields)


def _unanswered(service: GateService, question: Question, error: InputError, fallback: Action) -> dict[str, Any]:
    gate = question.gate or service.settings.gate
    agent = question.agent or ""
    advice = fallback_advice(error, fallback, gate, skill=question.skill, agent=agent, suite=question.suite)
    record = decision_record(
        advice,
        agent=Agent(agent),
        skill=Skill(question.skill),
        text=question.text,
        task_id=question.task_id,
        time=time.time(),
        keep=service.settings.keep,
        conversation=question.conversation,
        source=question.source,
    )
    decision_id = service.read(lambda bank: bank.record_decision(record)) if question.record else None
    return replace(advice, decision_id=decision_id, repeated=False).to_dict()
