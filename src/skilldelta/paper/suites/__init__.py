"""The paper's five benchmark suites, prepared from files that the user has into suite folders that `collect` runs."""

from __future__ import annotations

from importlib import import_module

from skilldelta.errors import unknown_name
from skilldelta.paper.suites.base import PaperSuite

# In the paper's order; each has a file of its name here.
NAMES = ("toolqa", "medcalc", "bigcodebench", "logicbench", "spreadsheetbench")

__all__ = ["NAMES", "PaperSuite", "find_suite", "paper_suites"]


def find_suite(name: str) -> PaperSuite:
    """The suite of a name; an unknown one is refused with the nearest.

    Examples:
        >>> find_suite("medcalc").counts.tasks
        1100
    """
    if name not in NAMES:
        raise unknown_name("benchmark", name, NAMES)
    suite = import_module(f"skilldelta.paper.suites.{name}").SUITE
    assert isinstance(suite, PaperSuite)
    return suite


def paper_suites() -> list[PaperSuite]:
    """All five, in the paper's order."""
    return [find_suite(name) for name in NAMES]
