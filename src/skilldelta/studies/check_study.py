"""A check of skills for CI: the gains that a bank or result files show, held against a bound and a stored baseline.

Others read its result as JSON, as JUnit XML in a CI system, or as Markdown in a pull request.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from skilldelta.bank.store import Bank
from skilldelta.errors import InputError, unknown_name
from skilldelta.evaluation.gain_checks import CheckOutcome, CheckSettings, GainCheck, check_change, check_gain
from skilldelta.nouns import plural
from skilldelta.pairing import pair_executions
from skilldelta.records import Agent, Execution, Pair
from skilldelta.report.check_words import OUTCOME_WORDS, check_sentence
from skilldelta.report.junit import JUnitCase, junit_xml
from skilldelta.report.markdown import code, details, pipe_table, plain
from skilldelta.report.numbers import points
from skilldelta.studies.compared_side import RecordedRuns, of_one_version
from skilldelta.studies.comparison_study import ComparedSides
from skilldelta.studies.gain_baseline import SkillGains, TaskGain
from skilldelta.studies.loaded_panel import EVERY_PANEL, PanelChoice, label_of, left_out, paired_records

_SIGNS = {"pass": "✅ holds", "fail": "❌ does not hold", "not enough evidence": "⚪ not enough evidence"}


@dataclass(frozen=True, slots=True)
class CheckedSkill:
    """What became of one skill, or of one that the baseline has and the results have not."""

    agent: str
    suite: str
    skill: str
    checks: tuple[GainCheck, ...]
    remarks: tuple[str, ...] = ()

    @property
    def outcome(self) -> CheckOutcome:
        """The worst of its checks; a skill without any could not be checked."""
        return _worst(check.outcome for check in self.checks)


@dataclass(frozen=True, slots=True)
class SkillsChecked:
    """Every skill of a check, and what the results left out."""

    skills: tuple[CheckedSkill, ...]
    settings: CheckSettings
    notes: tuple[str, ...] = ()

    @property
    def outcome(self) -> CheckOutcome:
        """`fail` where any skill fails, else `not enough evidence` where any lacks it."""
        return _worst(skill.outcome for skill in self.skills)


def _worst(outcomes: Iterable[CheckOutcome]) -> CheckOutcome:
    present = set(outcomes)
    if "fail" in present:
        return "fail"
    return "pass" if present == {"pass"} else "not enough evidence"


def bank_gains(bank: Bank, choice: PanelChoice = EVERY_PANEL, *, skill: str | None = None) -> tuple[SkillGains, ...]:
    """The gains of every skill that the bank has pairs of.

    Parameters:
        bank: An open bank.
        choice: The agent and the suite; None takes every one.
        skill: Only this skill.

    Returns:
        The gains, skill by skill.

    Examples:
        >>> [(one.skill, len(one.tasks)) for one in bank_gains(bank)]
        [('units-skill', 4), ('dates-skill', 4)]
    """
    agents = bank.agents()
    gains = []
    for panel in paired_records(bank, choice):
        texts = {pair.task_id: text for pair, text in zip(panel.pairing.pairs, panel.texts, strict=True)}
        gains += _by_skill(panel.pairing.pairs, label_of(panel.agent, agents), texts)
    return _only(gains, skill)


def recorded_gains(recorded: RecordedRuns, *, skill: str | None = None) -> tuple[SkillGains, ...]:
    """The gains of every skill that a result file has both arms of.

    Parameters:
        recorded: From `read_runs` or `bank_runs`.
        skill: Only this skill.

    Returns:
        The gains, skill by skill.

    Examples:
        >>> [one.agent for one in recorded_gains(bank_runs(bank), skill="units-skill")]
        ['toy']
    """
    recorded = of_one_version(recorded, skill)
    groups: defaultdict[tuple[Agent, str], list[Execution]] = defaultdict(list)
    for execution in recorded.executions:
        groups[execution.agent, execution.suite].append(execution)
    gains: list[SkillGains] = []
    for (agent, suite), runs in groups.items():
        pairing = pair_executions(runs, families={}, current_digests=recorded.versions)
        texts = {pair.task_id: recorded.tasks[suite, pair.task_id].text for pair in pairing.pairs}
        gains += _by_skill(pairing.pairs, agent.name, texts)
    if not gains:
        raise InputError(f"{recorded.label}: no task has counted runs with and without the skill{_lacking(recorded)}")
    return _only(gains, skill.partition("@")[0] if skill else None)


def version_gains(recorded: RecordedRuns, version: str, *, skill: str | None = None) -> tuple[SkillGains, ...]:
    """The gains of an earlier version of each skill; "previous" is the one before the newest.

    Examples:
        >>> version_gains(bank_runs(bank), "previous")
        Traceback (most recent call last):
        skilldelta.errors.InputError: bank: no skill has an earlier version to be held against
    """
    gains: list[SkillGains] = []
    for name, order in recorded.order.items():
        if skill is not None and name != skill.partition("@")[0]:
            continue
        if version == "previous" and len(order) < 2:
            continue
        chosen = recorded.version_names.get(order[-2], order[-2]) if version == "previous" else version
        runs = [run for run in recorded.executions if run.skill_id == name or run.condition == "skip"]
        gains += recorded_gains(replace(recorded, executions=runs), skill=f"{name}@{chosen}")
    if not gains:
        raise InputError(f"{recorded.label}: no skill has an earlier version to be held against")
    return tuple(gains)


def recorded_notes(recorded: RecordedRuns) -> tuple[str, ...]:
    """What of a result file is not part of any pair, in words.

    Parameters:
        recorded: From `read_runs` or `bank_runs`.

    Returns:
        One sentence for each kind of run that is left out.

    Examples:
        >>> recorded_notes(bank_runs(bank))
        ()
    """
    recorded = of_one_version(recorded)
    return (*recorded.notes, *left_out(pair_executions(recorded.executions, families={})))


def compared_gains(compared: ComparedSides, skill: str) -> tuple[SkillGains, ...]:
    """The differences of a comparison as the gains of one skill: two files of one arm each.

    Parameters:
        compared: From `compare_sides`.
        skill: The name that the gains get.

    Returns:
        The gains of that one skill.

    Examples:
        >>> compared_gains(compare_sides(*both_arms(bank_runs(bank))), "both")[0].tasks["units-0"].gain
        1.0
    """
    texts = {task_id: task.text for (_, task_id), task in compared.b.tasks.items()}
    tasks = {
        difference.task_id: TaskGain.of(difference.delta, texts.get(difference.task_id, ""))
        for difference in compared.comparison.differences
    }
    suite = next(iter(sorted(compared.b.suites)), "")
    return (SkillGains(compared.b.agent, suite, skill, tasks),)


def check_skills(
    measured: Sequence[SkillGains],
    settings: CheckSettings | None = None,
    *,
    baseline: Sequence[SkillGains] = (),
    notes: Sequence[str] = (),
) -> SkillsChecked:
    """Every skill against the bound and, where it is in the baseline, against its own former gains.

    Parameters:
        measured: From `bank_gains`, `recorded_gains` or `compared_gains`.
        settings: The bound, the confidence and what else decides; None is the default.
        baseline: Earlier gains, from `read_baseline`.
        notes: Printed with the outcome.

    Returns:
        The outcome of the whole and of each skill.

    Examples:
        >>> found = check_skills(bank_gains(bank))
        >>> [(one.skill, one.outcome) for one in found.skills]
        [('units-skill', 'not enough evidence'), ('dates-skill', 'not enough evidence')]
    """
    settings = settings or CheckSettings()
    rng = np.random.default_rng(settings.seed)
    before = {gains.key: gains for gains in baseline}
    checked = [_checked(gains, before.get(gains.key), settings, rng, bool(baseline)) for gains in measured]
    keys = {gains.key for gains in measured}
    lost = [
        CheckedSkill(gains.agent, gains.suite, gains.skill, (), ("in the baseline, and not among the results",))
        for gains in baseline
        if gains.key not in keys
    ]
    return SkillsChecked((*checked, *lost), settings, tuple(notes))


def checked_to_dict(checked: SkillsChecked) -> dict[str, Any]:
    """What `skilldelta check --json` prints.

    Parameters:
        checked: From `check_skills`.

    Returns:
        The document.

    Examples:
        >>> checked_to_dict(check_skills(bank_gains(bank)))["outcome"]
        'not enough evidence'
    """
    return {
        "outcome": checked.outcome,
        "settings": asdict(checked.settings),
        "skills": [_document(skill) for skill in checked.skills],
        "notes": list(checked.notes),
    }


def check_junit(checked: SkillsChecked, *, fail_on_too_little: bool = False) -> str:
    """The outcome as JUnit XML: one case for each rule of each skill.

    Parameters:
        checked: From `check_skills`.
        fail_on_too_little: Whether too little evidence is a failure; it is skipped otherwise.

    Returns:
        The XML.

    Examples:
        >>> check_junit(check_skills(bank_gains(bank))).count("<skipped")
        2
    """
    cases = [
        JUnitCase(f"{skill.agent}.{skill.suite}", f"{skill.skill}: {check.rule}", check.outcome, check_sentence(check))
        for skill in checked.skills
        for check in skill.checks
    ]
    cases += [
        JUnitCase(f"{skill.agent}.{skill.suite}", skill.skill, skill.outcome, "; ".join(skill.remarks))
        for skill in checked.skills
        if not skill.checks
    ]
    return junit_xml(cases, fail_on_too_little=fail_on_too_little)


def check_markdown(checked: SkillsChecked) -> str:
    """The outcome in Markdown: a line per skill, with the evidence behind a click.

    Parameters:
        checked: From `check_skills`.

    Returns:
        The Markdown.

    Examples:
        >>> check_markdown(check_skills(bank_gains(bank))).splitlines()[0]
        '### Skills: Not enough evidence'
    """
    several = len({(skill.agent, skill.suite) for skill in checked.skills}) > 1
    rows = [_row(skill, several) for skill in checked.skills]
    columns = ("skill", *(("agent", "suite") if several else ()), "outcome", "gain", "limits", "tasks")
    evidence = "".join(
        f"- {code(skill.skill)}: {plain('; '.join([*map(check_sentence, skill.checks), *skill.remarks]))}\n"
        for skill in checked.skills
    )
    settings = checked.settings
    question = f"Asked: a gain above {points(settings.min_gain)} points, at {100 * settings.confidence:g}% confidence for each skill."
    notes = "".join(f"- {plain(note)}\n" for note in checked.notes)
    return "\n".join(
        [
            f"### Skills: {OUTCOME_WORDS[checked.outcome]}\n",
            f"{plural(len(checked.skills), 'skill')} checked. {question}\n",
            pipe_table(columns, rows, left=4 if several else 2),
            details("Evidence", evidence),
            *([details("Left out", notes)] if notes else []),
        ]
    )


def _row(skill: CheckedSkill, several: bool) -> list[str]:
    where = [code(skill.agent), code(skill.suite)] if several else []
    gain = next((check for check in skill.checks if check.rule == "gain"), None)
    if gain is None:
        return [code(skill.skill), *where, _SIGNS[skill.outcome], "", "", ""]
    interval = gain.mean.interval
    limits = (
        "" if interval.low is None or interval.high is None else f"{points(interval.low)} to {points(interval.high)}"
    )
    return [code(skill.skill), *where, _SIGNS[skill.outcome], points(gain.mean.mean), limits, str(gain.mean.tasks)]


def _document(skill: CheckedSkill) -> dict[str, Any]:
    return {
        "agent": skill.agent,
        "suite": skill.suite,
        "skill": skill.skill,
        "outcome": skill.outcome,
        "checks": [
            {
                "rule": check.rule,
                "outcome": check.outcome,
                "sentence": check_sentence(check),
                "value": check.mean.mean,
                "tasks": check.mean.tasks,
                "limits": {**asdict(check.mean.interval), "confidence": check.confidence, "sides": "one"},
                "bound": check.bound,
                "more_tasks": check.more_tasks,
            }
            for check in skill.checks
        ],
        "remarks": list(skill.remarks),
    }


def _by_skill(pairs: Sequence[Pair], agent: str, texts: Mapping[str, str]) -> list[SkillGains]:
    by_skill: dict[tuple[str, str], dict[str, TaskGain]] = {}
    for pair in pairs:
        by_skill.setdefault((pair.suite, pair.skill_id), {})[pair.task_id] = TaskGain.of(pair.gain, texts[pair.task_id])
    return [SkillGains(agent, suite, skill, tasks) for (suite, skill), tasks in by_skill.items()]


def _only(gains: Iterable[SkillGains], skill: str | None) -> tuple[SkillGains, ...]:
    listed = tuple(gains)
    chosen = tuple(item for item in listed if skill in (None, item.skill))
    if not chosen:
        raise unknown_name("skill", str(skill), {item.skill for item in listed})
    return chosen


def _lacking(recorded: RecordedRuns) -> str:
    arms = {execution.condition for execution in recorded.executions}
    if len(arms) == 2:
        return "; both arms must be of the same tasks and agent"
    there = "with" if "use" in arms else "without"
    return f"; all its runs are {there} it: give the other arm, as --without FILE --with FILE"


def _checked(
    now: SkillGains,
    before: SkillGains | None,
    settings: CheckSettings,
    rng: np.random.Generator,
    has_baseline: bool,
) -> CheckedSkill:
    gains = np.array([one.gain for one in now.tasks.values()])
    checks = [check_gain(gains, settings, rng)]
    remarks = []
    if before is not None:
        shared = [task for task, one in now.tasks.items() if (old := before.tasks.get(task)) and old.text == one.text]
        changes = np.array([now.tasks[task].gain - before.tasks[task].gain for task in shared])
        checks.append(check_change(changes, settings, rng))
        if len(shared) < len(before.tasks):
            remarks.append(
                f"{len(before.tasks) - len(shared)} of {len(before.tasks)} tasks of the baseline are gone or changed"
            )
    elif has_baseline:
        remarks.append("not in the baseline yet")
    return CheckedSkill(now.agent, now.suite, now.skill, tuple(checks), tuple(remarks))
