"""From a question to the answer of a gate: names are completed from the bank, the text is encoded, the gate decides.

The command line, the server and every plugin ask an `Advisor`; none of them predicts by itself.
"""

from __future__ import annotations

from pathlib import Path

from skilldelta.advisor.advisor import Advisor
from skilldelta.bank.store import Bank
from skilldelta.encoders import Encoder
from skilldelta.gate import Answer, Explanation, Gate, Neighbor, Question
from skilldelta.records import Agent

__all__ = ["Advisor", "Answer", "Explanation", "Neighbor", "Question", "advise"]


def advise(
    text: str,
    skill: str,
    *,
    bank: str | Path | Bank = "skilldelta.bank",
    agent: Agent | str | None = None,
    family: str = "",
    task_id: str = "",
    gate: Gate | None = None,
    encoder: Encoder | None = None,
) -> Answer:
    """Will this skill help on this task? `bank` is a path, a URL or an open bank; an unknown skill is refused.

    For many questions keep an `Advisor`, which loads the bank once.
    """
    if isinstance(bank, Bank):
        question = Question(text, bank.resolve_skill(skill).skill_id, family, task_id)
        return Advisor(bank, encoder, agent=agent, gate=gate).ask(question)
    with Bank.open(bank, create=False) as opened:
        return advise(text, skill, bank=opened, agent=agent, family=family, task_id=task_id, gate=gate, encoder=encoder)
