"""The bundled bank as a first study: its executions, and three of its tasks asked as if they were new."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skilldelta.advisor import Advisor, Answer, Question
from skilldelta.bank.store import Bank
from skilldelta.demo.bundled import bundled_batch
from skilldelta.encoders import load_encoder
from skilldelta.predictor import predict_each
from skilldelta.support import Support


@dataclass(frozen=True, slots=True)
class AskedTask:
    """A recorded task, the advice without its own executions, and what really happened."""

    text: str
    advice: Answer
    y0: float
    y1: float


def add_demo(bank: Bank) -> Support:
    """Add the bundled executions; those that the bank has already stay as they are."""
    bank.add(bundled_batch())
    return bank.support(load_encoder(), agent=bank.resolve_agent(None))


def ask_three(bank: Bank, support: Support) -> list[AskedTask]:
    """Three tasks, chosen by their predictions alone: the highest, the one nearest to zero, the lowest."""
    advisor = Advisor(bank, load_encoder(), agent=bank.resolve_agent(None))
    gains = predict_each(support, "family").gains
    rows = (int(np.argmax(gains)), int(np.argmin(np.abs(gains))), int(np.argmin(gains)))
    return [
        AskedTask(
            support.texts[row],
            advisor.ask(
                Question(
                    support.texts[row], str(support.skills[row]), str(support.families[row]), str(support.task_ids[row])
                )
            ),
            float(support.y0[row]),
            float(support.y1[row]),
        )
        for row in rows
    ]
