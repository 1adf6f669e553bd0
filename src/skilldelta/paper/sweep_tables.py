"""The paper's ablations, sweeps and task–skill structure as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter

import numpy as np

from skilldelta.errors import InputError
from skilldelta.evaluation.leave_one_out import evaluate_panels
from skilldelta.evaluation.results import PanelResult
from skilldelta.evaluation.scored_policies import EvaluationPlan
from skilldelta.gate import Gate
from skilldelta.paper.table import PANEL_COLUMNS, Cell, PanelFigure, PaperTable, TableColumn, panel_table
from skilldelta.predictor import Settings
from skilldelta.studies.loaded_panel import LoadedPanel
from skilldelta.studies.threshold_studies import sweep_evidence, sweep_thresholds

ABLATIONS = {
    "k = 6, cosine": Settings(k=6, weighting="cosine"),
    "k = 3, cosine": Settings(k=3, weighting="cosine"),
    "k = 6, uniform": Settings(k=6, weighting="uniform"),
}


def _paper_gate(settings: Settings) -> Gate:
    return Gate.from_settings({"paper": True, "k": settings.k, "weighting": settings.weighting})


def ablation_table(panels: Sequence[LoadedPanel], seed: int) -> PaperTable:
    columns = (
        TableColumn("rule"),
        TableColumn("success", "percent"),
        TableColumn("over random", "points"),
        TableColumn("saved", "percent"),
        TableColumn("above random", "wins"),
    )
    supports = [panel.support for panel in panels]
    rows: list[tuple[Cell, ...]] = []
    for name, settings in ABLATIONS.items():
        evaluation = evaluate_panels(
            supports,
            rng=np.random.default_rng(seed),
            policies=["paper"],
            plan=EvaluationPlan(_paper_gate(settings)),
            resamples=0,
            shuffles=0,
        ).means
        rule = evaluation.policies["paper"]
        saved = rule.metrics.get("token_saving")
        rows.append(
            (
                name,
                rule.metrics["success"].value,
                rule.metrics["advantage_vs_random"].value,
                None if saved is None else saved.value,
                f"{rule.wins['advantage_vs_random']}/{evaluation.panels}",
            )
        )
    return PaperTable("ablations", "The rule in other settings, means over panels", columns, tuple(rows))


def threshold_table(panels: Sequence[LoadedPanel]) -> PaperTable:
    columns = (
        *PANEL_COLUMNS,
        TableColumn("policies", "count"),
        TableColumn("at 0", "percent"),
        TableColumn("saves", "percent"),
        TableColumn("best", "percent"),
        TableColumn("best saves", "percent"),
        TableColumn("its threshold", "ratio"),
    )

    def row(panel: LoadedPanel) -> tuple[Cell, ...]:
        swept = sweep_thresholds(panel, Gate.from_settings({"paper": True}))
        default, best = swept.point(swept.default), swept.point(swept.best)
        values = (default.success, default.token_saving, best.success, best.token_saving)
        cut = best.threshold if np.isfinite(best.threshold) else None
        return (panel.support.agent, panel.suite, len(swept), *values, cut)

    note = "best: the highest success in hindsight"
    return PaperTable("thresholds", "Success and tokens over thresholds", columns, tuple(map(row, panels)), note)


def evidence_table(panels: Sequence[LoadedPanel], seed: int) -> PaperTable:
    columns = (
        *PANEL_COLUMNS,
        TableColumn("over"),
        TableColumn("targets", "count"),
        TableColumn("from", "count"),
        TableColumn("error", "ratio"),
        TableColumn("to", "count"),
        TableColumn("error then", "ratio"),
    )
    rows = [row for panel in panels for row in _curve_rows(panel, seed)]
    return PaperTable("evidence", "Gain error over the amount of evidence", columns, tuple(rows))


def _curve_rows(panel: LoadedPanel, seed: int) -> Iterator[tuple[Cell, ...]]:
    try:
        curves = sweep_evidence(panel, at_least=2, seed=seed).curves
    except InputError:  # groups too small for any of the curves
        return
    for curve in curves:
        ends = (int(curve.amounts[0]), float(curve.mae[0]), int(curve.amounts[-1]), float(curve.mae[-1]))
        yield (panel.support.agent, panel.suite, curve.axis, curve.targets, *ends)


def structure_table(results: Sequence[PanelResult]) -> PaperTable:
    """Groups, bundles and coverage, once per suite: they are the tasks', whichever agents ran them."""
    structure = {
        "groups": "groups",
        "smallest": "smallest_group",
        "median": "median_group",
        "largest": "largest_group",
        "singletons": "singletons",
        "skills": "skills",
        "bundles": "bundles",
        "edges": "edges",
        "without support": "without_support",
    }
    columns = (TableColumn("suite"), *(TableColumn(name, "count") for name in structure))
    rows = [
        (result.suite, *(attrgetter(f"structure.{field}")(result) for field in structure.values()))
        for result in largest_by_suite(results)
    ]
    return PaperTable("structure", "Groups, bundles and coverage of each suite", columns, tuple(rows))


def inventory_table(results: Sequence[PanelResult]) -> PaperTable:
    """Tasks and skills of each suite, skills of a bundle counted one by one."""
    columns = (
        TableColumn("suite"),
        *(TableColumn(name, "count") for name in ("tasks", "skills", "groups", "agents")),
    )
    rows = []
    for result in largest_by_suite(results):
        skills = {name for skill in set(result.support.skills.tolist()) for name in str(skill).split("+") if name}
        agents = len({other.agent for other in results if other.suite == result.suite})
        rows.append((result.suite, result.tasks, len(skills), result.families, agents))
    return PaperTable("inventory", "Task and skill inventory", columns, tuple(rows))


def effects_table(results: Sequence[PanelResult]) -> PaperTable:
    """How often the skill helped, harmed, or changed nothing."""
    effects = {"help": "help", "harm": "harm", "tie": "tie", "both succeed": "both_succeed", "both fail": "both_fail"}
    figures = [PanelFigure(name, "count", _counted(field)) for name, field in effects.items()]
    return panel_table("effects", "Observed help and harm", figures, results)


def largest_by_suite(results: Sequence[PanelResult]) -> list[PanelResult]:
    """One panel of each suite, that with the most tasks: what it says of the tasks is the suite's."""
    largest: dict[str, PanelResult] = {}
    for result in results:
        if result.suite not in largest or result.tasks > largest[result.suite].tasks:
            largest[result.suite] = result
    return list(largest.values())


def _counted(effect: str) -> Callable[[PanelResult], int]:
    return lambda result: sum(getattr(family, effect) for family in result.counts)
