"""The paper's tables for one's own agents: what each policy bought, how it chose, means over panels, and all the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter
from statistics import fmean

from skilldelta.estimators.registry import policy_words
from skilldelta.evaluation.results import Means, PanelResult, PolicyMeans
from skilldelta.nouns import plural
from skilldelta.paper.sweep_tables import (
    ablation_table,
    effects_table,
    evidence_table,
    inventory_table,
    structure_table,
    threshold_table,
)
from skilldelta.paper.table import (
    PANEL_COLUMNS,
    Cell,
    PanelFigure,
    PaperTable,
    TableColumn,
    figure_of,
    panel_table,
    span_of,
)
from skilldelta.studies.evaluation_study import Evaluated
from skilldelta.studies.loaded_panel import LoadedPanel


def paper_tables(
    evaluated: Evaluated, *, every_run: Sequence[LoadedPanel] = (), outcomes_note: str = "", ridge_note: str = ""
) -> list[PaperTable]:
    """All tables of a study, in the paper's order; `tables_markdown` writes them.

    Parameters:
        evaluated: What the tables count.
        every_run: The panels with all runs, for the evidence curves, where the tables count only the first ones.
        outcomes_note: What the tables count, where that is not every run.
        ridge_note: Which vectors Ridge has, where they are not those of the other tables.

    Examples:
        >>> [table.key for table in paper_tables(evaluated)][:4]
        ['inventory', 'policies', 'ranking', 'intervals']
    """
    results, panels = evaluated.results, [panel.panel for panel in evaluated.panels]
    tables = [
        inventory_table(results),
        _policies(results),
        _ranking(results),
        _intervals(results),
        _means(evaluated.means),
        _suite_means(results),
        _counts(results),
        _no_history(results),
        _estimators(results),
        _ridge(results),
        ablation_table(panels, evaluated.settings.seed),
        threshold_table(panels),
        evidence_table(every_run or panels, evaluated.settings.seed),
        structure_table(results),
        effects_table(results),
    ]
    notes = {
        **dict.fromkeys(_OF_OUTCOMES, outcomes_note),
        "ridge": "; ".join(filter(None, (outcomes_note, ridge_note))),
    }
    return [_noted(table, notes.get(table.key, "")) for table in tables]


# Tables whose figures change with the runs that count.
_OF_OUTCOMES = (
    *("policies", "ranking", "intervals", "means", "suite_means", "counts", "no_history", "estimators"),
    *("ablations", "thresholds", "effects"),
)


def _noted(table: PaperTable, note: str) -> PaperTable:
    return replace(table, note="; ".join(filter(None, (table.note, note))))


def _policies(results: Sequence[PanelResult]) -> PaperTable:
    names = ("self_judge", "paper", "blend")
    figures = [
        PanelFigure("tasks", "count", attrgetter("tasks")),
        PanelFigure("off", "percent", attrgetter("off")),
        PanelFigure("on", "percent", attrgetter("on")),
        *(PanelFigure(policy_words(name), "percent", figure_of(name, "success")) for name in names),
        *(PanelFigure(f"{policy_words(name)} saves", "percent", figure_of(name, "token_saving")) for name in names),
    ]
    title = "Task success, and tokens saved against always on"
    return panel_table("policies", title, figures, results, "self-judge pays its call")


def _ranking(results: Sequence[PanelResult]) -> PaperTable:
    names = ("paper", "with_skill_only", "relevance", "self_judge", "blend")
    figures = [PanelFigure(policy_words(name), "ratio", figure_of(name, "auroc")) for name in names]
    return panel_table("ranking", "AUROC of positive against other observed gains", figures, results)


def _intervals(results: Sequence[PanelResult]) -> PaperTable:
    figures = [PanelFigure("AUROC 95%", "span_ratio", span_of("paper", "auroc"))]
    for name, interval, metric in (
        ("gain over off", "gain 95%", "success_gain"),
        ("over random", "over random 95%", "advantage_vs_random"),
        ("within groups", "within 95%", "within_group"),
        ("between groups", "between 95%", "between_group"),
    ):
        figures.append(PanelFigure(name, "points", figure_of("paper", metric)))
        figures.append(PanelFigure(interval, "span_points", span_of("paper", metric)))
    title = "The paper's rule: main figures with 95% intervals"
    return panel_table("intervals", title, figures, results, "points of success")


def _means(means: Means) -> PaperTable:
    columns = (
        TableColumn("policy"),
        TableColumn("success", "percent"),
        TableColumn("saved", "percent"),
        TableColumn("over random", "points"),
        TableColumn("95%", "span_points"),
        TableColumn("within", "points"),
        TableColumn("within 95%", "span_points"),
        TableColumn("between", "points"),
        TableColumn("between 95%", "span_points"),
        *(TableColumn(name, "wins") for name in ("above off", "above on", "above random")),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, policy in means.policies.items():

        def value(metric: str, policy: PolicyMeans = policy) -> float | None:
            return policy.metrics[metric].value if metric in policy.metrics else None

        def span(metric: str, policy: PolicyMeans = policy) -> Cell:
            interval = policy.metrics[metric].conditional
            return interval.low, interval.high

        wins = [policy.wins[key] for key in ("success_gain", "success_vs_always_on", "advantage_vs_random")]
        rows.append(
            (
                policy_words(name),
                value("success"),
                value("token_saving"),
                *(
                    cell
                    for metric in ("advantage_vs_random", "within_group", "between_group")
                    for cell in (value(metric), span(metric))
                ),
                *(f"{count}/{means.panels}" for count in wins),
            )
        )
    return PaperTable("means", f"Means over {plural(means.panels, 'panel')} of equal weight", columns, tuple(rows))


def _suite_means(results: Sequence[PanelResult]) -> PaperTable:
    """The paper's rule on each suite, averaged over its agents."""
    metrics = {
        "success": "percent",
        "token_saving": "percent",
        "advantage_vs_random": "points",
        "within_group": "points",
        "between_group": "points",
    }
    names = ("success", "saved", "over random", "within", "between")
    columns = (
        TableColumn("suite"),
        TableColumn("agents", "count"),
        *(TableColumn(name, kind) for name, kind in zip(names, metrics.values(), strict=True)),  # type: ignore[arg-type]
    )
    rows: list[tuple[Cell, ...]] = []
    for suite in dict.fromkeys(result.suite for result in results):
        panels = [result for result in results if result.suite == suite and "paper" in result.policies]
        figures = [[figure_of("paper", metric)(panel) for panel in panels] for metric in metrics]
        present = [[value for value in values if value is not None] for values in figures]
        rows.append((suite, len(panels), *(fmean(values) if values else None for values in present)))
    return PaperTable("suite_means", "The paper's rule on each suite, averaged over agents", columns, tuple(rows))


