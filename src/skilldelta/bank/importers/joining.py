"""Runs of another tool as tasks and executions: whose they are, which task is the same, which arm is which.

Runs belong to one pair when they agree in the task, in its digest where the tool has one or else its text, in the agent
and in the model. What has no outcome stays without; nothing missing becomes a failure. What the files do not say is asked
for, all of it at once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.tool_run import ARM_MEANINGS, ArmMeaning, ToolResults, ToolRun
from skilldelta.bank.importers.vocabulary import condition_of
from skilldelta.errors import InputError, shown
from skilldelta.nouns import plural
from skilldelta.records import Agent, Condition, Execution, Skill, Task, bundle_name, text_digest

_DIGEST_LENGTH = 10
_PLACEHOLDERS = frozenset(("unknown", "none", "null", "default", "n/a", "model", "model-name", "skill-name"))


@dataclass(frozen=True, slots=True)
class Unsaid:
    """Something that the files do not say."""

    about: Literal["agent", "skill", "arm"]
    name: str = ""
    """The arm's name."""
    guess: str = ""

    @property
    def option(self) -> str:
        """What answers it on the command line."""
        return f"--arm {self.name}=use|skip|leave-out" if self.about == "arm" else f"--{self.about} NAME"


@dataclass(frozen=True, slots=True)
class ReadNames:
    """Every arm, agent and skill of a source with its meaning, or the best guess at it; "" where there is none."""

    arms: Mapping[str, str]
    agents: Mapping[str, str]
    skills: Mapping[str, str]


class UnsaidError(InputError):
    """The files do not say everything that an import needs."""

    def __init__(self, path: Path, questions: Sequence[Unsaid], guess: ReadNames) -> None:
        self.questions = tuple(questions)
        self.guess = guess
        self.format = ""
        """The format that was taken, where it is known."""
        about = dict.fromkeys(question.about for question in questions)
        arms = [question.name for question in questions if question.about == "arm"]
        which = ", ".join(map(shown, arms[:6]))
        parts = [f"what the arm {which} means" if len(arms) == 1 else f"what the arms {which} mean"] if arms else []
        sentence = " and ".join([*(f"the {topic}" for topic in about if topic != "arm"), *parts])
        options = " ".join(question.option for question in questions[:6])
        super().__init__(
            f"{path}: the files do not say {sentence}; say {options}, or --write-mapping FILE to edit a guess"
        )

    def answered(self, defaults: Defaults, stand_ins: Defaults) -> Defaults | None:
        """What was said, with the open questions answered by what stands in; None where it does not answer all of them."""
        topics = {question.about for question in self.questions}
        if any(not getattr(stand_ins, "condition" if about == "arm" else about) for about in topics):
            return None
        arms = {question.name: str(stand_ins.condition) for question in self.questions if question.about == "arm"}
        return replace(
            defaults,
            agent=stand_ins.agent if "agent" in topics else defaults.agent,
            skill=stand_ins.skill if "skill" in topics else defaults.skill,
            arms={**defaults.arms, **arms},
        )


def is_placeholder(name: str) -> bool:
    """Whether a name stands for nothing, such as `<model-name>`, which a tool writes where it does not know better."""
    bare = name.strip().lower()
    return not bare or (bare.startswith("<") and bare.endswith(">")) or bare in _PLACEHOLDERS


def recorded_agent(agent: str, model: str) -> str:
    """The one name of an agent and its model as files say them: `claude-code@anthropic/some-model`."""
    parts = [part.strip() for part in (agent, model) if not is_placeholder(part)]
    return "@".join(dict.fromkeys(parts))


def join(path: Path, results: ToolResults, defaults: Defaults) -> tuple[Batch, ReadNames]:
    """The records of a tool's runs, and how its names were read; an `UnsaidError` asks for what is missing."""
    names = _answered(path, results, defaults)
    arms, skills = names.arms, names.skills
    for run in results.runs:
        if arms[run.arm] == "leave-out":
            results.leave_out(f"the arm {shown(run.arm)} is neither with nor without the skill", run.place)
        elif run.outcome is None:
            results.leave_out(run.reason or "no outcome is recorded", run.place)
    runs = [run for run in results.runs if arms[run.arm] != "leave-out"]
    if not runs:
        raise InputError(f"{path}: no run of an arm that counts; say what the arms mean with --arm NAME=use|skip")
    tasks = _Tasks(path, defaults)
    executions = _executions(runs, names, tasks)
    _check_agents(path, executions, defaults)
    named = dict.fromkeys((e.skill_id, e.skill_digest) for e in executions if e.skill_id)
    if not results.versions:
        _check_versions(path, named)
    renamed = (replace(one, skill_id=skills.get(one.skill_id, one.skill_id)) for one in results.skills)
    texts = list(dict.fromkeys(one for one in renamed if (one.skill_id, one.digest) in named))
    with_text = {(skill.skill_id, skill.digest) for skill in texts}
    bare = [Skill(skill_id, "", digest) for skill_id, digest in named if (skill_id, digest) not in with_text]
    versions = [digest for listed in results.versions.values() for digest in listed]
    # The version that arrives last is the current one.
    skills_in_order = sorted(
        (*texts, *bare), key=lambda one: versions.index(one.digest) if one.digest in versions else -1
    )
    return Batch(tasks.listed(), tuple(skills_in_order), tuple(executions), notes=tuple(tasks.notes())), names


