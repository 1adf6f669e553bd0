"""A graded run of a workspace in the words of its files, and all of them with what became of everything else."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from skilldelta.bank.importers.workspace.arm_words import Meaning
from skilldelta.bank.importers.workspace.assertions import Assertion
from skilldelta.bank.importers.workspace.path_words import is_iteration
from skilldelta.bank.importers.workspace.spending import Spending


@dataclass(slots=True, eq=False)
class GradedRun:
    """One graded run of a workspace, in the words of its files."""

    place: str
    file: str
    arm: str
    meaning: Meaning
    assertions: tuple[Assertion, ...]
    rate: float | None
    eval_id: str = ""
    name: str = ""
    folder_name: str = ""
    places: tuple[str, ...] = ()
    """Parts of its path that may name its evaluation, the nearest first."""
    text: str = ""
    skill: str = ""
    model: str = ""
    iteration: str = ""
    """The folder or field that says which version of the skill was run; of a re-run, the iteration that it repeats."""
    version: str = ""
    """As recorded, where it is."""
    is_rerun: bool = False
    number: int | None = None
    spent: Spending = field(default_factory=Spending)
    time: float | None = None
    error: str = ""
    missing_skill: str = ""
    """What the run says about a skill that failed to load."""
    grader: str = ""
    """The part of its path that says which of several gradings of the run it is."""
    folder_is_plain: bool = False
    """Whether its folder also holds a grading whose name is nothing but that."""
    is_summary: bool = False
    """Whether the file holds several runs, so that it may be older than the gradings it was made of."""
    content: int = 0
    """A hash of what the grading holds, byte by byte."""
    task: str = ""
    """Which evaluation it is, once all runs are known."""
    ungraded: int = 0
    has_unknown_arm: bool = False
    """Whether `arm` is a name that a person has to explain."""

    outcome: float | None = field(init=False)
    """The share of assertions that passed."""
    verdicts: tuple[Any, ...] = field(init=False)
    """What two records of one run have in common."""
    workspace: str = field(init=False)
    """The folder that holds the iterations of the run's workspace."""

    def __post_init__(self) -> None:
        marks = [assertion.passed for assertion in self.assertions]
        self.outcome = sum(marks) / len(marks) if marks else self.rate
        self.verdicts = tuple(sorted(self.assertions)) or (self.rate,)
        self.workspace = _workspace_of(self.file.rpartition("/")[0])


@lru_cache(maxsize=1 << 14)
def _workspace_of(folder: str) -> str:
    parts = folder.split("/") if folder else []
    for position, part in enumerate(parts):
        if is_iteration(part):
            return "/".join(parts[:position])
    return "/".join(parts[:-2])


@dataclass(slots=True)
class WorkspaceRuns:
    """All runs, and what became of everything else."""

    runs: list[GradedRun] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    without_arm: list[tuple[str, GradedRun]] = field(default_factory=list)
    """Runs of no known arm, with the name of a folder or field that may be one."""
    copies: list[tuple[str, str]] = field(default_factory=list)
    """Records of runs that stand elsewhere: the place, and the place of the run."""

    def leave_out(self, reason: str, place: str) -> None:
        self.left_out.setdefault(reason, []).append(place)
