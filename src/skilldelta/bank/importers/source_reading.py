"""Any source as executions: a tool's folder, archive or file, or a file of SkillDelta's own formats.

No bank is needed. The result says which format was taken and why, and everything that was left out, by reason.
"""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from skilldelta.bank.batch import Batch
from skilldelta.bank.importers.detection import detect
from skilldelta.bank.importers.draft import Defaults
from skilldelta.bank.importers.joining import UnsaidError, join
from skilldelta.bank.importers.result_tree import ResultTree, open_tree
from skilldelta.bank.importers.row_formats import FORMATS, read_folder
from skilldelta.bank.importers.source import Source
from skilldelta.bank.importers.tool_run import ToolFormat, tool_formats
from skilldelta.bank.importers.tools.skill_creator import found_anywhere
from skilldelta.bank.importers.workbooks import is_workbook
from skilldelta.errors import InputError, unknown_name
from skilldelta.files import check_file
from skilldelta.nouns import plural
from skilldelta.pairing import Pairing, is_counted, pair_executions
from skilldelta.records import Execution, Skill, Task


@dataclass(frozen=True, slots=True)
class Omission:
    """Something of a source that does not count, and where it stands."""

    reason: str
    places: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a source holds, as records, and what became of everything else in it."""

    path: Path
    format: str
    why: str
    """What the format was recognized by."""
    batch: Batch
    left_out: tuple[Omission, ...] = ()
    """Runs without an outcome, which the batch has with their status, and what is not in the batch at all."""
    arms: Mapping[str, str] = field(default_factory=dict)
    """The tool's words for its arms to use, skip or leave-out."""
    agents: Mapping[str, str] = field(default_factory=dict)
    """Agents as the files name them to their names here."""
    skills: Mapping[str, str] = field(default_factory=dict)
    """Skills as the files name them to their names here."""
    versions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Skills to the digests of their versions, oldest first, where the source holds several in a known order."""
    version_names: Mapping[str, str] = field(default_factory=dict)
    """Digests to what the files call the version."""
    unsure_newest: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Skills whose newest version the files do not tell, to their versions."""

    @property
    def executions(self) -> tuple[Execution, ...]:
        """Every run, those without an outcome among them."""
        return tuple(self.batch.executions)

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Every task that has a run."""
        return tuple(self.batch.tasks)

    @property
    def skill_texts(self) -> tuple[Skill, ...]:
        """Every version of a skill that has a run, with its text where that was found."""
        return tuple(self.batch.skills)

    @property
    def notes(self) -> tuple[str, ...]:
        """What there is to say about the reading, a line each."""
        return tuple(self.batch.notes)

    def pairing(self) -> Pairing:
        """The pairs, and the tasks that lack an arm."""
        families = {(task.suite, task.task_id): task.family for task in self.batch.tasks}
        return pair_executions(self.batch.executions, families=families)


def read_any(
    source: Path | str | Source,
    defaults: Defaults | None = None,
    *,
    format: str = "auto",
    stand_ins: Defaults | None = None,
) -> Reading:
    """What a source holds, its format found by its content unless `format` names it.

    `said` is what the person says about the files; where neither says enough, an `UnsaidError` has the questions, or the
    agent, skill and condition of `stand_ins` answer them. Nothing is returned from a source with a fault.
    """
    source = source if isinstance(source, Source) else Source(Path(source))
    defaults, stand_ins = defaults or Defaults(), stand_ins or Defaults()
    tools = tool_formats()
    if format != "auto" and format not in FORMATS and format not in tools:
        raise unknown_name("format", format, ["auto", *FORMATS, *tools])
    if format in FORMATS:
        return _read_rows_file(source, format, "--format says so", defaults.or_else(stand_ins))
    if format == "auto" and (source.content is not None or os.path.isfile(source.path)) and is_workbook(source):
        return _read_rows_file(source, "workbook", "it is a workbook", defaults.or_else(stand_ins))
    tree = open_tree(source)
    if format in tools:
        return _read_tool(tree, tools[format], "--format says so", defaults, stand_ins)
    for tool in tools.values():
        why = tool.found(tree)
        if why:
            return _read_tool(tree, tool, why, defaults, stand_ins)
    if why := found_anywhere(tree):
        return _read_tool(tree, tools["skill-creator"], why, defaults, stand_ins)
    if not tree.is_file and not (tree.on_disk and os.path.isdir(source.path)):
        raise unrecognized(source.path)
    return _read_rows_file(source, "auto", "", defaults.or_else(stand_ins))


def unrecognized(path: Path) -> InputError:
    """The line for a source of no known format: every format and what was looked for."""
    looked = "; ".join(f"{tool.name} ({tool.looks_for})" for tool in tool_formats().values())
    return InputError(
        f"{path}: no known format. Looked for {looked}; and for files of {', '.join(FORMATS)}. "
        "`skilldelta import --list-formats` explains each; --format NAME overrides"
    )


@contextmanager
def _without_collections() -> Iterator[None]:
    """Keep the cyclic garbage collector from passing over all documents again and again while more are read.

    That is a fifth of the time of thousands of files, and documents have no cycles.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _read_tool(tree: ResultTree, tool: ToolFormat, why: str, defaults: Defaults, stand_ins: Defaults) -> Reading:
    with _without_collections():
        results = tool.read(tree, defaults)
    tree.check_unchanged()
    try:
        batch, names = join(tree.root, results, defaults)
    except UnsaidError as error:
        error.format = tool.name
        answered = error.answered(defaults, stand_ins)
        if answered is None:
            raise
        batch, names = join(tree.root, results, answered)
    left_out = tuple(Omission(reason, tuple(places)) for reason, places in results.left_out.items())
    links = [f"{plural(tree.links, 'link was', 'links were')} not followed"] if tree.links else []
    batch = replace(batch, notes=(*results.notes, *links, *batch.notes))
    return Reading(
        tree.root,
        tool.name,
        why,
        batch,
        left_out,
        names.arms,
        names.agents,
        names.skills,
        {names.skills.get(skill, skill): versions for skill, versions in results.versions.items()},
        results.version_names,
        {names.skills.get(skill, skill): versions for skill, versions in results.unsure_newest.items()},
    )


