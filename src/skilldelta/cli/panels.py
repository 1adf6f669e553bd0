"""The panels that an evaluation is about: one support an agent and suite, with what was left out said in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from skilldelta.cli.encoding import chosen_encoder
from skilldelta.cli.named_records import corrections, exclusions
from skilldelta.cli.progress import progress
from skilldelta.errors import InputError, unknown_name
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.bank import Bank, Panel
    from skilldelta.encoders.base import Encoder
    from skilldelta.evaluation.corrections import CorrectedRecord, Correction
    from skilldelta.evaluation.exclusions import Exclusion
    from skilldelta.evaluation.panel_policy import PanelPolicy
    from skilldelta.noise_floor import NoiseFloor
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
    noise: NoiseFloor
    excluded: tuple[Exclusion, ...] = ()
    corrected: tuple[CorrectedRecord, ...] = ()


def load_panels(bank: Bank, options: Mapping[str, Any]) -> list[LoadedPanel]:
    """Every panel of the bank, or those of --agent and --suite, corrected and without what is excluded by name."""
    from skilldelta.evaluation.corrections import check_corrections
    from skilldelta.evaluation.exclusions import check_exclusions

    encoder, excluded, corrected = chosen_encoder(bank, options), exclusions(options), corrections(options)
    panels = [_loaded(bank, panel, encoder) for panel in wanted_panels(bank, options)]
    known = {str(task_id) for panel in panels for task_id in panel.support.task_ids}
    check_exclusions(excluded, known)
    check_corrections(corrected, known)
    return [_as_named(_as_corrected(bank, panel, corrected), excluded) for panel in panels]


def _as_corrected(bank: Bank, panel: LoadedPanel, corrected: Sequence[Correction]) -> LoadedPanel:
    if not corrected:
        return panel
    from skilldelta.evaluation.corrections import corrected_panel

    executions = bank.executions(agent=panel.agent, suite=panel.suite)
    found = corrected_panel(panel.support, panel.pairing.pairs, executions, corrected)
    return replace(panel, support=found.support, corrected=found.records, notes=(*panel.notes, *flags(found.records)))


def flags(records: Sequence[CorrectedRecord]) -> list[str]:
    """The corrected records of a panel, in words."""
    if not records:
        return []
    counted = plural(len(records), "corrected record counts", "corrected records count")
    return [f"{counted} as corrected: {'; '.join(map(str, records))}"]


def _as_named(panel: LoadedPanel, excluded: Sequence[Exclusion]) -> LoadedPanel:
    from skilldelta.evaluation.exclusions import exclusions_in, without_excluded

    here = exclusions_in(panel.support, excluded)
    if not here:
        return panel
    gone = f"{plural(len(here), 'task is', 'tasks are')} excluded by name: {'; '.join(map(str, here))}"
    return replace(panel, support=without_excluded(panel.support, here), excluded=here, notes=(*panel.notes, gone))


def chosen_panel(bank: Bank, options: Mapping[str, Any]) -> Panel:
    """The one panel that --agent and --suite leave, for commands about one; several are named."""
    panels = wanted_panels(bank, options)
    if len(panels) > 1:
        agents = bank.agents()
        names = ", ".join(f"--agent {label_of(panel.agent, agents)} --suite {panel.suite}" for panel in panels[:_NAMED])
        raise InputError(f"the bank has {len(panels)} panels; choose one: {names}")
    return panels[0]


def wanted_panels(bank: Bank, options: Mapping[str, Any]) -> list[Panel]:
    """The panels that have a complete pair and fit --agent and --suite."""
    agent = bank.resolve_agent(options["agent"]) if options.get("agent") else None
    suite = options.get("suite")
    if suite and suite not in bank.suites():
        raise unknown_name("suite", suite, bank.suites())
    panels = [
        panel
        for panel in bank.panels()
        if panel.pairs and agent in (None, panel.agent) and suite in (None, panel.suite)
    ]
    if not panels:
        raise InputError("the bank has no complete pair yet; import or collect executions under both conditions first")
    return panels


def _loaded(bank: Bank, panel: Panel, encoder: Encoder) -> LoadedPanel:
    pairing = bank.pairing(agent=panel.agent, suite=panel.suite)
    with progress(f"encoding {panel.suite}") as advance:
        support = bank.support(encoder, agent=panel.agent, suite=panel.suite, progress=advance)
    support = replace(support, agent=label_of(panel.agent, bank.agents()))
    return LoadedPanel(panel.agent, panel.suite, support, pairing, left_out(pairing), _noise(bank, panel))


def _noise(bank: Bank, panel: Panel) -> NoiseFloor:
    from skilldelta.noise_floor import noise_of_executions

    return noise_of_executions(bank.executions(agent=panel.agent, suite=panel.suite))


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
        lacking = plural(
            len(pairing.unpaired), "task lacks an arm and is left out", "tasks lack an arm and are left out"
        )
        notes.append(f"{lacking}: {names}{more}")
    if pairing.stale:
        stale = plural(len(pairing.stale), "pair")
        notes.append(f"left out as stale: {stale} of an older skill version")
    notes += [f"{plural(count, 'execution')} not counted: {status}" for status, count in pairing.uncounted.items()]
    return tuple(notes)


def scored_policy(
    name: str, support: Support, options: Mapping[str, Any], skill_texts: Mapping[str, str]
) -> PanelPolicy:
    """One policy on a panel, scored leave-one-task-out; constant policies have no scores to sweep."""
    from skilldelta.evaluation.roster import Rules, score_policies
    from skilldelta.predictor import Settings

    rule = Settings(k=options["k"], weighting=options["weighting"])
    rules = Rules(rule, options["scope"] or "family", options["threshold"], skill_texts)
    roster = score_policies(support, [name], rules, None)
    if name not in roster.policies:
        raise InputError("; ".join(roster.left_out) or f"{name} cannot be scored on this panel")
    if roster.policies[name].scores is None:
        raise InputError(f"{name} has no scores; choose skilldelta, stack, family_mean or tfidf_knn")
    return roster.policies[name]
