"""A gate service in the caller's own process, asked with the documents that a server would be asked with."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skilldelta.bank.entries import RecordedOutcome
from skilldelta.encoders import Encoder
from skilldelta.serve.gate_question import GateQuestion
from skilldelta.serve.gate_service import GateService
from skilldelta.serve.policy_settings import policy_with


class OwnService:
    """One open bank for as long as the process lasts."""

    def __init__(self, bank: str | Path, encoder: Encoder | None = None) -> None:
        self._service = GateService.open(bank, encoder=encoder)

    def check_skill(self, skill: str) -> None:
        """Refuse a skill that the bank does not know: a misspelled name must not pass for one that never helps."""
        self._service.skill(skill)

    def check_policy(self, policy: Mapping[str, Any]) -> None:
        """Refuse settings that no question could be answered with, which would otherwise be the fallback for ever."""
        policy_with(policy, self._service.settings.policy)

    def decide(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer of `POST /v1/decide`."""
        policy = policy_with(question["policy"], self._service.settings.policy) if "policy" in question else None
        return self._service.decide(GateQuestion(**{**question, "policy": policy})).to_dict()

    def record(self, outcome: Mapping[str, Any]) -> None:
        """What `POST /v1/outcomes` does."""
        self._service.record_outcome(RecordedOutcome(**outcome, time=time.time()))
