"""One run as another tool recorded it, all that a tool's files hold, and the tools whose files are read.

Nothing here is decided yet: which arm is use, which task is the same, and whose runs they are is `joining`'s. A package
of others brings a `ToolFormat` as an entry point of the group `skilldelta.importers`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from types import MappingProxyType
from typing import Literal, NamedTuple

from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.result_tree import ResultTree
from skilldelta.errors import InputError
from skilldelta.records import Skill, Status

ArmMeaning = Literal["use", "skip", "leave-out"]
ARM_MEANINGS: tuple[ArmMeaning, ...] = ("use", "skip", "leave-out")


class ToolRun(NamedTuple):
    """One run of one task in one arm, in the tool's own names. What a tool does not record is empty or None."""

    task: str
    arm: str
    outcome: float | None
    """Success in [0, 1]; None where the run has none, and then `reason` says why."""
    status: Status = "completed"
    reason: str = ""
    repeat: int | None = None
    """Which repetition, from any start; None where the tool only has an order."""
    text: str = ""
    task_digest: str = ""
    """What the tool itself tells versions of a task by; tasks of different digests are different tasks."""
    family: str = ""
    suite: str = ""
    skill: str = ""
    skill_digest: str = ""
    agent: str = ""
    model: str = ""
    tokens: float | None = None
    seconds: float | None = None
    cost_usd: float | None = None
    place: str = ""
    """The file, and the position in it."""
    is_own_baseline: bool = False
    """Whether a run without the skill is compared with this version of the skill only."""


class RunVerdict(NamedTuple):
    """What a run came to, in the order of `ToolRun`: its outcome, or why it has none."""

    outcome: float | None
    status: Status = "completed"
    reason: str = ""


def failed(reason: str) -> RunVerdict:
    """A run that did not come to its end."""
    return RunVerdict(None, "transport_error", reason)


def graded(outcome: float | None, otherwise: str) -> RunVerdict:
    """A run that came to its end, with the outcome that its grader gave; `otherwise` says why there is none."""
    return RunVerdict(None, "grader_error", otherwise) if outcome is None else RunVerdict(outcome)


@dataclass(slots=True)
class ToolResults:
    """Everything that a source holds."""

    runs: list[ToolRun]
    arms: Mapping[str, ArmMeaning] = field(default_factory=dict)
    """What the tool's own words for its arms mean. A word that is not here is read as a person would, or asked for."""
    skills: list[Skill] = field(default_factory=list)
    """Texts that lie beside the results."""
    skill_guess: str = ""
    """What the skill is probably called, where no run says."""
    left_out: dict[str, list[str]] = field(default_factory=dict)
    """What is no run, or none that can be used: reasons to places."""
    notes: list[str] = field(default_factory=list)
    versions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Skills to the digests of their versions, oldest first, where a source holds several and knows their order."""
    version_names: dict[str, str] = field(default_factory=dict)
    """Digests to what the files call the version, where that differs."""
    unsure_newest: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Skills whose newest version nobody can tell, to the versions that there are."""

    def leave_out(self, reason: str, place: str) -> None:
        """Count something that is in the files and not among the runs."""
        self.left_out.setdefault(reason, []).append(place)


@dataclass(frozen=True, slots=True)
class ToolFormat:
    """One tool's files: how a person knows them, how they are recognized, and what reads them."""

    name: str
    title: str
    description: str
    """What the files are, in one line."""
    looks_for: str
    """What the files are recognized by, in one line."""
    found: Callable[[ResultTree], str]
    """Why a source is of this format, or "" where it is not. Cheap: looks at names and at the beginning of a file."""
    read: Callable[[ResultTree, Defaults], ToolResults]


def parse_arms(texts: Iterable[str]) -> dict[str, str]:
    """What arms mean, from texts such as `with_skill=use`. The meaning itself is checked where the arms are known."""
    arms = {}
    for text in texts:
        name, separator, meaning = text.rpartition("=")
        if not separator or not name:
            raise InputError(f"--arm {text}: write NAME=use, NAME=skip or NAME=leave-out")
        arms[name] = meaning
    return arms


GROUP = "skilldelta.importers"
# The modules of `tools`, the most telling layouts first.
_OWN = (
    *("skill_creator", "inspect_logs", "agent_skill_evals", "harbor_jobs", "benchflow_jobs", "skillevaluation"),
    *("promptfoo", "waza", "dotnet_validator", "vally", "skillgrade", "benchmark_reports"),
)


@cache
def tool_formats() -> Mapping[str, ToolFormat]:
    """Every format by its name."""
    modules = (importlib.import_module(f"skilldelta.bank.importers.tools.{name}") for name in _OWN)
    formats: dict[str, ToolFormat] = {module.FORMAT.name: module.FORMAT for module in modules}
    for point, format_ in _installed():
        if format_.name in formats:
            raise InputError(
                f"{_origin(point)} names its format {format_.name!r}, which is taken; uninstall or rename it"
            )
        formats[format_.name] = format_
    return MappingProxyType(formats)


def _installed() -> Iterator[tuple[metadata.EntryPoint, ToolFormat]]:
    for point in sorted(metadata.entry_points(group=GROUP), key=lambda point_: point_.name):
        try:
            loaded = point.load()
        except Exception as error:  # another package's code may raise anything
            raise InputError(f"{_origin(point)} cannot be loaded ({error}); repair or uninstall it") from error
        if not isinstance(loaded, ToolFormat):
            raise InputError(f"{_origin(point)}: {point.value} is no ToolFormat; repair or uninstall the package")
        yield point, loaded


def _origin(point: metadata.EntryPoint) -> str:
    """`package 1.0`, as installed."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value
