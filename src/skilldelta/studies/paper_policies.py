"""The paper's tables for one's own agents: what each policy bought, how it chose, means over panels, and all the others."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from skilldelta.estimators.registry import policy_words
from skilldelta.evaluation.results import Means, PanelResult
from skilldelta.nouns import plural
from skilldelta.studies.evaluation_study import Evaluated
from skilldelta.studies.paper_sweeps import ablation_table, evidence_table, structure_table, threshold_table
from skilldelta.studies.paper_table import (
    PANEL_COLUMNS,
    Cell,
    PanelFigure,
    PaperTable,
    TableColumn,
    figure_of,
    panel_table,
    span_of,
)


def paper_tables(evaluated: Evaluated) -> list[PaperTable]:
    """All tables of a study, in the paper's order; `tables_markdown` writes them.

    Examples:
        >>> [table.key for table in paper_tables(evaluated)][:4]
        ['policies', 'ranking', 'intervals', 'means']
    """
    results, panels = evaluated.results, [one.panel for one in evaluated.panels]
    return [
        _policies(results),
        _ranking(results),
        _intervals(results),
        _means(evaluated.means),
        _no_history(results),
        _estimators(results),
        _ridge(results),
        ablation_table(panels, evaluated.settings.seed),
        threshold_table(panels),
        evidence_table(panels, evaluated.settings.seed),
        structure_table(results),
    ]


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
    title = "SkillDelta's main figures with 95% intervals"
    return panel_table("intervals", title, figures, results, "points of success")


def _means(means: Means) -> PaperTable:
    metrics = ("success", "token_saving", "advantage_vs_random", "within_group", "between_group")
    columns = (
        TableColumn("policy"),
        TableColumn("success", "percent"),
        TableColumn("saved", "percent"),
        TableColumn("over random", "points"),
        TableColumn("95%", "span_points"),
        TableColumn("within", "points"),
        TableColumn("between", "points"),
        *(TableColumn(name, "wins") for name in ("above off", "above on", "above random")),
    )
    rows: list[tuple[Cell, ...]] = []
    for name, policy in means.policies.items():
        value = {key: policy.metrics[key].value if key in policy.metrics else None for key in metrics}
        spread = policy.metrics["advantage_vs_random"].conditional
        wins = [policy.wins[key] for key in ("success_gain", "success_vs_always_on", "advantage_vs_random")]
        rows.append(
            (
                policy_words(name),
                value["success"],
                value["token_saving"],
                value["advantage_vs_random"],
                (spread.low, spread.high),
                value["within_group"],
                value["between_group"],
                *(f"{count}/{means.panels}" for count in wins),
            )
        )
    return PaperTable("means", f"Means over {plural(means.panels, 'panel')} of equal weight", columns, tuple(rows))


def _no_history(results: Sequence[PanelResult]) -> PaperTable:
    figures = [
        PanelFigure("relevance", "percent", figure_of("relevance", "success")),
        PanelFigure("saves", "percent", figure_of("relevance", "token_saving")),
        PanelFigure("self-judge uses", "percent", figure_of("self_judge", "use_rate")),
        PanelFigure("router tokens", "count", figure_of("self_judge", "router_tokens")),
        PanelFigure("accuracy gain", "points", _accuracy_gain),
        PanelFigure("95%", "span_points", span_of("paper", "balanced_accuracy_vs_self_judge")),
    ]
    note = "accuracy gain: SkillDelta's balanced accuracy minus self-judge's"
    return panel_table("no_history", "Controls without history", figures, results, note)


def _accuracy_gain(one: PanelResult) -> float | None:
    rule, judge = (figure_of(name, "balanced_accuracy")(one) for name in ("paper", "self_judge"))
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
            one.agent,
            one.suite,
            policy_words(name),
            *(figure_of(name, metric)(one) for metric in ("auroc", "success", "token_saving")),
        )
        for one in results
        for name in names
        if name in one.policies
    ]
    return PaperTable("estimators", "Estimators on the same paired history", columns, tuple(rows))


def _ridge(results: Sequence[PanelResult]) -> PaperTable:
    dual = "dual_ridge"
    figures = [
        PanelFigure("tasks", "count", lambda one: len(one.policies[dual].rows) if dual in one.policies else None),
        PanelFigure("on", "percent", figure_of(dual, "always_on")),
        PanelFigure("Ridge", "percent", figure_of("ridge", "success")),
        PanelFigure("saves", "percent", figure_of("ridge", "token_saving")),
        PanelFigure("Dual Ridge", "percent", figure_of(dual, "success")),
        PanelFigure("dual saves", "percent", figure_of(dual, "token_saving")),
        PanelFigure("dual − on", "points", figure_of(dual, "success_vs_always_on")),
        PanelFigure("95%", "span_points", span_of(dual, "success_vs_always_on")),
    ]
    return panel_table("ridge", "Ridge controls on their test tasks", figures, results)
