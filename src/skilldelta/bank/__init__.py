"""The bank: executions, skills, vectors and decisions in SQLite, or in PostgreSQL for a team.

Names are imported when they are first used, so that importing this package costs next to nothing. Python's own module
`__getattr__` does that in six lines; `lazy_loader` would need a stub file to give the same types.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skilldelta.bank.batch import Added, Batch, Known, TextVector
    from skilldelta.bank.entries import DecisionFilter, DecisionRecord, RecordedOutcome
    from skilldelta.bank.forget import Forgotten
    from skilldelta.bank.index import Index
    from skilldelta.bank.status import BankStatus, Panel
    from skilldelta.bank.store import Bank

__all__ = [
    "Added",
    "Bank",
    "BankStatus",
    "Batch",
    "DecisionFilter",
    "DecisionRecord",
    "Forgotten",
    "Index",
    "Known",
    "Panel",
    "RecordedOutcome",
    "TextVector",
]

_HOMES = {
    "batch": ("Added", "Batch", "Known", "TextVector"),
    "entries": ("DecisionFilter", "DecisionRecord", "RecordedOutcome"),
    "forget": ("Forgotten",),
    "index": ("Index",),
    "status": ("BankStatus", "Panel"),
    "store": ("Bank",),
}


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"skilldelta.bank.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
