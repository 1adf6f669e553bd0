"""The paper's controls as tables: without history, other estimators on the same history, Ridge."""

from __future__ import annotations

from collections.abc import Sequence

from skilldelta.evaluation.policy_table import policy_words
from skilldelta.evaluation.results import PanelResult
from skilldelta.studies.paper_table import PANEL_COLUMNS, Cell, PaperTable, TableColumn, figure_of, panel_names, span_of


def no_history_table(results: Sequence[PanelResult]) -> PaperTable:
    columns = (
        *PANEL_COLUMNS,
        TableColumn("relevance", "percent"),
        TableColumn("saves", "percent"),
        TableColumn("self-judge uses", "percent"),
        TableColumn("router tokens", "count"),
        TableColumn("accuracy gain", "points"),
        TableColumn("95%", "span_points"),
    )

    def row(one: PanelResult) -> tuple[Cell, ...]:
        rule, judge = one.policies["skilldelta"], one.policies.get("self_judge")
        gain = None
        if judge is not None and rule.balanced_accuracy is not None and judge.balanced_accuracy is not None:
            gain = rule.balanced_accuracy - judge.balanced_accuracy
        return (
            *panel_names(one),
            figure_of(one, "relevance", "success"),
            figure_of(one, "relevance", "token_saving"),
            figure_of(one, "self_judge", "use_rate"),
            figure_of(one, "self_judge", "router_tokens"),
            gain,
            span_of(rule, "balanced_accuracy_vs_self_judge"),
        )

    note = "accuracy gain: SkillDelta's balanced accuracy minus self-judge's"
    return PaperTable("no_history", "Controls without history", columns, tuple(map(row, results)), note)


def estimator_table(results: Sequence[PanelResult]) -> PaperTable:
    names = ("skilldelta", "tfidf_knn", "family_mean", "with_skill_only", "stack")
    columns = (
        *PANEL_COLUMNS,
        TableColumn("estimator"),
        TableColumn("AUROC", "ratio"),
        TableColumn("success", "percent"),
        TableColumn("saved", "percent"),
    )
    rows = [
        (
            *panel_names(one),
            policy_words(name),
            *(figure_of(one, name, key) for key in ("auroc", "success", "token_saving")),
        )
        for one in results
        for name in names
        if name in one.policies
    ]
    return PaperTable("estimators", "Estimators on the same paired history", columns, tuple(rows))


def ridge_table(results: Sequence[PanelResult]) -> PaperTable:
    columns = (
        *PANEL_COLUMNS,
        TableColumn("tasks", "count"),
        TableColumn("on", "percent"),
        TableColumn("Ridge", "percent"),
        TableColumn("saves", "percent"),
        TableColumn("Dual Ridge", "percent"),
        TableColumn("dual saves", "percent"),
        TableColumn("dual − on", "points"),
        TableColumn("95%", "span_points"),
    )

    def row(one: PanelResult) -> tuple[Cell, ...]:
        dual = one.policies.get("dual_ridge")
        return (
            *panel_names(one),
            None if dual is None else len(dual.rows),
            None if dual is None else dual.always_on,
            figure_of(one, "ridge", "success"),
            figure_of(one, "ridge", "token_saving"),
            figure_of(one, "dual_ridge", "success"),
            figure_of(one, "dual_ridge", "token_saving"),
            None if dual is None else dual.success_vs_always_on,
            None if dual is None else span_of(dual, "success_vs_always_on"),
        )

    return PaperTable("ridge", "Ridge controls on their test tasks", columns, tuple(map(row, results)))
