"""The batch that an import is building: tasks, skills and executions in file order, contradictions refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from skilldelta.bank.batch import Batch, TextVector
from skilldelta.bank.importers.source import RowError
from skilldelta.errors import shown
from skilldelta.files import Place, fault
from skilldelta.nouns import plural
from skilldelta.records import Agent, Condition, Execution, Skill, Task, bundle_name

PairBy = Literal["task", "name"]


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the person who imports says for what the file does not."""

    agent: str = ""
    skill: str = ""
    suite: str = ""
    condition: Condition | None = None
    repetitions: int | None = None
    """Runs behind each mean, where a pair holds means."""
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Fields to the columns that hold them."""
    arms: Mapping[str, str] = field(default_factory=dict)
    """A tool's words for its arms to use, skip or leave-out."""
    arm_from: str = ""
    """The field that says the arm, such as metadata.arm, where a tool has no field of its own for it."""
    agents: Mapping[str, str] = field(default_factory=dict)
    """Agents as a tool's files name them to their names in the bank."""
    skills: Mapping[str, str] = field(default_factory=dict)
    """Skills as a tool's files name them to their names in the bank."""
    score: str = ""
    """Which of several scores counts."""
    pair_by: PairBy = "task"
    """Whether tasks of one name and different content are different tasks, or one."""
    newest: str = ""
    """Which version of the skill is the newest, where the files do not tell."""
    scale: float = 1.0
    """What a full success is in the files: 100 where they hold percentages."""
    sheet: str = ""
    """Which sheet of a workbook, by name or by number from 1; the first where it is empty."""

    def or_else(self, other: Defaults) -> Defaults:
        """The same, with another's agent, skill, suite and condition where this says none."""
        return replace(
            self,
            agent=self.agent or other.agent,
            skill=self.skill or other.skill,
            suite=self.suite or other.suite,
            condition=self.condition or other.condition,
        )

    @property
    def given(self) -> frozenset[str]:
        """The fields that are said here."""
        names = ("agent", "skill", "suite", "condition", "repetitions")
        return frozenset(name for name in names if getattr(self, name))


