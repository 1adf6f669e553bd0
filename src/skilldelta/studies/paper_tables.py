"""The paper's tables for one's own agents: what each policy bought, how it chose, controls, ablations, sweeps, structure.

Every table is figures first; JSON, Markdown and the terminal show the same ones. Intervals are the paper's, with scores and
actions fixed. A figure that a panel does not have is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from skilldelta.errors import InputError
from skilldelta.evaluation.leave_one_out import evaluate_panels
from skilldelta.evaluation.policy_table import policy_words
from skilldelta.evaluation.results import Means, PanelResult, PolicyResult, Range
from skilldelta.nouns import plural
from skilldelta.predictor import Settings
from skilldelta.studies.evaluation_study import Evaluated
from skilldelta.studies.loaded_panel import LoadedPanel
from skilldelta.studies.threshold_studies import sweep_evidence, sweep_thresholds

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


_PANEL = (TableColumn("agent"), TableColumn("suite"))
ABLATIONS = {
    "k = 6, cosine": Settings(k=6, weighting="cosine"),
    "k = 3, cosine": Settings(k=3, weighting="cosine"),
    "k = 6, uniform": Settings(k=6, weighting="uniform"),
}


def paper_tables(evaluated: Evaluated) -> list[PaperTable]:
    """All tables of a study, in the paper's order."""
    results, panels = evaluated.results, [one.panel for one in evaluated.panels]
    return [
        _policies(results),
        _ranking(results),
        _intervals(results),
        _means(evaluated.means),
        _no_history(results),
        _estimators(results),
        _ridge(results),
        _ablations(panels, evaluated.settings.seed),
        _thresholds(panels),
        _evidence(panels, evaluated.settings.seed),
        _structure(results),
    ]


def _policies(results: Sequence[PanelResult]) -> PaperTable:
    names = ("self_judge", "skilldelta", "stack")
    columns = (
        *_PANEL,
        TableColumn("tasks", "count"),
        TableColumn("off", "percent"),
        TableColumn("on", "percent"),
        *(TableColumn(policy_words(name), "percent") for name in names),
        *(TableColumn(f"{policy_words(name)} saves", "percent") for name in names),
    )
    rows = [
        (
            *_named(one),
            one.tasks,
            one.off,
            one.on,
            *(_of(one, name, "success") for name in names),
            *(_of(one, name, "token_saving") for name in names),
        )
        for one in results
    ]
    return PaperTable(
        "policies", "Task success, and tokens saved against always on", columns, tuple(rows), "self-judge pays its call"
    )


def _ranking(results: Sequence[PanelResult]) -> PaperTable:
    names = ("skilldelta", "with_skill_only", "relevance", "self_judge", "stack")
    columns = (*_PANEL, *(TableColumn(policy_words(name), "ratio") for name in names))
    rows = [(*_named(one), *(_of(one, name, "auroc") for name in names)) for one in results]
    return PaperTable("ranking", "AUROC of positive against other observed gains", columns, tuple(rows))


