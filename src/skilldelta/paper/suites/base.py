"""What a suite of the paper is: where its data come from, how they are read, how answers are graded, and what it counts.

One file per suite fills in a `PaperSuite`. `prepare` turns what a reader found into an ordinary suite folder, `inventory`
counts what such a folder holds, and the grader is one of the collector's. Nothing here downloads anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from skilldelta.collect.suite import AgentSettings
from skilldelta.evaluation.prospective.frozen_rule import FrozenRule

# How the use arm differs from the skip arm in every suite of the paper.
SKILL_PROMPT = "A skill that applies to this task:\n\n{skill}\n\n---\n\n{task}"


# Whose wording a suite is asked in: the authors', read from their checkouts, or the project's own.
Protocol = Literal["authors", "plain"]


@dataclass(frozen=True, slots=True)
class GivenFiles:
    """What a person has: the benchmark's data, skill texts, corpora for tools where the benchmark has some, checkouts."""

    data: Path
    skills: Path | None = None
    corpora: Path | None = None
    checkouts: tuple[Path, ...] = ()
    """Folders in which the authors' and benchmarks' repositories are looked for."""
    protocol: Protocol = "plain"
    examples: Literal["official", "compact"] = "official"
    """Which few-shot examples ToolQA's agent is shown under the authors' protocol."""


@dataclass(frozen=True, slots=True)
class SkillSheet:
    """One skill of a corpus. `tools` are functions that it brings along, as the corpus describes them."""

    skill_id: str
    description: str
    text: str
    tools: tuple[Mapping[str, Any], ...] = ()
    is_verbatim: bool = False
    """Whether blank ends of the text are part of it."""


@dataclass(frozen=True, slots=True)
class TaskSheet:
    """One task as a line of tasks.jsonl; `skills` is a set, and all of them together are one intervention."""

    task_id: str
    text: str
    family: str
    skills: tuple[str, ...]
    answer: Any = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)
    """Files to copy, by their place in the folder."""
    prompt: str = ""
    """What is asked in place of the text, which encoders see."""


@dataclass(frozen=True, slots=True)
class OmittedTask:
    """A task of the data that the paper's inventory does not have, with the reason."""

    task_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class BenchmarkData:
    """What a reader found: everything that the folder will hold."""

    tasks: Sequence[TaskSheet]
    skills: Mapping[str, SkillSheet]
    left_out: Sequence[OmittedTask] = ()
    agent: AgentSettings | None = None
    """Settings in place of the preset's, where the files call for others: tools need a solver."""
    written: Mapping[str, str] = field(default_factory=dict)
    """Texts to write, by their place in the folder."""
    notes: Sequence[str] = ()
    """What a person should know, such as tools that are missing."""
    grader: Mapping[str, Any] | None = None
    """In place of the suite's own."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Further settings of suite.yaml."""
    record: Mapping[str, Any] = field(default_factory=dict)
    """What prepared.json says beside the usual: commits and digests of what was read."""

    @property
    def copied(self) -> dict[str, Path]:
        """The files of all tasks, by their place in the folder."""
        return {place: path for task in self.tasks for place, path in task.files.items()}


@dataclass(frozen=True, slots=True)
class PaperCounts:
    """The inventory that the paper reports; None is not reported."""

    tasks: int
    skills: int
    group_sizes: Mapping[int, int] | None = None
    """How many groups there are of each size."""
    groups: int | None = None
    median_group: float | None = None
    singletons: int | None = None
    bundles: int | None = None
    edges: int | None = None
    fewest_skills: int = 1
    most_skills: int = 1
    named_groups: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Preset:
    """The paper's settings for a suite."""

    max_tokens: int
    system: str = ""
    prompt: str = ""
    repetitions: int = 1
    known_per_group: int | None = None
    """Tasks of each group that the prospective protocol records first; None is two fifths of the group."""
    frozen_rule: FrozenRule = field(default_factory=FrozenRule)
    """How the prospective protocol predicts. Thresholds are made from the support as the paper's were, since its numbers
    are those of its own agents."""

    @property
    def agent(self) -> AgentSettings:
        """What the suite's agents are asked with."""
        return AgentSettings(
            system=self.system, prompt=self.prompt, skill_prompt=SKILL_PROMPT, max_tokens=self.max_tokens
        )


@dataclass(frozen=True, slots=True)
class PaperSuite:
    """One of the paper's five suites."""

    name: str
    title: str
    licence: str
    origin: str
    """Where a user gets the data."""
    needs: str
    """What to give to `--from`, `--skills` and `--corpora`."""
    counts: PaperCounts
    preset: Preset
    grader: Mapping[str, Any]
    read: Callable[[GivenFiles], BenchmarkData]
    files: tuple[str, ...]
    """Where its data file stands in a folder: that of a checkout, or the one around it."""

    def has_data(self, path: Path) -> bool:
        """Whether a path is this suite's data, or a folder that holds them."""
        return path.is_file() or any((path / place).is_file() for place in self.files)
