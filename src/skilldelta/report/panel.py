"""From one panel's results to what the page shows of it: its tiles, its table of policies, its figures, its remarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skilldelta.estimators.registry import ORACLE, policies, policy_words
from skilldelta.evaluation.accounting import Account
from skilldelta.evaluation.comparison import FEWEST_FOR_AUROC, default_gate
from skilldelta.evaluation.evidence_scaling import EvidenceCurve
from skilldelta.evaluation.results import PanelResult, PolicyResult, Range
from skilldelta.evaluation.skill_verdicts import SkillVerdict
from skilldelta.noise_floor import NoiseFloor
from skilldelta.nouns import plural
from skilldelta.report.content import Cell, Column, Figure, Table
from skilldelta.report.figures.advantage import advantage, components
from skilldelta.report.figures.evidence_value import accounting, scaling
from skilldelta.report.figures.help_harm import family_lists, help_harm
from skilldelta.report.figures.score_quality import Forecast, ranking, reliability
from skilldelta.report.figures.tradeoff import tradeoff
from skilldelta.report.numbers import DASH, cell, count, decimal, percent, percent_spread, points, spread
from skilldelta.report.page import PanelContent, Tile, sentence
from skilldelta.report.skill_list import SkillList
from skilldelta.report.verdict import summary


@dataclass(frozen=True, slots=True, eq=False)
class PanelReport:
    """Everything known of one panel; what was not computed is left out of the report."""

    result: PanelResult
    scaling: Sequence[EvidenceCurve] = ()
    account: Account | None = None
    forecasts: Sequence[Forecast] = ()
    """Probabilities of help and of harm, where the gate gives them."""
    notes: tuple[str, ...] = ()
    """What the bank left out of the panel, in words."""
    noise: NoiseFloor | None = None
    """How much repetitions of one condition differ; None where it was not measured."""
    verdicts: tuple[SkillVerdict, ...] = ()
    """Keep, gate or drop, for each skill."""

    @property
    def title(self) -> str:
        """The panel's name for people."""
        return f"{self.result.agent} on {self.result.suite}"


def panel_content(panel: PanelReport, *, place: str, gate: str | None, per_kind: int) -> PanelContent:
    """The panel, ready to become HTML; `gate` is the policy that the summary is about."""
    result = panel.result
    chosen = gate or default_gate(result)
    return PanelContent(
        place=place,
        title=panel.title,
        gate=chosen,
        summary=summary(result, chosen),
        noise=sentence(panel.noise.sentence) if panel.noise else "",
        tiles=_tiles(result, chosen),
        policies=policy_table(result),
        meanings=_meanings(result),
        figures=_figures(panel, chosen),
        families=family_lists(result, chosen, per_kind=per_kind),
        notes=_notes(panel),
        skills=SkillList(result.support, panel.verdicts) if panel.verdicts else None,
    )


def _figures(panel: PanelReport, gate: str) -> Sequence[Figure]:
    result = panel.result
    figures: list[Figure | None] = [
        ranking(result, gate),
        tradeoff(result, gate),
        advantage(result, gate),
        components(result, gate),
        scaling(panel.scaling, result.support),
        help_harm(result),
        reliability(panel.forecasts),
        accounting(panel.account, gate),
    ]
    return [figure for figure in figures if figure is not None]


def _tiles(result: PanelResult, gate: str) -> list[Tile]:
    own = result.policies.get(gate)
    tiles = [
        Tile(percent(result.off), "success without the skill"),
        Tile(percent(result.on), "success with it, always"),
    ]
    if own is None:
        return tiles
    tiles += [
        Tile(percent(own.success), f"success with {policy_words(gate)}", is_own=True),
        Tile(percent(own.use_rate, 0), "of tasks use the skill"),
    ]
    if own.token_saving is not None:
        tiles.append(Tile(percent(own.token_saving, 0), "of always-on's tokens saved"))
    if own.auroc is not None and result.tasks >= FEWEST_FOR_AUROC:
        tiles.append(Tile(decimal(own.auroc, 2), "AUROC; 0.5 is a coin"))
    return tiles


def _notes(panel: PanelReport) -> list[str]:
    result = panel.result
    pairs = plural(result.pairs, "pair")
    several = f", {pairs} because some tasks were run under several skills" if result.pairs > result.tasks else ""
    about = f"{plural(result.tasks, 'task')} in {plural(result.families, 'family', 'families')}{several}."
    by_policy = [f"{policy_words(policy.name)}: {note}" for policy in result.policies.values() for note in policy.notes]
    return [about, *panel.notes, *result.notes, *by_policy]


COLUMNS = (
    Column("Policy", numeric=False),
    Column("Success", meaning="share of tasks solved under the policy's choices"),
    Column("vs always on", meaning="difference of success to always using the skill, in points"),
    Column("Use rate", meaning="share of tasks on which the skill is used"),
    Column("Tokens", meaning="mean tokens of a task, a router call included"),
    Column("Tokens saved", meaning="share of always-on's tokens not spent"),
    Column("AUROC", meaning="chance that a helped task is scored above one that is not; not shown below 30 tasks"),
    Column("Balanced accuracy", meaning="mean of the shares decided rightly among helped and not-helped tasks"),
    Column("Gain error", meaning="mean absolute error of the predicted gain"),
)


def policy_table(panel: PanelResult) -> Table:
    """One row per policy in the order of the evaluation, then the oracle; intervals stand below their number."""
    vs_on = panel.oracle - panel.on
    oracle = [Cell("Oracle"), cell(percent(panel.oracle), panel.oracle), cell(points(vs_on), vs_on)]
    oracle += [Cell(DASH)] * (len(COLUMNS) - len(oracle))
    return Table(COLUMNS, [*[_policy_row(panel, policy) for policy in panel.policies.values()], oracle])


def _policy_row(panel: PanelResult, policy: PolicyResult) -> list[Cell]:
    name = policy_words(policy.name)
    # A policy judged on its own test split is compared with always-on on that split.
    if len(policy.rows) != panel.pairs:
        name += f"\non {plural(len(policy.rows), 'test pair')}, always on {percent(policy.always_on)}"
    vs_on = policy.success_vs_always_on
    return [
        Cell(name, tone=policy.name),
        cell(percent(policy.success), policy.success, percent_spread(_open(policy, "success"))),
        cell(points(vs_on), vs_on, spread(_open(policy, "success_vs_always_on"), as_points=True)),
        cell(percent(policy.use_rate), policy.use_rate),
        cell(count(policy.tokens), policy.tokens),
        cell(percent(policy.token_saving), policy.token_saving, percent_spread(_open(policy, "token_saving"))),
        cell(decimal(policy.auroc), policy.auroc, spread(policy.intervals.get("auroc")))
        if panel.tasks >= FEWEST_FOR_AUROC
        else Cell(DASH),
        cell(percent(policy.balanced_accuracy), policy.balanced_accuracy),
        cell(decimal(policy.gain_mae), policy.gain_mae),
    ]


def _open(policy: PolicyResult, metric: str) -> Range | None:
    """The interval, unless it is a point: a constant policy compared with itself has nothing uncertain."""
    interval = policy.intervals.get(metric)
    return None if interval is None or interval.low == interval.high else interval


def _meanings(panel: PanelResult) -> list[tuple[str, str]]:
    """What each evaluated policy does, in words."""
    entries = {**policies(), ORACLE.name: ORACLE}
    return [(entries[name].title, entries[name].meaning) for name in (*panel.policies, ORACLE.name) if name in entries]
