"""The paper's tables beside its printed figures, in every format, and the counts of panels."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from skilldelta.evaluation.leave_one_out import evaluate_panels
from skilldelta.paper.beside_paper import beside_paper
from skilldelta.paper.paper_tables import panel_counts
from skilldelta.paper.printed_figures import COUNTS, MEANS, PROSPECTIVE, paper_agent, printed
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.paper.suites import NAMES
from skilldelta.paper.table import PaperTable, TableColumn, tables_csv, tables_latex, tables_markdown


def test_the_printed_figures_are_whole_and_agree_with_the_means_that_the_paper_prints() -> None:
    tables = {name: printed(name) for name in ("policies", "no_history", "intervals", "ridge", "estimators")}
    assert {name: len(rows) for name, rows in tables.items()} == dict.fromkeys(tables, 15)
    assert {suite for rows in tables.values() for _, suite in rows} == set(NAMES)
    policies = np.array(list(tables["policies"].values()))
    success, _, saved = MEANS["k = 6, cosine"]
    assert policies[:, 3].mean() == pytest.approx(success, abs=0.05)
    assert policies[:, 5].mean() == pytest.approx(saved, abs=0.05)
    assert int((policies[:, 3] > policies[:, 0]).sum()) == COUNTS["success_over_off"]
    assert int((policies[:, 3] < policies[:, 1]).sum()) == COUNTS["success_below_on"]
    clear = [figures[2] > 0 for figures in tables["intervals"].values()]
    assert sum(clear) == COUNTS["success_over_off_clearly"]
    assert all(len(figures) == 6 for figures in PROSPECTIVE.values())


def test_an_agent_of_the_paper_stands_beside_its_own_row_and_another_beside_the_mean() -> None:
    assert paper_agent("openai-api/provider/Qwen-Turbo-latest") == "qwen-turbo"
    assert paper_agent("my-model") is None
    columns = (TableColumn("agent"), TableColumn("suite"), TableColumn("off", "percent"))
    rows = (("qwen-turbo", "toolqa", 0.3), ("my-model", "toolqa", 0.2), ("my-model", "mine", 0.1))
    (table,) = beside_paper([PaperTable("policies", "Success", columns, rows)])
    assert [column.name for column in table.columns] == ["agent", "suite", "off", "off (paper)"]
    assert [row[3] for row in table.rows] == [
        pytest.approx(0.286),
        pytest.approx((28.6 + 38.7 + 25.5) / 300),
        None,
    ]
    assert "mean of its 3 agents" in table.note


def test_counts_and_inventory_have_the_papers_beside_them() -> None:
    inventory = PaperTable(
        "inventory", "Inventory", (TableColumn("suite"), TableColumn("tasks", "count")), (("medcalc", 6),)
    )
    counts = PaperTable("counts", "Counts", (TableColumn("what"), TableColumn("panels", "wins")), (("AUROC", "1/1"),))
    first, second = beside_paper([inventory, counts])
    assert first.rows == (("medcalc", 6, 1100.0),)
    assert second.rows == (("AUROC", "1/1", "12/15"),)


def test_panels_are_counted_jointly() -> None:
    rng = np.random.default_rng(5)
    supports = [replace(simulate_panel(rng, families=6, tasks=120).support, agent=name) for name in ("a", "b")]
    results = evaluate_panels(supports, rng=rng, policies=["paper", "with_skill_only"], resamples=40, shuffles=0).panels
    counts = panel_counts(results)
    assert list(counts) == list(COUNTS)
    assert counts["auroc_over_relevance"][1:] == (0, 0)  # no panel has a relevance score, so none is counted
    assert counts["auroc_over_both"][2] == 0
    ahead = [panel.policies["paper"].auroc > panel.policies["with_skill_only"].auroc for panel in results]  # type: ignore[operator]
    assert counts["auroc_over_with_skill_only"][1:] == (sum(ahead), 2)
    assert counts["success_over_random"][2] == 2


def test_a_table_is_the_same_in_markdown_csv_and_latex() -> None:
    columns = (
        TableColumn("agent_name"),
        TableColumn("success", "percent"),
        TableColumn("95%", "span_points"),
        TableColumn("panels", "wins"),
    )
    rows = (("a&b_50%", 0.5, (-0.01, 0.02), "1/2"), ("c", None, None, "0/2"))
    table = PaperTable("one_table", "A & B", columns, rows, "a note")
    assert "| a&b_50% | 50.0 | -1.0…2.0 | 1/2 |" in tables_markdown([table])
    latex = tables_latex([table])
    assert r"a\&b\_50\% & 50.0 & $-$1.0\ldots{}2.0 & 1/2 \\" in latex
    assert r"\label{tab:one-table}" in latex
    lines = list(csv.reader(io.StringIO(tables_csv([table])["one_table"])))
    assert lines == [
        ["agent_name", "success", "95% low", "95% high", "panels"],
        ["a&b_50%", "0.5", "-0.01", "0.02", "1/2"],
        ["c", "", "", "", "0/2"],
    ]


def named_rows(table: PaperTable) -> list[dict[str, object]]:
    return [dict(zip([column.name for column in table.columns], row, strict=True)) for row in table.rows]


def test_prospective_panels_stand_beside_the_papers_panel_that_knew_as_many_tasks() -> None:
    kinds = {"known": "count", "target": "count", "AUROC": "ratio", "success gain": "points", "tokens saved": "percent"}
    columns = (TableColumn("suite"), TableColumn("agent"), *(TableColumn(name, kind) for name, kind in kinds.items()))  # type: ignore[arg-type]
    panels = (("toolqa", 10), ("bigcodebench", 350), ("bigcodebench", 9), ("logicbench", 4))
    rows = tuple((suite, "mine", known, 5, 0.5, 0.1, 0.2) for suite, known in panels)
    (table,) = beside_paper([PaperTable("prospective", "Prospective panels", columns, rows)])
    toolqa, natural, unknown, logic = named_rows(table)
    assert (toolqa["known (paper)"], toolqa["AUROC (paper)"]) == (96, 0.753)
    assert natural["AUROC (paper)"] == 0.502
    assert natural["success gain (paper)"] == pytest.approx(0.07)
    assert natural["tokens saved (paper)"] == pytest.approx(0.3288)
    assert unknown["AUROC (paper)"] is None  # two panels of BigCodeBench, neither of which knew nine tasks
    assert logic["known (paper)"] is None


def test_what_the_paper_says_of_single_panels_stands_beside_them() -> None:
    structure = PaperTable(
        "structure",
        "Structure",
        (
            TableColumn("suite"),
            TableColumn("groups", "count"),
            TableColumn("median", "count"),
            TableColumn("edges", "count"),
        ),
        (("bigcodebench", 2, 3, 18), ("mine", 1, 1, 1)),
    )
    effects = PaperTable(
        "effects",
        "Effects",
        (TableColumn("agent"), TableColumn("suite"), TableColumn("help", "count"), TableColumn("harm", "count")),
        (("qwen-turbo", "toolqa", 1, 2), ("mine", "toolqa", 3, 4)),
    )
    means = PaperTable(
        "means", "Means", (TableColumn("policy"), TableColumn("success", "percent")), (("Always on", 0.5),)
    )
    suites = PaperTable(
        "suite_means",
        "Suites",
        (TableColumn("suite"), TableColumn("within", "points")),
        (("toolqa", 0.0), ("medcalc", 0.0)),
    )
    tables = [named_rows(table) for table in beside_paper([structure, effects, means, suites])]
    assert [(row["groups (paper)"], row["median (paper)"], row["edges (paper)"]) for row in tables[0]] == [
        (86, 3, 3140),
        (None, None, None),
    ]
    assert [(row["help (paper)"], row["harm (paper)"]) for row in tables[1]] == [(265, 35), (None, None)]
    assert tables[2][0]["success (paper)"] == pytest.approx(0.6404)
    assert [row["within (paper)"] for row in tables[3]] == [pytest.approx(0.0441), None]
