"""The panels that an evaluation is about: one support an agent and suite, with what was left out said in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from skilldelta.cli.encoding import chosen_encoder
from skilldelta.cli.output import progress
from skilldelta.errors import InputError, unknown_name

if TYPE_CHECKING:
    from skilldelta.bank.store import Bank
    from skilldelta.pairing import Pairing
    from skilldelta.records import Agent
    from skilldelta.support import Support

_NAMED = 5


@dataclass(frozen=True, slots=True, eq=False)
class LoadedPanel:
    """One panel ready for evaluation."""

    agent: Agent
    suite: str
    support: Support
    pairing: Pairing
    notes: tuple[str, ...]


def load_panels(bank: Bank, options: Mapping[str, Any]) -> list[LoadedPanel]:
    """Every panel of the bank, or those of --agent and --suite; a panel without pairs is left out and named."""
    wanted_agent = bank.resolve_agent(options["agent"]) if options.get("agent") else None
    suite = options.get("suite")
    if suite and suite not in bank.suites():
        raise unknown_name("suite", suite, bank.suites())
    encoder = chosen_encoder(bank, options)
    loaded = []
    for panel in bank.panels():
        if (wanted_agent and panel.agent != wanted_agent) or (suite and panel.suite != suite):
            continue
        pairing = bank.pairing(agent=panel.agent, suite=panel.suite)
        if not pairing.pairs:
            continue
        with progress(f"encoding {panel.suite}") as advance:
            support = bank.support(encoder, agent=panel.agent, suite=panel.suite, progress=advance)
        support = replace(support, agent=label_of(panel.agent, bank.agents()))
        loaded.append(LoadedPanel(panel.agent, panel.suite, support, pairing, left_out(pairing)))
    if not loaded:
        raise InputError("the bank has no complete pair yet; import or collect executions under both conditions first")
    return loaded


def label_of(agent: Agent, known: list[Agent]) -> str:
    """The agent's name, with its fingerprint where another agent bears the same name."""
    shared = sum(other.name == agent.name for other in known) > 1
    return f"{agent.name}@{agent.fingerprint[:8]}" if shared else agent.name


def left_out(pairing: Pairing) -> tuple[str, ...]:
    """What a panel does not contain, in words."""
    notes = []
    if pairing.unpaired:
        names = ", ".join(one.task_id for one in pairing.unpaired[:_NAMED])
        more = f" and {len(pairing.unpaired) - _NAMED} more" if len(pairing.unpaired) > _NAMED else ""
        notes.append(f"{len(pairing.unpaired)} tasks lack an arm and are left out: {names}{more}")
    if pairing.stale:
        notes.append(f"{len(pairing.stale)} pairs of an older skill version are stale and left out")
    notes += [f"{count} executions not counted: {status}" for status, count in pairing.uncounted.items()]
    return tuple(notes)


def one_panel(panels: list[LoadedPanel]) -> LoadedPanel:
    """The only panel, for commands about one; several are named."""
    if len(panels) > 1:
        names = ", ".join(f"--agent {panel.agent.name} --suite {panel.suite}" for panel in panels[:_NAMED])
        raise InputError(f"the bank has {len(panels)} panels; choose one: {names}")
    return panels[0]
