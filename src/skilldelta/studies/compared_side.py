"""One side of a comparison: the runs of one agent under one condition, by task, whatever they were read from.

A side is a file, a folder or a batch of which one arm is taken, or an agent, a skill or a version of a skill in a bank.
Nothing is pooled: a side that holds several agents, or several skills for one task, is refused with their names.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from pathlib import Path

from skilldelta.bank.importers import Defaults, Source, read_any
from skilldelta.bank.importers.source_reading import left_out_lines
from skilldelta.bank.store import Bank
from skilldelta.errors import InputError
from skilldelta.nouns import plural
from skilldelta.pairing import is_counted
from skilldelta.records import Agent, Condition, Execution, Task
from skilldelta.studies.loaded_panel import chosen_records, label_of

# Suite and task id.
TaskKey = tuple[str, str]

# Agent or skill of a file that does not say; a comparison of two files need not know.
UNNAMED = "unnamed"
_NAMED = 4


@dataclass(frozen=True, slots=True)
class ArmChoice:
    """Which runs of a source a side is about; None takes what there is, as long as it is one."""

    agent: str | None = None
    skill: str | None = None
    """A skill, or one version of it as `name@digest-prefix`."""
    suite: str | None = None
    condition: Condition | None = None


EVERYTHING = ArmChoice()


@dataclass(frozen=True, slots=True, eq=False)
class ComparedSide:
    """The runs of a side by task, counted or not, in order of repetition."""

    label: str
    agent: str
    condition: Condition
    runs: Mapping[TaskKey, Sequence[Execution]]
    tasks: Mapping[TaskKey, Task]
    notes: tuple[str, ...] = ()

    @property
    def suites(self) -> set[str]:
        """The suites that its tasks are of."""
        return {suite for suite, _ in self.runs}


@dataclass(frozen=True, slots=True, eq=False)
class RecordedRuns:
    """Executions and their tasks, out of a file or a bank, before sides are taken."""

    label: str
    executions: Sequence[Execution]
    tasks: Mapping[TaskKey, Task]
    versions: Mapping[str, str] = field(default_factory=dict)
    """Skills to the digest of their current version, where the source knows."""
    order: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Skills to the digests of their versions, oldest first, where the source holds several."""
    unsure_newest: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Skills whose newest version the source does not tell, to their versions."""
    version_names: Mapping[str, str] = field(default_factory=dict)
    """Digests to what the source calls the version."""
    notes: tuple[str, ...] = ()
    is_of_one_agent: bool = False
    """Whether an agent was chosen when the runs were read, under whatever name."""


def read_runs(
    path: Path | Source,
    *,
    format: str = "auto",
    choice: ArmChoice = EVERYTHING,
    stands_for: Condition | None = None,
    defaults: Defaults | None = None,
) -> RecordedRuns:
    """What a result file or folder of any known format holds.

    Parameters:
        path: The file or folder.
        format: One of the formats of `skilldelta import`; `auto` recognizes it.
        choice: Which runs are meant; its agent and skill fill in what the files leave out.
        stands_for: The condition of runs that do not say theirs, as in a log of one arm.
        defaults: What a person says about the files.

    Returns:
        The runs.

    Raises:
        InputError: The files cannot be understood; the message says what to add.

    Examples:
        >>> _ = (folder / "arm.jsonl").write_text('{"task_id": "t", "text": "two miles?", "success": 1}')
        >>> len(read_runs(folder / "arm.jsonl", stands_for="use").executions)
        1
    """
    source = path if isinstance(path, Source) else Source(Path(path))
    skill = choice.skill.partition("@")[0] if choice.skill else UNNAMED
    stand_ins = Defaults(choice.agent or UNNAMED, skill, condition=stands_for)
    reading = read_any(source, defaults, format=format, stand_ins=stand_ins)
    label = source.path.name or str(source.path)
    order = {name: list(digests) for name, digests in reading.versions.items()}
    unsure = dict(reading.unsure_newest)
    for run in reading.executions:
        digests = order.setdefault(run.skill_id, []) if run.condition == "use" else [run.skill_digest]
        if run.skill_digest not in digests:  # versions of a table, which says nothing about their order
            digests.append(run.skill_digest)
            unsure |= {run.skill_id: digests} if len(digests) > 1 else {}
    return RecordedRuns(
        label,
        reading.executions,
        {(task.suite, task.task_id): task for task in reading.tasks},
        order=order,
        unsure_newest=unsure,
        version_names=reading.version_names,
        notes=tuple(f"{label}: {note}" for note in (*reading.notes, *left_out_lines(reading.left_out))),
    )


def of_one_version(recorded: RecordedRuns, skill: str | None = None) -> RecordedRuns:
    """The runs of one version of each skill: the one that `skill` names as `name@version`, else the newest.

    A task that the newest version was not run on keeps the runs of the latest version that has it, and a note says so.

    Examples:
        >>> of_one_version(bank_runs(bank)).notes
        ()
    """
    asked = skill.partition("@")[2] if skill else ""
    executions: list[Execution] = []
    carried: Counter[tuple[str, str]] = Counter()
    groups: dict[tuple[Agent, str, str, str], list[Execution]] = {}
    for run in recorded.executions:
        if run.condition == "skip" or run.skill_id not in recorded.order:
            executions.append(run)
        else:
            groups.setdefault((run.agent, run.suite, run.task_id, run.skill_id), []).append(run)
    for (_, _, _, name), runs in groups.items():
        order = list(recorded.order[name])
        if asked:
            executions += [run for run in runs if run.skill_digest == _version_called(asked, name, recorded)]
            continue
        if name in recorded.unsure_newest and len({run.skill_digest for run in runs}) > 1:
            raise _newest_question(recorded, name)
        # Of versions that have a counted run of the task, the last one; without any, the last one at all.
        counted = {run.skill_digest for run in runs if is_counted(run)} or {run.skill_digest for run in runs}
        chosen = max(counted, key=order.index)
        executions += [run for run in runs if run.skill_digest == chosen]
        if chosen != order[-1]:
            carried[name, recorded.version_names.get(chosen, chosen)] += 1
    notes = [
        f"{recorded.label}: {plural(count, 'task was', 'tasks were')} not run with the newest version of {name}; the runs of "
        f"{version} stand in for {'it' if count == 1 else 'them'}"
        for (name, version), count in carried.items()
    ]
    return replace(recorded, executions=executions, order={}, unsure_newest={}, notes=(*recorded.notes, *notes))


def _version_called(version: str, skill: str, recorded: RecordedRuns) -> str:
    """The digest of the version that a person names: by its name, or by the beginning of its digest."""
    names = {recorded.version_names.get(digest, digest): digest for digest in recorded.order[skill]}
    matches = (
        [names[version]] if version in names else [one for one in recorded.order[skill] if one.startswith(version)]
    )
    if len(matches) != 1:
        choices = _some([f"{skill}@{name}" for name in names])
        raise InputError(f"'{skill}@{version}' names {len(matches)} versions; say --skill {choices}")
    return matches[0]


def _newest_question(recorded: RecordedRuns, skill: str) -> InputError:
    versions = recorded.unsure_newest[skill]
    return InputError(
        f"{recorded.label}: {len(versions)} versions of {skill}, and no recorded time says which is the newest "
        f"({', '.join(versions)}); say --newest {versions[-1]}, or --skill {skill}@{versions[-1]} for one version alone"
    )


def bank_runs(bank: Bank, choice: ArmChoice = EVERYTHING) -> RecordedRuns:
    """The executions of a bank that fit a choice of agent and suite, with the version that each counts as.

    Parameters:
        bank: An open bank.
        choice: Which executions are meant.

    Returns:
        The runs.

    Examples:
        >>> len(bank_runs(bank).executions)
        16
    """
    panels, agents = chosen_records(bank, choice.agent, choice.suite), bank.agents()
    return RecordedRuns(
        label="bank",
        executions=[_labeled(run, agents) for records in panels for run in records.versioned],
        tasks={(task.suite, task.task_id): task for task in bank.tasks()},
        versions={skill.skill_id: skill.digest for skill in bank.skills() if skill.digest},
        is_of_one_agent=bool(choice.agent),
    )


def one_side(recorded: RecordedRuns, choice: ArmChoice = EVERYTHING, *, label: str = "") -> ComparedSide:
    """The runs under one condition: the one chosen, else the only one, else those with the skill.

    Parameters:
        recorded: From `read_runs` or `bank_runs`.
        choice: Which of the runs are meant.
        label: How the side is called; empty is made of what it holds.

    Returns:
        The side of a comparison.

    Examples:
        >>> one_side(bank_runs(bank), ArmChoice(skill="units-skill", condition="use")).agent
        'toy'
    """
    recorded = of_one_version(recorded, choice.skill)
    chosen = _chosen(recorded, choice)
    conditions = {run.condition for run in chosen}
    condition = choice.condition or ("use" if "use" in conditions else "skip")
    found = [run for run in chosen if run.condition == condition]
    if not found:
        raise InputError(f"{recorded.label}: no run {_CONDITION_WORDS[condition]}; choose the other --condition")
    if condition == "use":
        runs = _by_task(_current(found, recorded, choice))
        _check_one_skill(runs, recorded.label)
    else:
        runs = _by_task(_one_baseline(found, choice.skill))
    notes = recorded.notes
    if choice.condition is None and len(conditions) > 1:
        notes += (
            f"{recorded.label} holds both arms: its runs with the skill are compared; --condition skip takes the others",
        )
    return _side(recorded, runs, condition, label or recorded.label, notes)


def both_arms(recorded: RecordedRuns, choice: ArmChoice = EVERYTHING) -> tuple[ComparedSide, ComparedSide]:
    """Without the skill and with it: the two arms of one source, each task with the baseline of its own skill.

    Parameters:
        recorded: From `read_runs` or `bank_runs`.
        choice: Which of the runs are meant.

    Returns:
        The runs without the skill, and those with it.

    Examples:
        >>> without, treated = both_arms(bank_runs(bank))
        >>> without.label, len(treated.runs)
        ('bank without the skill', 8)
    """
    recorded = of_one_version(recorded, choice.skill)
    chosen = _chosen(recorded, choice)
    treated = _by_task(_current([run for run in chosen if run.condition == "use"], recorded, choice))
    if not treated:
        raise InputError(f"{recorded.label}: no run with the skill; name a second source to compare with")
    _check_one_skill(treated, recorded.label)
    skips = _by_task([run for run in chosen if run.condition == "skip"])
    if choice.skill:  # what was never run with this skill, and is nobody's baseline by name, is not about it
        skips = {key: runs for key, runs in skips.items() if key in treated or any(run.skill_id for run in runs)}
    if not skips:
        raise InputError(f"{recorded.label}: no run without the skill; name a second source to compare with")
    baselines = {key: _baseline(runs, treated.get(key, ())) for key, runs in skips.items()}
    return (
        _side(recorded, baselines, "skip", f"{recorded.label} without the skill", recorded.notes),
        _side(recorded, treated, "use", f"{recorded.label} with the skill", ()),
    )


_CONDITION_WORDS: Mapping[Condition, str] = {"use": "with the skill", "skip": "without the skill"}


def _labeled(execution: Execution, agents: Sequence[Agent]) -> Execution:
    return replace(execution, agent=Agent(label_of(execution.agent, agents), execution.agent.fingerprint))


def _chosen(recorded: RecordedRuns, choice: ArmChoice) -> list[Execution]:
    """What fits agent, skill and suite; a baseline fits any skill unless it belongs to another one."""
    skill = choice.skill.partition("@")[0] if choice.skill else None
    of_agent = [run for run in recorded.executions if choice.suite in (None, run.suite)]
    agent = None if recorded.is_of_one_agent else choice.agent
    runs = [
        run
        for run in of_agent
        if agent in (None, run.agent.name)
        and (skill in (None, run.skill_id) or (run.condition == "skip" and not run.skill_id))
    ]
    if not runs:
        raise InputError(f"{recorded.label}: no run fits {_words(choice)}")
    several = sorted({run.agent.name for run in runs})
    if len(several) > 1:
        raise InputError(
            f"{recorded.label} holds runs of {len(several)} agents, which are never pooled; say --agent {_some(several)}"
        )
    return runs


def _words(choice: ArmChoice) -> str:
    names = [("agent", choice.agent), ("skill", choice.skill), ("suite", choice.suite)]
    return ", ".join(f"{kind} {name!r}" for kind, name in names if name) or "the choice"


def _some(names: Sequence[str]) -> str:
    return " or ".join(names[:_NAMED]) + (" …" if len(names) > _NAMED else "")


def _current(runs: Sequence[Execution], recorded: RecordedRuns, choice: ArmChoice) -> list[Execution]:
    """The runs of one version per skill: the one that is named, else the current one, else the only one."""
    version = choice.skill.partition("@")[2] if choice.skill else ""
    current = []
    for skill in dict.fromkeys(run.skill_id for run in runs):
        own = [run for run in runs if run.skill_id == skill]
        digests = list(dict.fromkeys(run.skill_digest for run in own))
        choices = _some([f"{skill}@{digest[:8]}" for digest in digests if digest])
        if not recorded.versions:
            current += own  # `of_one_version` has chosen, task by task
            continue
        matches = [digest for digest in digests if digest.startswith(version)]
        if version and len(matches) != 1:
            raise InputError(f"{choice.skill!r} names {len(matches)} versions; say --skill {choices or skill}")
        if len(matches) > 1:
            matches = [digest for digest in matches if digest == recorded.versions.get(skill, "")]
            if not matches:
                raise InputError(f"{recorded.label} holds {len(digests)} versions of {skill}; say --skill {choices}")
        current += [run for run in own if run.skill_digest in matches]
    return current


def _check_one_skill(runs: Mapping[TaskKey, Sequence[Execution]], label: str) -> None:
    for (_, task_id), own in runs.items():
        skills = sorted({run.skill_id for run in own})
        if len(skills) > 1:
            raise InputError(
                f"{label}: the task {task_id!r} was run with {len(skills)} skills; say --skill {_some(skills)}"
            )


def _one_baseline(runs: Sequence[Execution], skill: str | None) -> list[Execution]:
    """Per task the baseline of the skill, or the shared one; of a task with baselines of many skills, the first."""
    baselines = []
    for own in _by_task(runs).values():
        name = (skill or "").partition("@")[0] or own[0].skill_id
        baselines += _preferred(own, name, "")
    return baselines


def _baseline(runs: Sequence[Execution], treated: Sequence[Execution]) -> list[Execution]:
    if not treated:
        return list(runs)
    return _preferred(runs, treated[0].skill_id, treated[0].skill_digest)


def _preferred(runs: Sequence[Execution], skill: str, digest: str) -> list[Execution]:
    """A baseline as `pairing` takes it: of this version, of this skill, shared, then of another version; counted first."""
    if len(runs) == 1:
        return list(runs)
    ranked = defaultdict(list)
    for run in runs:
        ranked[_rank(run, skill, digest)].append(run)
    for rank in sorted(ranked):
        if any(map(is_counted, ranked[rank])):
            return ranked[rank]
    return ranked[min(ranked)]


def _rank(run: Execution, skill: str, digest: str) -> int:
    if run.skill_id == skill:
        return 0 if run.skill_digest == digest else 1 if not run.skill_digest else 3
    return 2 if not run.skill_id else 4


def _by_task(runs: Iterable[Execution]) -> dict[TaskKey, list[Execution]]:
    by_task: dict[TaskKey, list[Execution]] = {}
    for run in runs:
        by_task.setdefault((run.suite, run.task_id), []).append(run)
    for own in by_task.values():
        if len(own) > 1:
            own.sort(key=attrgetter("repetition"))
    return by_task


def _side(
    recorded: RecordedRuns,
    runs: Mapping[TaskKey, Sequence[Execution]],
    condition: Condition,
    label: str,
    notes: tuple[str, ...],
) -> ComparedSide:
    agent = next((run.agent.name for own in runs.values() for run in own), "")
    return ComparedSide(label, agent, condition, runs, recorded.tasks, notes)
