"""From one panel's results to what the page shows of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skilldelta.evaluation.accounting import Account
from skilldelta.evaluation.comparison import default_gate
from skilldelta.evaluation.evidence_scaling import EvidenceCurve
from skilldelta.evaluation.policy_table import policy_words
from skilldelta.evaluation.results import PanelResult
from skilldelta.evaluation.skill_verdicts import SkillVerdict
from skilldelta.noise_floor import NoiseFloor
from skilldelta.nouns import plural
from skilldelta.report.content import Figure
from skilldelta.report.families import family_lists
from skilldelta.report.figures.advantage import advantage
from skilldelta.report.figures.help_harm import help_harm
from skilldelta.report.figures.payback import accounting
from skilldelta.report.figures.ranking import ranking
from skilldelta.report.figures.reliability_curve import Forecast, reliability
from skilldelta.report.figures.scaling import scaling
from skilldelta.report.figures.selection import components
from skilldelta.report.figures.tradeoff import tradeoff
from skilldelta.report.numbers import decimal, percent
from skilldelta.report.page import PanelContent, Tile
from skilldelta.report.policies import meanings, policy_table
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
    """The panel ready to be set; `gate` is the policy that the summary is about."""
    result = panel.result
    chosen = gate or default_gate(result)
    return PanelContent(
        place=place,
        title=panel.title,
        gate=chosen,
        summary=summary(result, chosen),
        noise=_sentence(panel.noise.sentence) if panel.noise else "",
        tiles=_tiles(result, chosen),
        policies=policy_table(result),
        meanings=meanings(result),
        figures=_figures(panel, chosen),
        families=family_lists(result, chosen, per_kind=per_kind),
        notes=_notes(panel),
        skills=SkillList(result.support, panel.verdicts) if panel.verdicts else None,
    )


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


def _figures(panel: PanelReport, gate: str) -> Sequence[Figure]:
    result = panel.result
    found: list[Figure | None] = [
        ranking(result, gate),
        tradeoff(result, gate),
        advantage(result, gate),
        components(result, gate),
        scaling(panel.scaling, result.support),
        help_harm(result),
        reliability(panel.forecasts),
        accounting(panel.account, gate),
    ]
    return [figure for figure in found if figure is not None]


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
    if own.auroc is not None:
        tiles.append(Tile(decimal(own.auroc, 2), "AUROC; 0.5 is a coin"))
    return tiles


def _notes(panel: PanelReport) -> list[str]:
    result = panel.result
    pairs = plural(result.pairs, "pair")
    several = f", {pairs} because some tasks were run under several skills" if result.pairs > result.tasks else ""
    about = f"{plural(result.tasks, 'task')} in {plural(result.families, 'family', 'families')}{several}."
    by_policy = [f"{policy_words(policy.name)}: {note}" for policy in result.policies.values() for note in policy.notes]
    return [about, *panel.notes, *result.notes, *by_policy]