def panel_counts(results: Sequence[PanelResult]) -> dict[str, tuple[str, int, int]]:
    """In how many panels the paper's rule is ahead: by key, what is counted, the number, and of how many panels."""

    def auroc_above(*others: str) -> Callable[[PanelResult], bool | None]:
        def compare(result: PanelResult) -> bool | None:
            own, theirs = figure_of("paper", "auroc")(result), [figure_of(name, "auroc")(result) for name in others]
            present = [value for value in theirs if value is not None]
            return None if own is None or len(present) < len(others) else all(own > value for value in present)

        return compare

    def above_zero(metric: str) -> Callable[[PanelResult], bool | None]:
        def compare(result: PanelResult) -> bool | None:
            value = figure_of("paper", metric)(result)
            return None if value is None else value > 0

        return compare

    def clearly_above_off(result: PanelResult) -> bool | None:
        interval = (
            result.policies["paper"].conditional_intervals.get("success_gain") if "paper" in result.policies else None
        )
        return None if interval is None or interval.low is None else interval.low > 0

    def below_on(result: PanelResult) -> bool | None:
        success = figure_of("paper", "success")(result)
        return None if success is None else success < result.on

    questions: dict[str, tuple[str, Callable[[PanelResult], bool | None]]] = {
        "auroc_over_relevance": ("AUROC above the relevance score's", auroc_above("relevance")),
        "auroc_over_with_skill_only": ("AUROC above with-skill-only's", auroc_above("with_skill_only")),
        "auroc_over_both": ("AUROC above both", auroc_above("relevance", "with_skill_only")),
        "auroc_over_self_judge": ("AUROC above self-judge's", auroc_above("self_judge")),
        "success_over_off": ("success above always off", above_zero("success_gain")),
        "success_over_off_clearly": ("its interval above zero", clearly_above_off),
        "success_over_random": ("success above random use at the same rate", above_zero("advantage_vs_random")),
        "saves_tokens": ("tokens saved against always on", above_zero("token_saving")),
        "success_below_on": ("success below always on", below_on),
    }
    counts = {}
    for key, (words, question) in questions.items():
        answers = [answer for result in results if (answer := question(result)) is not None]
        counts[key] = (words, sum(answers), len(answers))
    return counts


