"""The evidence as the dashboard sees it: panels are read and scored once per revision of the bank.

The first page after a change of the bank waits for that; every later one is answered from memory.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skilldelta.bank.entries import DecisionTally
from skilldelta.bank.status import EvidenceAge
from skilldelta.bank.store import Bank
from skilldelta.encoders import Encoder
from skilldelta.errors import unknown_name
from skilldelta.evaluation.repeated_folds import SMALL_PANEL
from skilldelta.evaluation.skill_verdicts import SkillVerdict
from skilldelta.gate import Gate
from skilldelta.records import Agent, Skill
from skilldelta.serve.gate_service import GateService
from skilldelta.studies.gated_panel import GatedPanel, gated_panel
from skilldelta.studies.loaded_panel import PanelChoice, label_of, load_panel
from skilldelta.studies.skill_study import judge_skills

# Scored panels that stay in memory.
_KEPT = 4


@dataclass(frozen=True, slots=True)
class PanelKey:
    """A panel as people choose it, and what it holds."""

    agent: str
    """Its name, with a fingerprint where another agent bears the same name."""
    suite: str
    pairs: int
    unpaired: int
    record: Agent


@dataclass(frozen=True, slots=True)
class Catalogue:
    """What is in the bank at one revision."""

    revision: int
    location: str
    tasks: int
    executions: int
    panels: tuple[PanelKey, ...]
    """With a complete pair, the one with the most pairs first."""
    ages: Sequence[EvidenceAge]
    skills: Sequence[Skill]

    def ages_of(self, panel: PanelKey, skill: str) -> list[EvidenceAge]:
        """How old a panel's evidence on a skill is, by version of the skill."""
        key = (panel.record, panel.suite, skill)
        return [age for age in self.ages if (age.agent, age.suite, age.skill_id) == key]

    def chosen(self, agent: str | None, suite: str | None) -> PanelKey | None:
        """The panel that fits what was chosen, the largest where several do; None where the bank has no pair."""
        if not self.panels:
            return None
        for kind, name in (("agent", agent), ("suite", suite)):
            names: Mapping[str, None] = dict.fromkeys(getattr(panel, kind) for panel in self.panels)
            if name and name not in names:
                raise unknown_name(kind, name, names)
        fitting = [one for one in self.panels if agent in (None, "", one.agent) and suite in (None, "", one.suite)]
        if not fitting:
            raise unknown_name("suite", str(suite), [one.suite for one in self.panels if one.agent == agent])
        return fitting[0]


@dataclass(frozen=True, slots=True, eq=False)
class ShownPanel:
    """A panel with the gate's scores of every row and the verdict on every skill."""

    key: PanelKey
    gated: GatedPanel
    verdicts: Mapping[str, SkillVerdict]


class EvidenceViews:
    """The evidence behind one gate. Threads may share it; the bank may grow, or be replaced."""

    def __init__(self, gate: GateService) -> None:
        self._gate = gate
        self._working = threading.Lock()
        self._bank: Bank | None = None
        self._catalogue: Catalogue | None = None
        self._panels: OrderedDict[tuple[str, str], ShownPanel] = OrderedDict()

    @property
    def gate(self) -> Gate:
        """The gate that runs."""
        return self._gate.settings.gate

    def catalogue(self) -> Catalogue:
        """What the bank holds now."""
        return self._gate.read(self._looked_at)

    def panel(self, agent: str | None, suite: str | None) -> ShownPanel | None:
        """The panel that fits what was chosen, ready to be shown; None while the bank has no complete pair."""
        return self._gate.read(lambda bank: self._shown(bank, agent, suite))

    def tallies(self) -> list[DecisionTally]:
        """The decision log in numbers, as it is now."""
        return self._gate.read(lambda bank: bank.decision_tallies())

    def _looked_at(self, bank: Bank) -> Catalogue:
        with self._working:
            return self._current(bank)

    def _shown(self, bank: Bank, agent: str | None, suite: str | None) -> ShownPanel | None:
        with self._working:
            chosen = self._current(bank).chosen(agent, suite)
            if chosen is None:
                return None
            key = (chosen.agent, chosen.suite)
            if key not in self._panels:
                self._panels[key] = _scored(bank, chosen, self._gate.encoder(), self.gate)
                while len(self._panels) > _KEPT:
                    self._panels.popitem(last=False)
            self._panels.move_to_end(key)
            return self._panels[key]

    def _current(self, bank: Bank) -> Catalogue:
        """The catalogue at the bank's revision; panels of an earlier one, or of another bank, are dropped."""
        revision = bank.revision()
        if self._catalogue is None or self._bank is not bank or self._catalogue.revision != revision:
            self._panels.clear()
            self._bank, self._catalogue = bank, _read(bank, revision)
        return self._catalogue


def _scored(bank: Bank, chosen: PanelKey, encoder: Encoder, gate: Gate) -> ShownPanel:
    loaded = load_panel(bank, PanelChoice(chosen.agent, chosen.suite), encoder=encoder)
    gated = gated_panel(loaded, gate)
    # A large panel is not fitted a second time: its rows are decided already, each without its own task.
    is_large = len(loaded.support.row_of_task) >= SMALL_PANEL
    (judged,) = judge_skills([loaded], uses=[gated.rows.used[None, :].astype(np.float64)] if is_large else None)
    return ShownPanel(chosen, gated, {verdict.skill: verdict for verdict in judged.verdicts})


def _read(bank: Bank, revision: int) -> Catalogue:
    status, agents = bank.status(), bank.agents()
    panels = [
        PanelKey(label_of(one.agent, agents), one.suite, one.pairs, one.unpaired, record=one.agent)
        for one in status.panels
        if one.pairs
    ]
    return Catalogue(
        revision=revision,
        location=status.location,
        tasks=status.tasks,
        executions=sum(status.executions.values()),
        panels=tuple(sorted(panels, key=lambda panel: -panel.pairs)),
        ages=bank.evidence_ages(),
        skills=bank.skills(),
    )
