"""One question answered from one bank, in one call. For many questions keep an `Advisor`, which loads the bank once."""

from __future__ import annotations

from pathlib import Path

from skilldelta.advisor.advice import Advice, Policy, Question
from skilldelta.advisor.advisor import Advisor
from skilldelta.bank.store import Bank
from skilldelta.encoders import Encoder
from skilldelta.records import Agent

DEFAULT_BANK = "skilldelta.bank"


def advise(
    text: str,
    skill: str,
    *,
    bank: str | Path | Bank = DEFAULT_BANK,
    agent: Agent | str | None = None,
    family: str = "",
    task_id: str = "",
    policy: Policy | None = None,
    encoder: Encoder | None = None,
) -> Advice:
    """Will this skill help on this task? `bank` is a path, a URL or an open bank; an unknown skill is refused."""
    if isinstance(bank, Bank):
        question = Question(text, bank.resolve_skill(skill).skill_id, family, task_id)
        return Advisor(bank, encoder, agent=agent, policy=policy).ask(question)
    with Bank.open(bank, create=False) as opened:
        return advise(
            text, skill, bank=opened, agent=agent, family=family, task_id=task_id, policy=policy, encoder=encoder
        )
