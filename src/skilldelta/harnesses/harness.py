"""What SkillDelta has to know about an agent harness: one `Harness`, declared in one file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from skilldelta.harnesses.wanted_setup import WantedSetup

Permission = Literal["default", "edits", "full"]
Scope = Literal["user", "project"]


@dataclass(frozen=True, slots=True)
class FileContent:
    """What a file shall hold; None is no file."""

    path: Path
    content: bytes | None


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a harness and its hooks talk: the names of the events that matter, and how they are answered."""

    prompt: str
    """The event of a submitted prompt."""
    tool: str
    """The event before a tool is called."""
    end: str
    """The event at the end of a conversation."""
    start: str = ""
    """The event at which a conversation goes on after it was compacted, if it says so; its `source` is then `compact`."""
    skill_tool: str = ""
    """The tool that loads a skill; empty where there is none, so that nothing can be denied."""
    skill_fields: tuple[str, ...] = ()
    """Where a call of that tool may name the skill."""
    longest: int | None = None
    """Characters that the harness lets one hook inject whole; None is no limit."""
    denial: Callable[[str], dict[str, Any]] = lambda reason: {}
    """The answer that refuses the call of a skill, from a reason for the model."""
    tokens: Callable[[Sequence[dict[str, Any]]], int | None] = lambda rows: None
    """The tokens of a conversation, from the objects in its transcript; None where they do not say."""

    speaks_http: bool = False
    """Whether the harness can send its events over HTTP by itself."""
    shows_messages: bool = False
    """Whether a `systemMessage` in an answer is a line for the person."""

    def context(self, text: str, event: str, skill: str) -> dict[str, Any]:
        """The answer that puts the text of a skill beside the prompt that is being submitted, or at another event."""
        return {"hookSpecificOutput": {"hookEventName": event or self.prompt, "additionalContext": text}}


@dataclass(frozen=True, slots=True)
class Reply:
    """What one run of a harness said."""

    answer: str
    tokens: float | None = None
    usd: float | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a harness runs one task without a person. `{prompt}` among the words stands for the task, which otherwise goes
    to standard input.
    """

    words: tuple[str, ...]
    read: Callable[[str], Reply]
    """What a run said, from what it printed; a ValueError says why there is no answer."""
    passed: tuple[str, ...] = ()
    """The person's variables that it needs to reach its model: keys and addresses."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Variables of every run: they lead the harness into the run's own home, which is `{home}`, and keep it quiet."""
    permissions: Mapping[Permission, tuple[str, ...]] = field(default_factory=lambda: {"default": ()})
    """The words of each permission mode that it has."""
    model_option: str = "--model"


class Setup(Protocol):
    """How SkillDelta gets into a harness's settings, and out of them."""

    def files(self, harness: Harness, folder: Path) -> Sequence[Path]:
        """The files that SkillDelta writes in a folder of settings; the first one shows whether it is set up."""

    def wanted(self, harness: Harness, folder: Path, setup: WantedSetup) -> Sequence[FileContent]:
        """What those files shall hold, with everything of other people's in them kept."""

    def cleaned(self, harness: Harness, path: Path, text: str) -> str | None:
        """What a file holds without SkillDelta, whatever else has changed in it; None where it was all ours."""

    def commands(self, harness: Harness, text: str) -> Mapping[str, Sequence[str]]:
        """The command lines that the first file makes the harness run, by event; none for an adapter in JavaScript."""

    def modules(self, harness: Harness, folder: Path) -> Iterable[Path]:
        """The modules of SkillDelta that the files load; none for hooks."""


@dataclass(frozen=True, slots=True)
class Harness:
    """One agent harness."""

    name: str
    title: str
    """As people call it."""
    program: str
    folder: Callable[[Path, Mapping[str, str]], Path]
    """The user's own folder of settings, from the home and the environment."""
    setup: Setup
    next_step: str
    """What the user does after the installation."""
    project_folder: str = ""
    """The folder of settings in a project; empty where the harness knows none."""
    dialect: Dialect | None = None
    """None where the harness runs an adapter in JavaScript instead of hooks."""
    recipe: Recipe | None = None
    """None where it cannot be collected with."""
    tested_version: str = ""
    """The version that the tests run; others may behave otherwise."""
    has_plain_json: bool = False
    """Whether the harness refuses a settings file with comments or trailing commas as a whole."""
    trust_mark: tuple[str, str] = ("", "")
    """A file below the folder of settings, and what it contains once the user has trusted hooks there."""
    plugin_mark: tuple[str, str] = ("", "")
    """A file below the folder of settings, and what it contains where SkillDelta is a plugin of the harness's own kind."""


def told(environment: Mapping[str, str], variable: str, default: Path) -> Path:
    """The folder that a variable names, else the default."""
    return Path(environment[variable]).expanduser() if environment.get(variable, "").strip() else default
