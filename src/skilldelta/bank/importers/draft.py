"""The batch that an import is building: tasks, skills and executions in file order, contradictions refused."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from pathlib import Path

from skilldelta.bank.batch import Batch, TextVector
from skilldelta.bank.importers.fields import shown
from skilldelta.bank.importers.source import Place, RowError, fault
from skilldelta.nouns import plural
from skilldelta.records import Agent, Execution, Skill, Task


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the person who imports says for what the file does not."""

    agent: str = ""
    skill: str = ""
    suite: str = ""


@dataclass(slots=True)
class Draft:
    """Collects the rows of one source. `batch` closes it."""

    path: Path
    defaults: Defaults
    executions: list[Execution] = field(default_factory=list)
    vectors: list[TextVector] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _tasks: dict[tuple[str, str], Task] = field(default_factory=dict)
    _task_places: dict[tuple[str, str], Place] = field(default_factory=dict)
    _skills: dict[tuple[str, str], Skill] = field(default_factory=dict)
    _agents: dict[tuple[str, str], Agent] = field(default_factory=dict)
    _seen: dict[Hashable, Place] = field(default_factory=dict)

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
        skill_id = skill_id or self.defaults.skill
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
        known = self._tasks.get(key)
        if known is None:
            self._tasks[key] = Task(task_id, text, family, suite)
            self._task_places[key] = place
        elif known.text != text or known.family != family:
            self._tasks[key] = replace(
                known,
                text=self._agreed(key, "text", known.text, text),
                family=self._agreed(key, "family", known.family, family),
            )

    def once(self, place: Place, key: Hashable, what: Callable[[], str]) -> None:
        """Refuse a second row with the same key; `what` names it then."""
        if key in self._seen:
            raise RowError(f"{what()} stands at {_at(self._seen[key])} already; keep one of the two rows")
        self._seen[key] = place

    def batch(self, *, text_from_id: bool = False) -> Batch:
        """Everything recorded. A task without a text is refused, or named by its id where the format has no texts."""
        textless = [key for key, task in self._tasks.items() if not task.text]
        for key in textless:
            if not text_from_id:
                message = f'the task {shown(key[1])} has no text in any row; add a "text" column (or "question")'
                raise fault(self.path, self._task_places[key], message)
            self._tasks[key] = replace(self._tasks[key], text=key[1])
        if textless:
            self.notes.append(
                f"{plural(len(textless), 'task has', 'tasks have')} no text in the file; the id stands in for it"
            )
        return Batch(
            tasks=tuple(self._tasks.values()),
            skills=tuple(self._skills.values()),
            executions=tuple(self.executions),
            vectors=tuple(self.vectors),
            notes=tuple(self.notes),
        )

    def _agreed(self, key: tuple[str, str], name: str, known: str, value: str) -> str:
        if known and value and known != value:
            raise RowError(
                f"the task {shown(key[1])} has another {name} at {_at(self._task_places[key])}: "
                f"{shown(known)}, here {shown(value)}; give different tasks different ids"
            )
        return known or value


def _at(place: Place) -> str:
    return f"line {place}" if isinstance(place, int) else place
