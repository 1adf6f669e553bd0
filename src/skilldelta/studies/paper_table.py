"""A table of the paper for one's own agents: named columns, figures in rows, and how a panel's figures are taken.

Every table is figures first; JSON, Markdown and the terminal show the same ones. Intervals are the paper's, with scores and
actions fixed. A figure that a panel does not have is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from skilldelta.evaluation.results import PanelResult, PolicyResult, Range

Kind = Literal["text", "count", "percent", "points", "ratio", "span_points", "span_ratio", "wins"]
Cell = str | float | tuple[float | None, float | None] | None


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column's name, and how its figures are written."""

    name: str
    kind: Kind = "text"


@dataclass(frozen=True, slots=True)
class PaperTable:
    """One table: rows of figures under named columns."""

    key: str
    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


PANEL_COLUMNS = (TableColumn("agent"), TableColumn("suite"))
"""Who, and on what: the first columns of most tables."""


def panel_names(one: PanelResult) -> tuple[Cell, Cell]:
    """The first two cells of a panel's row."""
    return one.agent, one.suite


def figure_of(one: PanelResult, name: str, metric: str) -> float | None:
    """A policy's figure on a panel; None where the panel lacks the policy."""
    policy = one.policies.get(name)
    return None if policy is None else getattr(policy, metric)


def span_of(policy: PolicyResult, metric: str) -> Cell:
    """The paper's interval of a figure, with scores and actions fixed."""
    found = policy.conditional_intervals.get(metric, Range(None, None))
    return found.low, found.high
