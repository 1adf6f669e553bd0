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
    """Predict whether a skill will help on a task, and decide.

    For many questions keep an `Advisor`, which loads the bank once.

    Parameters:
        text: The task as the agent will see it.
        skill: The skill on offer, by its name in the bank.
        bank: A path, a URL or an open bank.
        agent: Whose evidence counts; None is the default agent of the bank, or its only one.
        family: The group of the task; empty is unknown.
        task_id: The record of this task, where the bank has one, is left out of its own evidence.
        gate: How to decide; None is the default gate.
        encoder: Turns task texts into vectors; None is the bundled one.

    Returns:
        The decision and everything that it rests on.

    Raises:
        InputError: The bank does not exist, or does not know the skill or the agent.

    Examples:
        >>> advise("convert four miles to feet", "units-skill", bank=bank).decision.action
        'use'
    """
    if isinstance(bank, Bank):
        question = Question(text, bank.resolve_skill(skill).skill_id, family, task_id)
        return Advisor(bank, encoder, agent=agent, gate=gate).ask(question)
    with Bank.open(bank, create=False) as opened:
        return advise(text, skill, bank=opened, agent=agent, family=family, task_id=task_id, gate=gate, encoder=encoder)
