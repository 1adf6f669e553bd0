"""Answer when nobody could be asked: the configured fallback, with the failure as its reason.

A routing failure is one of transport: the bank is locked, gone or damaged, the encoder's endpoint does not answer. A question
that nobody could answer is not one: it is an error wherever it is asked.
"""

from __future__ import annotations

from skilldelta.advisor.learned_states import NotLearnedYetError
from skilldelta.encoders import EncoderError
from skilldelta.endpoint import NoAnswerError
from skilldelta.errors import BankError
from skilldelta.gate import Action, Answer, Decision, Gate

ROUTING_FAILURES = (BankError, EncoderError, NoAnswerError, NotLearnedYetError)


def routing_failure(error: str, *, threshold: float = 0.0, fallback: Action = "skip") -> Decision:
    """The decision when the question could not be answered at all."""
    reason = f"routing failed ({error}); the configured fallback is {fallback}"
    return Decision(fallback, 0.0, threshold, reason, "routing that works again", is_fallback=True)


def fallback_advice(
    error: Exception,
    fallback: Action,
    gate: Gate,
    *,
    skill: str,
    family: str = "",
    agent: str = "",
    suite: str = "",
) -> Answer:
    """The fallback, without any evidence."""
    return Answer(
        decision=routing_failure(str(error), threshold=gate.threshold, fallback=fallback),
        agent=agent,
        skill=skill,
        suite=suite,
        family=family,
        estimator=gate.estimator,
        settings=gate.settings,
        scope="skill-family" if family else "skill",
    )