@dataclass(slots=True)
class Draft:
    """Collects the rows of one source. `batch` closes it."""

    path: Path
    defaults: Defaults
    executions: list[Execution] = field(default_factory=list)
    listed: list[Execution] = field(default_factory=list)
    vectors: list[TextVector] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _tasks: dict[tuple[str, str], Task] = field(default_factory=dict)
    _task_places: dict[tuple[str, str], Place] = field(default_factory=dict)
    _skills: dict[tuple[str, str], Skill] = field(default_factory=dict)
    _agents: dict[tuple[str, str], Agent] = field(default_factory=dict)
    _seen: dict[Hashable, Place] = field(default_factory=dict)
    _rows: dict[tuple[str, ...], int] = field(default_factory=dict)
    """Where the executions of a pair's last row begin."""
    _understood: dict[str, None] = field(default_factory=dict)
    _counts: Counter[str] = field(default_factory=Counter)

    def agent(self, name: str, fingerprint: str = "") -> Agent:
        """The agent of a row, or the one named at the import."""
        name = name or self.defaults.agent
        if not name:
            raise RowError('there is no agent; add an "agent" column, or say --agent NAME at the import')
        agent = self._agents.get((name, fingerprint))
        if agent is None:
            agent = self._agents[name, fingerprint] = Agent(name, fingerprint)
        return agent

    def skill(self, skill_id: str, digest: str = "") -> str:
        """The skill of a row, or the one named at the import."""
        skill_id = skill_id or bundle_name([self.defaults.skill])
        if not skill_id:
            raise RowError('there is no skill; add a "skill" column, or say --skill NAME at the import')
        if (skill_id, digest) not in self._skills:
            self._skills[skill_id, digest] = Skill(skill_id, "", digest)
        return skill_id

    def suite(self, name: str) -> str:
        """The suite of a row, or the one named at the import, or "default"."""
        return name or self.defaults.suite or "default"

    def task(self, place: Place, suite: str, task_id: str, *, text: str, family: str) -> None:
        """Record a task; what one row leaves out another may say, but two rows must not disagree."""
        if not task_id:
            raise RowError("there is no task id; give every row one")
        key = (suite, task_id)
        task = self._tasks.get(key)
        if task is None:
            self._tasks[key] = Task(task_id, text, family, suite)
            self._task_places[key] = place
        elif task.text != text or task.family != family:
            self._tasks[key] = replace(
                task,
                text=self._agreed(key, "text", task.text, text),
                family=self._agreed(key, "family", task.family, family),
            )

    def once(self, place: Place, key: Hashable, message: Callable[[str], str]) -> None:
        """Refuse a second row with the same key; `said` tells where the first stands, and how to keep both."""
        if key in self._seen:
            raise RowError(message(_at(self._seen[key])))
        self._seen[key] = place

    def first_repetition(self, key: tuple[str, ...]) -> int:
        """Where the repetitions of a pair's next row start: a task that stands in several rows was run several times."""
        return 1 + max((e.repetition for e in self._last_row(key)), default=-1) if key in self._rows else 0

    def take_repetitions(self, key: tuple[str, ...], executions: Sequence[Execution]) -> None:
        """Add one row of a pair. Rows that repeat the one before to the token are counted: they may be copies."""
        if not executions:
            return
        if key in self._rows:
            self._counts["rows of repetitions"] += 1
            self._counts["rows that may be copies"] += _observed(self._last_row(key)) == _observed(executions) != []
        self._rows[key] = len(self.executions)
        self.executions += executions

    def _last_row(self, key: tuple[str, ...]) -> list[Execution]:
        begin = end = self._rows[key]
        while end < len(self.executions) and _pair_of(self.executions[end]) == key:
            end += 1
        return self.executions[begin:end]

    def read_as(self, value: str, meaning: str) -> None:
        """Say once that a value of the file was understood."""
        self._understood.setdefault(f"took {value} as {meaning}")

    def count(self, what: str) -> None:
        """Count something that the notes will say once."""
        self._counts[what] += 1

    def batch(self, *, text_from_id: bool = False) -> Batch:
        """Everything recorded. A task without a text is refused, or named by its id where the format has no texts."""
        textless = [key for key, task in self._tasks.items() if not task.text]
        for key in textless:
            if not text_from_id:
                message = (
                    f'the task {shown(key[1])} has no text in any row; add a "text" column (or say --map text=COLUMN)'
                )
                raise fault(self.path, self._task_places[key], message)
            self._tasks[key] = replace(self._tasks[key], text=key[1])
        if textless:
            self.notes.append(
                f"{plural(len(textless), 'task has', 'tasks have')} no text in the file; the id stands in for it"
            )
        self._add_counts()
        return Batch(
            tasks=tuple(self._tasks.values()),
            skills=tuple(self._skills.values()),
            executions=tuple(self.executions),
            listed=tuple(self.listed),
            vectors=tuple(self.vectors),
            notes=tuple(self.notes),
        )

    def _add_counts(self) -> None:
        self.notes.extend(self._understood)
        if self.listed:
            number = plural(len(self.listed), "execution")
            self.notes.append(f"{number} in which the harness listed the skill: kept beside the pairs")
        rows, copies = self._counts["rows of repetitions"], self._counts["rows that may be copies"]
        if rows:
            verb = "row names a pair", "rows name a pair"
            self.notes.append(f"{plural(rows, *verb)} that an earlier row has: taken as further repetitions")
        if copies:
            verb = (
                "has the tokens and outcomes of the row before it; if it is a copy",
                "have the tokens and outcomes of the row before them; if they are copies",
            )
            self.notes.append(f"{plural(copies, f'of them {verb[0]}', f'of them {verb[1]}')}, import a file without")
        for name in ("tokens", "seconds", "cost_usd", "tokens0", "tokens1"):
            if bad := self._counts[f"unreadable {name}"]:
                self.notes.append(f"{plural(bad, 'value')} of {name} cannot be read as a number and is left out")
        if ragged := self._counts["ragged tokens"]:
            self.notes.append(
                f"{plural(ragged, 'list of tokens has', 'lists of tokens have')} another length than the successes; "
                "those tokens are unknown"
            )
        if means := self._counts["means of unknown spread"]:
            self.notes.append(
                f"{plural(means, 'mean is', 'means are')} none of successes and failures: every repetition carries the "
                "mean, and the noise floor and the curve over repetitions say nothing about them"
            )

    def _agreed(self, key: tuple[str, str], name: str, current: str, value: str) -> str:
        if current and value and current != value:
            raise RowError(
                f"the task {shown(key[1])} has another {name} at {_at(self._task_places[key])}: "
                f"{shown(current)}, here {shown(value)}; give different tasks different ids"
            )
        return current or value


def _pair_of(e: Execution) -> tuple[str, ...]:
    return (e.suite, e.task_id, e.skill_id, e.skill_digest, e.agent.name, e.agent.fingerprint)


def _observed(executions: Sequence[Execution]) -> list[tuple[str, float | None, float]]:
    """What tells copies from repetitions; without tokens equal outcomes are common, and nothing can be told."""
    return [(e.condition, e.success, e.tokens) for e in executions if e.tokens is not None]


def _at(place: Place) -> str:
    return f"line {place}" if isinstance(place, int) else place