def _intervals(results: Sequence[PanelResult]) -> PaperTable:
    columns = (
        *_PANEL,
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
            *_named(one),
            _span(rule, "auroc"),
            rule.success_gain,
            _span(rule, "success_gain"),
            rule.advantage_vs_random,
            _span(rule, "advantage_vs_random"),
            rule.within_group,
            _span(rule, "within_group"),
            rule.between_group,
            _span(rule, "between_group"),
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


def _no_history(results: Sequence[PanelResult]) -> PaperTable:
    columns = (
        *_PANEL,
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
            *_named(one),
            _of(one, "relevance", "success"),
            _of(one, "relevance", "token_saving"),
            _of(one, "self_judge", "use_rate"),
            _of(one, "self_judge", "router_tokens"),
            gain,
            _span(rule, "balanced_accuracy_vs_self_judge"),
        )

    note = "accuracy gain: SkillDelta's balanced accuracy minus self-judge's"
    return PaperTable("no_history", "Controls without history", columns, tuple(map(row, results)), note)


def _estimators(results: Sequence[PanelResult]) -> PaperTable:
    names = ("skilldelta", "tfidf_knn", "family_mean", "with_skill_only", "stack")
    columns = (
        *_PANEL,
        TableColumn("estimator"),
        TableColumn("AUROC", "ratio"),
        TableColumn("success", "percent"),
        TableColumn("saved", "percent"),
    )
    rows = [
        (*_named(one), policy_words(name), *(_of(one, name, key) for key in ("auroc", "success", "token_saving")))
        for one in results
        for name in names
        if name in one.policies
    ]
    return PaperTable("estimators", "Estimators on the same paired history", columns, tuple(rows))


def _ridge(results: Sequence[PanelResult]) -> PaperTable:
    columns = (
        *_PANEL,
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
            *_named(one),
            None if dual is None else len(dual.rows),
            None if dual is None else dual.always_on,
            _of(one, "ridge", "success"),
            _of(one, "ridge", "token_saving"),
            _of(one, "dual_ridge", "success"),
            _of(one, "dual_ridge", "token_saving"),
            None if dual is None else dual.success_vs_always_on,
            None if dual is None else _span(dual, "success_vs_always_on"),
        )

    return PaperTable("ridge", "Ridge controls on their test tasks", columns, tuple(map(row, results)))


def _ablations(panels: Sequence[LoadedPanel], seed: int) -> PaperTable:
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
        found = evaluate_panels(
            supports,
            rng=np.random.default_rng(seed),
            policies=["skilldelta"],
            settings=settings,
            resamples=0,
            shuffles=0,
        ).means
        rule = found.policies["skilldelta"]
        saved = rule.metrics.get("token_saving")
        rows.append(
            (
                name,
                rule.metrics["success"].value,
                rule.metrics["advantage_vs_random"].value,
                None if saved is None else saved.value,
                f"{rule.wins['advantage_vs_random']}/{found.panels}",
            )
        )
    return PaperTable("ablations", "The rule in other settings, means over panels", columns, tuple(rows))


def _thresholds(panels: Sequence[LoadedPanel]) -> PaperTable:
    columns = (
        *_PANEL,
        TableColumn("policies", "count"),
        TableColumn("at 0", "percent"),
        TableColumn("saves", "percent"),
        TableColumn("best", "percent"),
        TableColumn("best saves", "percent"),
        TableColumn("its threshold", "ratio"),
    )

    def row(panel: LoadedPanel) -> tuple[Cell, ...]:
        swept = sweep_thresholds(panel, "skilldelta")
        default, best = swept.point(swept.default), swept.point(swept.best)
        cut = best.threshold if np.isfinite(best.threshold) else None
        return (
            panel.support.agent,
            panel.suite,
            len(swept),
            default.success,
            default.token_saving,
            best.success,
            best.token_saving,
            cut,
        )

    note = "best: the highest success in hindsight"
    return PaperTable("thresholds", "Success and tokens over thresholds", columns, tuple(map(row, panels)), note)


def _evidence(panels: Sequence[LoadedPanel], seed: int) -> PaperTable:
    columns = (
        *_PANEL,
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
    for one in curves:
        ends = (int(one.amounts[0]), float(one.mae[0]), int(one.amounts[-1]), float(one.mae[-1]))
        yield (panel.support.agent, panel.suite, one.axis, one.targets, *ends)


def _structure(results: Sequence[PanelResult]) -> PaperTable:
    kept: dict[str, Callable[[PanelResult], float]] = {
        "groups": lambda one: one.structure.groups,
        "smallest": lambda one: one.structure.smallest_group,
        "median": lambda one: one.structure.median_group,
        "largest": lambda one: one.structure.largest_group,
        "singletons": lambda one: one.structure.singletons,
        "skills": lambda one: one.structure.skills,
        "bundles": lambda one: one.structure.bundles,
        "edges": lambda one: one.structure.edges,
        "without support": lambda one: one.structure.without_support,
        "help": lambda one: sum(family.help for family in one.counts),
        "harm": lambda one: sum(family.harm for family in one.counts),
        "tie": lambda one: sum(family.tie for family in one.counts),
    }
    columns = (*_PANEL, *(TableColumn(name, "count") for name in kept))
    rows = [(*_named(one), *(figure(one) for figure in kept.values())) for one in results]
    return PaperTable("structure", "Groups, bundles and coverage; help and harm", columns, tuple(rows))


def _named(one: PanelResult) -> tuple[Cell, Cell]:
    return one.agent, one.suite


def _of(one: PanelResult, name: str, metric: str) -> float | None:
    policy = one.policies.get(name)
    return None if policy is None else getattr(policy, metric)


def _span(policy: PolicyResult, metric: str) -> Cell:
    found = policy.conditional_intervals.get(metric, Range(None, None))
    return found.low, found.high