def _answered(path: Path, results: ToolResults, defaults: Defaults) -> ReadNames:
    """What every arm, agent and skill of the files is in the bank."""
    questions: list[Unsaid] = []
    arms = _arms(results, defaults, questions)
    used = [run for run in results.runs if arms.get(run.arm, "use") != "leave-out"]
    recorded = dict.fromkeys(recorded_agent(run.agent, run.model) for run in used)
    agents = _named(path, "agent", list(recorded), defaults.agents, defaults.agent, questions)
    skills_used = dict.fromkeys(run.skill for run in used if arms.get(run.arm) == "use")
    skills = _named(
        path, "skill", list(skills_used), defaults.skills, bundle_name([defaults.skill]), questions, results.skill_guess
    )
    if questions:
        guesses = {question.name: question.guess for question in questions if question.about == "arm"}
        named_skills = {name: value or results.skill_guess for name, value in skills.items()}
        raise UnsaidError(path, questions, ReadNames({**arms, **guesses}, agents, named_skills))
    return ReadNames(arms, agents, skills)


def _arms(results: ToolResults, defaults: Defaults, questions: list[Unsaid]) -> dict[str, ArmMeaning]:
    names = dict.fromkeys(run.arm for run in results.runs)
    unknown = sorted(defaults.arms.keys() - names.keys())
    if unknown and results.runs and not any(name in defaults.arms for name in names):
        raise InputError(f"--arm {unknown[0]}: there is no such arm; the arms are {', '.join(map(shown, names))}")
    arms: dict[str, ArmMeaning] = {}
    for name in names:
        meaning = defaults.arms.get(name) or defaults.condition or results.arms.get(name) or condition_of(name)
        if meaning is None:
            questions.append(Unsaid("arm", name, _guessed_arm(name)))
            arms[name] = "use"
        else:
            arms[name] = _meaning(name, meaning)
    return arms


def _guessed_arm(name: str) -> ArmMeaning:
    """What an arm may mean that nobody would bet on: an old version is a baseline, a new one or anything about skills not."""
    words = name.lower()
    if any(word in words for word in ("old", "previous", "base", "default", "plain", "none", "without", "no_", "no-")):
        return "skip"
    return "use" if any(word in words for word in ("new", "skill", "candidate", "with")) else "leave-out"


def _meaning(name: str, meaning: str) -> ArmMeaning:
    for known in ARM_MEANINGS:
        if meaning.replace(" ", "-").replace("_", "-") == known:
            return known
    raise InputError(f"--arm {name}={meaning}: an arm is one of {', '.join(ARM_MEANINGS)}")


def _named(
    path: Path,
    about: Literal["agent", "skill"],
    recorded: list[str],
    mapping: Mapping[str, str],
    name_given: str,
    questions: list[Unsaid],
    guess: str = "",
) -> dict[str, str]:
    """Names in the files to names in the bank: by the mapping, by the one option, or as they are."""
    open_ones = [name for name in recorded if name not in mapping]
    several = [name for name in open_ones if name]
    if name_given and len(several) > 1 and "" not in open_ones:
        raise InputError(
            f"{path}: --{about} {name_given} names one {about}, and the files name {len(several)} "
            f"({', '.join(map(shown, several[:4]))}); leave the option out, or give each a name with --write-mapping FILE"
        )
    mapped = {name: mapping[name] for name in recorded if name in mapping}
    for name in open_ones:
        # The option fills in what is missing; where nothing is and there is one name only, it is that one's name here.
        answer = (name or name_given) if len(several) > 1 or "" in open_ones else name_given or name
        if not answer:
            questions.append(Unsaid(about, guess=guess))
        mapped[name] = answer
    return mapped