def _counts(results: Sequence[PanelResult]) -> PaperTable:
    columns = (TableColumn("the paper's rule has"), TableColumn("panels", "wins"))
    rows = [(words, f"{count}/{panels}") for words, count, panels in panel_counts(results).values()]
    return PaperTable("counts", "Panels in which the paper's rule is ahead", columns, tuple(rows))


def _no_history(results: Sequence[PanelResult]) -> PaperTable:
    figures = [
        PanelFigure("relevance", "percent", figure_of("relevance", "success")),
        PanelFigure("saves", "percent", figure_of("relevance", "token_saving")),
        PanelFigure("self-judge uses", "percent", figure_of("self_judge", "use_rate")),
        PanelFigure("router tokens", "count", figure_of("self_judge", "router_tokens")),
        PanelFigure("accuracy gain", "points", _accuracy_gain),
        PanelFigure("95%", "span_points", span_of("paper", "balanced_accuracy_vs_self_judge")),
    ]
    note = "accuracy gain: the balanced accuracy of the paper's rule minus self-judge's"
    return panel_table("no_history", "Controls without history", figures, results, note)


def _accuracy_gain(panel: PanelResult) -> float | None:
    rule, judge = (figure_of(name, "balanced_accuracy")(panel) for name in ("paper", "self_judge"))
    return None if rule is None or judge is None else rule - judge


def _estimators(results: Sequence[PanelResult]) -> PaperTable:
    names = ("paper", "tfidf_knn", "family_mean", "with_skill_only", "blend")
    columns = (
        *PANEL_COLUMNS,
        TableColumn("estimator"),
        TableColumn("AUROC", "ratio"),
        TableColumn("success", "percent"),
        TableColumn("saved", "percent"),
    )
    rows = [
        (
            result.agent,
            result.suite,
            policy_words(name),
            *(figure_of(name, metric)(result) for metric in ("auroc", "success", "token_saving")),
        )
        for result in results
        for name in names
        if name in result.policies
    ]
    return PaperTable("estimators", "Estimators on the same paired history", columns, tuple(rows))


def _ridge(results: Sequence[PanelResult]) -> PaperTable:
    dual = "dual_ridge"
    figures = [
        PanelFigure("tasks", "count", lambda panel: len(panel.policies[dual].rows) if dual in panel.policies else None),
        PanelFigure("on", "percent", figure_of(dual, "always_on")),
        PanelFigure("Ridge", "percent", figure_of("ridge", "success")),
        PanelFigure("saves", "percent", figure_of("ridge", "token_saving")),
        PanelFigure("Dual Ridge", "percent", figure_of(dual, "success")),
        PanelFigure("dual saves", "percent", figure_of(dual, "token_saving")),
        PanelFigure("dual − on", "points", figure_of(dual, "success_vs_always_on")),
        PanelFigure("95%", "span_points", span_of(dual, "success_vs_always_on")),
    ]
    return panel_table("ridge", "Ridge controls on their test tasks", figures, results)
