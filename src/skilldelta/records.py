"""The nouns of SkillDelta: Task, Skill, Agent, Execution, Pair.

Frozen data without behavior beyond derived values. Reading and writing them is the bank's job, joining executions into
pairs is `pairing`'s.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from skilldelta.skill_folder import NO_FILES, FolderFiles, folder_digest

Condition = Literal["use", "skip", "listed"]
# The arms of a pair.
CONDITIONS: tuple[Condition, ...] = ("skip", "use")
# The third arm: the harness lists the skill and the model chooses. It is never part of a pair.
LISTED: Final = "listed"

Status = Literal["completed", "transport_error", "incomplete", "grader_error"]
STATUSES: tuple[Status, ...] = ("completed", "transport_error", "incomplete", "grader_error")


def text_digest(text: str) -> str:
    """SHA-256 of a text, the identity of a skill version and of an encoded question."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def bundle_name(skills: Sequence[str]) -> str:
    """The one name of a set of skills that are injected together: `a+b` in whatever order, and each of them once.

    A name that may itself hold a plus sign, such as `c++`, is left as it is.
    """
    parts: list[str] = []
    for skill in skills:
        split = [part.strip() for part in skill.split("+")]
        parts += split if all(split) else [skill]
    return "+".join(sorted(set(filter(None, parts))))


@dataclass(frozen=True, slots=True)
class Task:
    """One problem. An empty family means that none was recorded."""

    task_id: str
    text: str
    family: str = ""
    suite: str = "default"


@dataclass(frozen=True, slots=True)
class Skill:
    """One version of a supplied skill, or of a fixed bundle of skills. An empty digest means an unknown version."""

    skill_id: str
    text: str = ""
    digest: str = ""
    """Of the whole folder: of the text, and of `files` where there are any."""
    files: str = ""
    """The other files of its folder, one `SHA-256  path` per line."""
    sketch: str = ""
    """Of the whole folder, where it has other files: how much of it a later version changed is told from that."""

    @classmethod
    def from_text(cls, skill_id: str, text: str, beside: FolderFiles = NO_FILES) -> Skill:
        """The skill whose injected text is `text`, with the files `beside` it."""
        return cls(skill_id, text, folder_digest(text_digest(text), beside.listing), *beside)


@dataclass(frozen=True, slots=True)
class Agent:
    """Model, harness and settings under one name. Outcomes are never pooled across agents."""

    name: str
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Execution:
    """One run of one task under one condition, as it happened.

    `success` is None unless the run was completed and graded. A `skip` execution without a skill serves as the baseline
    of every skill of its task; one with a skill belongs to that skill's pair only. `loaded` says of a `listed` execution
    whether the model loaded the skill; None is unknown.
    """

    agent: Agent
    suite: str
    task_id: str
    condition: Condition
    repetition: int
    success: float | None
    skill_id: str = ""
    skill_digest: str = ""
    tokens: float | None = None
    seconds: float | None = None
    cost_usd: float | None = None
    status: Status = "completed"
    loaded: bool | None = None


@dataclass(frozen=True, slots=True)
class Pair:
    """A task's counted executions under both conditions (the paper's D_i with its repetitions)."""

    agent: Agent
    suite: str
    task_id: str
    family: str
    skill_id: str
    skill_digest: str
    y0: float
    y1: float
    r0: int
    r1: int
    tokens0: float | None = None
    tokens1: float | None = None

    @property
    def gain(self) -> float:
        """The observed paired gain D = y1 - y0."""
        return self.y1 - self.y0


@dataclass(frozen=True, slots=True)
class Judgement:
    """An agent's own answer to "would you use this skill for this task?"."""

    agent: Agent
    suite: str
    task_id: str
    skill_id: str
    skill_digest: str
    use: bool
    tokens: float | None = None
    answer: str = ""