class _Tasks:
    """The tasks in order of appearance. One name with different contents is different tasks, unless told otherwise."""

    def __init__(self, path: Path, defaults: Defaults) -> None:
        self._path = path
        self._said = defaults
        self._tasks: dict[tuple[str, str], Task] = {}
        self._contents: defaultdict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        self._digests: dict[str, str] = {}
        self._conditions: defaultdict[tuple[str, str], set[Condition]] = defaultdict(set)

    def prepare(self, runs: Iterable[ToolRun]) -> None:
        """Learn which names have several contents."""
        for run in runs:
            if content := run.task_digest or run.text:
                self._contents[self._suite(run), run.task].setdefault(content)

    def key(self, run: ToolRun, condition: Condition) -> tuple[str, str]:
        """The suite and id of a run's task, which is recorded."""
        suite = self._suite(run)
        task_id = run.task
        if self._said.pair_by == "task":
            if run.task_digest:
                task_id = f"{run.task}@{run.task_digest.rpartition(':')[2][:_DIGEST_LENGTH]}"
            elif run.text and len(self._contents[suite, run.task]) > 1:
                task_id = f"{run.task}@{self._text_digest(run.text)[:_DIGEST_LENGTH]}"
        key = (suite, task_id)
        self._conditions[key].add(condition)
        task = self._tasks.get(key)
        if task is None:
            self._tasks[key] = Task(task_id, run.text, run.family, suite)
        elif (run.text and task.text != run.text and (not task.text or condition == "skip")) or (
            run.family and not task.family
        ):
            # Where tasks are joined by name only, the text without the skill is the task's.
            self._tasks[key] = replace(task, text=run.text or task.text, family=task.family or run.family)
        return key

    def listed(self) -> tuple[Task, ...]:
        """All tasks; one without a text is called by its id."""
        return tuple(task if task.text.strip() else replace(task, text=task.task_id) for task in self._tasks.values())

    def notes(self) -> list[str]:
        textless = sum(not task.text.strip() for task in self._tasks.values())
        several = [name for (_, name), contents in self._contents.items() if len(contents) > 1]
        notes = []
        listed = ", ".join(map(shown, several[:3])) + (", …" if len(several) > 3 else "")
        if several and self._said.pair_by == "task":
            verb = plural(len(several), "task has", "tasks have")
            # Where each version has both arms, joining them would only mix two tasks.
            is_split = any(
                len(arms) < 2 for (_, name), arms in self._conditions.items() if name.partition("@")[0] in several
            )
            hint = "; --pair-by name joins them" if is_split else ""
            notes.append(f"{verb} several versions ({listed}), which are kept apart{hint}")
        elif several:
            count = plural(len(several), "task", "tasks")
            notes.append(f"{count} of several versions joined by name ({listed}), as --pair-by name says")
        if textless:
            notes.append(f"{plural(textless, 'task has', 'tasks have')} no text in the files; the id stands in for it")
        return notes

    def _suite(self, run: ToolRun) -> str:
        return self._said.suite or run.suite or "default"

    def _text_digest(self, text: str) -> str:
        if text not in self._digests:
            self._digests[text] = text_digest(text)
        return self._digests[text]


def _executions(runs: Sequence[ToolRun], names: ReadNames, tasks: _Tasks) -> list[Execution]:
    tasks.prepare(runs)
    agents: dict[tuple[str, str], Agent] = {}
    executions: list[Execution] = []
    for run in runs:
        is_use = names.arms[run.arm] == "use"
        condition: Condition = "use" if is_use else "skip"
        suite, task_id = tasks.key(run, condition)
        who = (run.agent, run.model)
        agent = agents.get(who)
        if agent is None:
            agent = agents[who] = Agent(names.agents[recorded_agent(*who)])
        executions.append(
            Execution(
                agent,
                suite,
                task_id,
                condition,
                -1 if run.repeat is None else run.repeat,
                run.outcome if run.status == "completed" else None,
                names.skills.get(run.skill, run.skill) if is_use or run.is_own_baseline else "",
                run.skill_digest if is_use or run.is_own_baseline else "",
                run.tokens,
                run.seconds,
                run.cost_usd,
                run.status,
            )
        )
    return _numbered(executions)


def _numbered(executions: list[Execution]) -> list[Execution]:
    """Repetitions as recorded where they tell the runs of an arm apart, else counted from 0 in the files' order."""
    arms: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for position, e in enumerate(executions):
        arms[e.agent.name, e.suite, e.task_id, e.skill_id, e.skill_digest, e.condition].append(position)
    for positions in arms.values():
        numbers = Counter(executions[position].repetition for position in positions)
        if -1 not in numbers and len(numbers) == len(positions):
            continue
        for number, position in enumerate(positions):
            executions[position] = replace(executions[position], repetition=number)
    return executions


def _check_versions(path: Path, named: Iterable[tuple[str, str]]) -> None:
    """Refuse two versions of one skill in one source: their mean gain would be the gain of neither."""
    versions: defaultdict[str, list[str]] = defaultdict(list)
    for skill, digest in named:
        versions[skill].append(digest)
    for skill, digests in versions.items():
        if len(digests) > 1:
            shortened = ", ".join(digest.rpartition(":")[2][:12] or "unknown" for digest in digests[:4])
            raise InputError(
                f"{path}: the skill {shown(skill)} was run in {len(digests)} versions ({shortened}); import the runs of each "
                "version by itself"
            )


def _check_agents(path: Path, executions: Sequence[Execution], defaults: Defaults) -> None:
    """Refuse arms of different agents or models: their difference would be called the skill's."""
    if defaults.condition:
        return
    conditions: defaultdict[str, set[Condition]] = defaultdict(set)
    for e in executions:
        conditions[e.agent.name].add(e.condition)
    only = {
        condition: [name for name, held in conditions.items() if held == {condition}] for condition in ("use", "skip")
    }
    if only["use"] and only["skip"]:
        raise InputError(
            f"{path}: the arm with the skill was run by {shown(only['use'][0])} and the arm without by "
            f"{shown(only['skip'][0])}; arms of different agents or models are not paired: run both with one, or give "
            "them one name with --write-mapping FILE if they are the same"
        )
