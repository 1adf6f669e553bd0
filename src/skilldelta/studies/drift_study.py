"""What an update changed: a skill's gain under the older and the newer model or harness, or of its older and newer version."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from skilldelta.bank.pair_reading import PanelRecords
from skilldelta.bank.store import Bank
from skilldelta.errors import InputError, unknown_name
from skilldelta.evaluation.drift import GainRow, SkillDrift, drift_of_skills
from skilldelta.nouns import plural
from skilldelta.records import Pair
from skilldelta.studies.loaded_panel import chosen_records


@dataclass(frozen=True, slots=True)
class Drift:
    """All skills of the older side, judged together."""

    older: str
    """The agent, or the versions, as people read them."""
    newer: str
    skills: tuple[SkillDrift, ...]
    notes: tuple[str, ...]


def agent_drift(bank: Bank, older: str, newer: str, *, suite: str | None = None, skill: str | None = None) -> Drift:
    """Which skills still help an agent that took another's place.

    Parameters:
        bank: Where the pairs of both are.
        older: The agent that was used so far.
        newer: The one that takes its place; it may have run nothing yet.
        suite: Only this suite.
        skill: Only this skill.

    Raises:
        InputError: The older agent has no pairs, the names are equal, or both have pairs and no suite in common.

    Examples:
        >>> [drift.verdict for drift in agent_drift(bank, "toy", "toy-2").skills]
        ['not enough evidence', 'not enough evidence']
    """
    if older == newer:
        raise InputError(f"both sides are {older}; name the agent before the update and the one after it")
    before = chosen_records(bank, older, suite)
    is_known = newer.split("@")[0] in {agent.name for agent in bank.agents()}
    after = chosen_records(bank, newer, suite) if is_known else []
    notes = [] if is_known else [f"{newer} has not run anything yet, so every gain is that of {older}"]
    suites = {panel.suite for panel in before} & {panel.suite for panel in after}
    if is_known and after and not suites:
        raise InputError(f"{older} and {newer} have no suite in common; collect a suite that both can run")
    if suites and (alone := sorted({panel.suite for panel in before} - suites)):
        notes.append(f"left out, because only {older} ran it: {', '.join(alone)}")
        before = [panel for panel in before if panel.suite in suites]
    old_pairs = _pairs(before)
    new_pairs = [pair for pair in _pairs(after) if not suites or pair.suite in suites]
    common = {(pair.suite, pair.task_id) for pair in old_pairs} & {(pair.suite, pair.task_id) for pair in new_pairs}
    if new_pairs:
        notes.append(f"{plural(len(common), 'task')} were run by both")
    return Drift(older, newer, _judged(old_pairs, new_pairs, skill), tuple(notes))


def version_drift(bank: Bank, *, agent: str | None = None, suite: str | None = None, skill: str | None = None) -> Drift:
    """Which skills still help after they were edited: the newest version against the one before it.

    Raises:
        InputError: No skill has pairs of two versions.

    Examples:
        >>> version_drift(bank)
        Traceback (most recent call last):
        skilldelta.errors.InputError: no skill has pairs of two versions; collect the edited skill first
    """
    before: list[Pair] = []
    after: list[Pair] = []
    for panel in chosen_records(bank, agent, suite):
        previous = _previous_digests(panel)
        before += [pair for pair in panel.pairing.stale if previous.get(pair.skill_id) == pair.skill_digest]
        after += panel.pairing.pairs
    if not before:
        raise InputError("no skill has pairs of two versions; collect the edited skill first")
    agents = {pair.agent.name for pair in before}
    if len(agents) > 1:
        raise InputError(f"the bank has edited skills of {len(agents)} agents; choose one: --agent {sorted(agents)[0]}")
    return Drift("the version before", "the newest version", _judged(before, after, skill), ())


def drift_to_dict(drift: Drift) -> dict[str, Any]:
    """What `skilldelta drift --json` prints."""
    return {
        "older": drift.older,
        "newer": drift.newer,
        "notes": list(drift.notes),
        "skills": [{**asdict(skill), "change": skill.change} for skill in drift.skills],
    }


def _pairs(panels: Iterable[PanelRecords]) -> list[Pair]:
    return [pair for panel in panels for pair in panel.pairing.pairs]


def _judged(before: Sequence[Pair], after: Sequence[Pair], skill: str | None) -> tuple[SkillDrift, ...]:
    older, newer = _by_skill(before), _by_skill(after)
    if skill is not None:
        if skill not in older:
            raise unknown_name("skill", skill, older)
        older = {skill: older[skill]}
    return drift_of_skills(older, newer)


def _by_skill(pairs: Iterable[Pair]) -> dict[str, Sequence[GainRow]]:
    skills: defaultdict[str, list[GainRow]] = defaultdict(list)
    for pair in pairs:
        # Families of two suites are two families, whatever they are called.
        skills[pair.skill_id].append(GainRow(f"{pair.suite}/{pair.family}", pair.gain))
    return dict(skills)


def _previous_digests(panel: PanelRecords) -> dict[str, str]:
    """The version before the newest of each skill: of those with stale pairs, the one that was run last."""
    stale = {(pair.skill_id, pair.skill_digest) for pair in panel.pairing.stale}
    return {
        run.skill_id: run.skill_digest
        for run in panel.executions
        if run.condition == "use" and (run.skill_id, run.skill_digest) in stale
    }
