"""The paper's printed figures as columns beside one's own.

An agent of the paper stands beside its own row. Another agent stands beside the mean of the paper's three, since the figure
of one other model is no reference for it; its intervals have no mean and stay empty. Figures are comparable only under the
authors' protocol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from skilldelta.estimators.registry import policy_words
from skilldelta.paper.printed_figures import (
    AGENTS,
    ALWAYS_ON,
    BETWEEN,
    COUNTS,
    EFFECTS,
    MEANS,
    PROSPECTIVE,
    TOOLQA_WITHIN,
    WITHIN,
    paper_agent,
    printed,
)
from skilldelta.paper.suites import NAMES, find_suite
from skilldelta.paper.table import Cell, PaperTable, TableColumn

_NAME = policy_words("paper")
_JUDGE = policy_words("self_judge")
_ALWAYS_ON = policy_words("always_on")
# Where a column's figure stands among those that the paper prints for a panel.
_PLACES: Mapping[str, Mapping[str, int]] = {
    "policies": {"off": 0, "on": 1, _JUDGE: 2, _NAME: 3, f"{_JUDGE} saves": 4, f"{_NAME} saves": 5},
    "no_history": {"relevance": 0, "saves": 1, "self-judge uses": 2, "router tokens": 3, "accuracy gain": 4, "95%": 5},
    "intervals": {"AUROC 95%": 0, "gain 95%": 2},
    "ridge": {"tasks": 0, "on": 1, "Ridge": 2, "saves": 3, "Dual Ridge": 4, "dual saves": 5, "dual − on": 6, "95%": 7},
    "estimators": {"AUROC": 0, "success": 1, "saved": 2},
}
_PROSPECTIVE = ("known", "target", "AUROC", "balanced accuracy", "success gain", "tokens saved")
_PROSPECTIVE_SUITES = {"toolqa": "ToolQA", "medcalc": "MedCalc", "bigcodebench": "BigCode"}
_STRUCTURE = {
    **{name: name for name in ("groups", "singletons", "skills", "bundles", "edges")},
    "median": "median_group",
}
_EFFECTS = {"help": 0, "harm": 1}
_ESTIMATORS = {policy_words(name): name for name in ("paper", "tfidf_knn", "family_mean")}


def beside_paper(tables: Sequence[PaperTable]) -> list[PaperTable]:
    """The tables with a column of the paper's behind every column that it prints figures for."""
    return [_beside(table) for table in tables]


def _beside(table: PaperTable) -> PaperTable:
    names = [column.name for column in table.columns]
    rows = [dict(zip(names, row, strict=True)) for row in table.rows]
    columns: list[TableColumn] = []
    cells: list[list[Cell]] = [[] for _ in rows]
    for place, column in enumerate(table.columns):
        columns.append(column)
        figures = [_printed_figure(table.key, row, number, column) for number, row in enumerate(rows)]
        is_printed = any(figure is not None for figure in figures)
        if is_printed:
            columns.append(TableColumn(f"{column.name} (paper)", column.kind))
        for number, figure in enumerate(figures):
            cells[number] += [table.rows[number][place], *([figure] if is_printed else [])]
    note = "; ".join(part for part in (table.note, _reference_note(table, rows)) if part)
    return replace(table, columns=tuple(columns), rows=tuple(map(tuple, cells)), note=note)


def _reference_note(table: PaperTable, rows: Sequence[Mapping[str, Cell]]) -> str:
    others = [row for row in rows if table.key in _PLACES and paper_agent(str(row.get("agent", ""))) is None]
    if not others:
        return ""
    if table.key == "prospective":
        return ""
    if table.key == "estimators":
        return "the paper prints these for Qwen-Turbo"
    return f"the paper's column is the mean of its {len(AGENTS)} agents where the agent is none of them"


def _printed_figure(table: str, row: Mapping[str, Cell], number: int, column: TableColumn) -> Cell:
    """The paper's figure for a cell, as a fraction where the table has fractions; None where it prints none."""
    if column.name in _PLACES.get(table, {}):
        return _panel_figure(table, row, column)
    suite = str(row.get("suite"))
    if table == "inventory" and suite in NAMES and column.name in ("tasks", "skills"):
        return float(getattr(find_suite(suite).counts, column.name))
    if table == "counts" and column.name == "panels":
        return f"{list(COUNTS.values())[number]}/15"
    if table == "ablations" and row["rule"] in MEANS:
        places = {"success": 0, "over random": 1, "saved": 2}
        return MEANS[str(row["rule"])][places[column.name]] / 100 if column.name in places else None
    if table in ("structure", "suite_means", "effects", "prospective"):
        return _row_figure(table, row, column)
    if table == "means" and row["policy"] == _ALWAYS_ON and column.name == "success":
        return ALWAYS_ON / 100
    if table == "means" and row["policy"] == _NAME:
        success, advantage, saved = (figure / 100 for figure in MEANS["k = 6, cosine"])
        spans = {"within 95%": WITHIN, "between 95%": BETWEEN}
        if column.name in spans:
            return spans[column.name][1] / 100, spans[column.name][2] / 100
        figures = {"success": success, "saved": saved, "over random": advantage}
        return {**figures, "within": WITHIN[0] / 100, "between": BETWEEN[0] / 100}.get(column.name)
    return None


def _row_figure(table: str, row: Mapping[str, Cell], column: TableColumn) -> Cell:
    """A figure that the paper prints for single suites, agents or prospective panels."""
    suite = str(row["suite"])
    if table == "structure":
        counts = find_suite(suite).counts if suite in NAMES else None
        field = _STRUCTURE.get(column.name)
        number = getattr(counts, field) if counts and field else None
        return None if number is None else float(number)
    if table == "suite_means":
        return TOOLQA_WITHIN / 100 if (suite, column.name) == ("toolqa", "within") else None
    if table == "effects":
        pairs = EFFECTS.get((paper_agent(str(row["agent"])) or "", suite))
        return float(pairs[_EFFECTS[column.name]]) if pairs and column.name in _EFFECTS else None
    panel = _prospective_panel(suite, row["known"])
    place = list(_PROSPECTIVE).index(column.name) if column.name in _PROSPECTIVE else None
    if panel is None or place is None:
        return None
    return PROSPECTIVE[panel][place] * (0.01 if column.kind in ("percent", "points") else 1.0)


def _prospective_panel(suite: str, known: Cell) -> str | None:
    """The paper's panel of a suite; where it has several, the one that knew as many tasks."""
    panels = [name for name in PROSPECTIVE if name.partition(",")[0] == _PROSPECTIVE_SUITES.get(suite)]
    exact = [name for name in panels if PROSPECTIVE[name][0] == known]
    return exact[0] if exact else panels[0] if len(panels) == 1 else None


def _panel_figure(table: str, row: Mapping[str, Cell], column: TableColumn) -> Cell:
    figures, suite, place = printed(table), str(row["suite"]), _PLACES[table][column.name]
    scale = 0.01 if column.kind in ("percent", "points", "span_points") else 1.0
    if table == "estimators":
        estimator = _ESTIMATORS.get(str(row["estimator"]))
        known = figures.get((estimator, suite)) if estimator else None
        return None if known is None else scale * known[place]
    agent = paper_agent(str(row["agent"]))
    chosen = [figures[name, suite] for name in ([agent] if agent else AGENTS) if (name, suite) in figures]
    if not chosen:
        return None
    if column.kind.startswith("span"):
        return (scale * chosen[0][place], scale * chosen[0][place + 1]) if agent else None
    return scale * fmean(figure[place] for figure in chosen)
