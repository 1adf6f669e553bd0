"""The paper's tables for one's own agents: what each policy bought, how it chose, means over panels, and all the others."""

from __future__ import annotations

from collections.abc import Sequence

from skilldelta.evaluation.policy_table import policy_words
from skilldelta.evaluation.results import Means, PanelResult
from skilldelta.nouns import plural
from skilldelta.studies.evaluation_study import Evaluated
from skilldelta.studies.paper_controls import estimator_table, no_history_table, ridge_table
from skilldelta.studies.paper_sweeps import ablation_table, evidence_table, structure_table, threshold_table
from skilldelta.studies.paper_table import PANEL_COLUMNS, Cell, PaperTable, TableColumn, figure_of, panel_names, span_of


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
        no_history_table(results),
        estimator_table(results),
        ridge_table(results),
        ablation_table(panels, evaluated.settings.seed),
        threshold_table(panels),
        evidence_table(panels, evaluated.settings.seed),
        structure_table(results),
    ]


def _policies(results: Sequence[PanelResult]) -> PaperTable:
    names = ("self_judge", "skilldelta", "stack")
    columns = (
        *PANEL_COLUMNS,
        TableColumn("tasks", "count"),
        TableColumn("off", "percent"),
        TableColumn("on", "percent"),
        *(TableColumn(policy_words(name), "percent") for name in names),
        *(TableColumn(f"{policy_words(name)} saves", "percent") for name in names),
    )
    rows = [
        (
            *panel_names(one),
            one.tasks,
            one.off,
            one.on,
            *(figure_of(one, name, "success") for name in names),
            *(figure_of(one, name, "token_saving") for name in names),
        )
        for one in results
    ]
    return PaperTable(
        "policies", "Task success, and tokens saved against always on", columns, tuple(rows), "self-judge pays its call"
    )


def _ranking(results: Sequence[PanelResult]) -> PaperTable:
    names = ("skilldelta", "with_skill_only", "relevance", "self_judge", "stack")
    columns = (*PANEL_COLUMNS, *(TableColumn(policy_words(name), "ratio") for name in names))
    rows = [(*panel_names(one), *(figure_of(one, name, "auroc") for name in names)) for one in results]
    return PaperTable("ranking", "AUROC of positive against other observed gains", columns, tuple(rows))


def _intervals(results: Sequence[PanelResult]) -> PaperTable:
    columns = (
        *PANEL_COLUMNS,
        TableColumn("AUROC 95%", "span_ratio"),
        TableColumn("gain over off", "points"),
        TableColumn("gain 95%", "span_points"),
        TableColumn("over random", "points"),
        TableColumn("over random 95%", "span_points"),
        TableColumn("within groups", "points"),
        TableColumn("within 95%", "span_points"),
        TableColumn("between groups", "points"),
        TableColumn("between 95%", "span_points"),
    )

    def row(one: PanelResult) -> tuple[Cell, ...]:
        rule = one.policies["skilldelta"]
        return (
            *panel_names(one),
            span_of(rule, "auroc"),
            rule.success_gain,
            span_of(rule, "success_gain"),
            rule.advantage_vs_random,
            span_of(rule, "advantage_vs_random"),
            rule.within_group,
            span_of(rule, "within_group"),
            rule.between_group,
            span_of(rule, "between_group"),
        )

    return PaperTable(
        "intervals",
        "SkillDelta's main figures with 95% intervals",
        columns,
        tuple(map(row, results)),
        "points of success",
    )


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