def _read_rows_file(source: Source, format: str, why: str, defaults: Defaults) -> Reading:
    if source.content is None and os.path.isdir(source.path):
        batch, names = read_folder(source.path, format, defaults, lambda: unrecognized(source.path))
        return Reading(source.path, " and ".join(names), why or "its files have that format", batch)
    if source.content is None:
        check_file(source.path)
    name = detect(source, defaults) if format == "auto" else format
    return Reading(source.path, name, why or "its first line says so", FORMATS[name].read(source, defaults))


def left_out_lines(left_out: Sequence[Omission], *, most: int = 3) -> list[str]:
    """A line per reason for which something of a source does not count, with the first places."""
    lines = []
    for omission in left_out:
        more = f" and {len(omission) - most:,} more" if len(omission) > most else ""
        places = f"({', '.join(omission.places[:most])}{more})"
        lines.append(
            f"{plural(len(omission), 'run or file does', 'runs or files do')} not count: {omission.reason} {places}"
        )
    return lines


@dataclass(frozen=True, slots=True)
class Understood:
    """What a reading holds of one skill's version, as one agent ran it."""

    agent: str
    skill: str
    version: str
    """What the files call it; "" where there is one version without a name."""
    tasks: int
    with_skill: int
    """Counted runs."""
    without_skill: int
    """Counted runs of the same tasks, whichever version they serve."""


def understood(reading: Reading) -> list[Understood]:
    """What was understood of a source: tasks, arms and versions, a row per agent, skill and version, oldest first."""
    tasks: dict[tuple[str, str, str], set[tuple[str, str]]] = {}
    treated: Counter[tuple[str, str, str]] = Counter()
    baselines: dict[tuple[str, str, str], int] = {}
    own: Counter[tuple[str, str, str, str, str]] = Counter()
    for run in reading.executions:
        if not is_counted(run):
            continue
        where = (run.agent.name, run.suite, run.task_id)
        if run.condition == "use":
            key = (run.agent.name, run.skill_id, run.skill_digest)
            tasks.setdefault(key, set()).add((run.suite, run.task_id))
            treated[key] += 1
        elif not run.skill_id:
            baselines[where] = baselines.get(where, 0) + 1
        else:
            own[*where, run.skill_id, run.skill_digest] += 1
    rows = []
    order = {digest: at for digests in reading.versions.values() for at, digest in enumerate(digests)}
    for (agent, skill, digest), its_tasks in sorted(
        tasks.items(), key=lambda item: (item[0][:2], order.get(item[0][2], 0))
    ):
        without = sum(
            own[agent, suite, task, skill, digest] or baselines.get((agent, suite, task), 0)
            for suite, task in its_tasks
        )
        version = reading.version_names.get(digest, digest)
        rows.append(Understood(agent, skill, version, len(its_tasks), treated[agent, skill, digest], without))
    if not rows and baselines:
        agents = Counter(agent for agent, _, _ in baselines)
        for agent, count in agents.items():
            runs = sum(number for (name, _, _), number in baselines.items() if name == agent)
            rows.append(Understood(agent, "", "", count, 0, runs))
    return rows
