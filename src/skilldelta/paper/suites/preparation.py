"""From files that a person has to a suite folder that `collect` runs: read, checked, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from skilldelta.collect.suite import SUITE_FILE, AgentSettings, check_new_folder
from skilldelta.collect.workspace import check_inside
from skilldelta.errors import InputError, unknown_name
from skilldelta.files import json_document, unfinished_name, write_text
from skilldelta.nouns import plural
from skilldelta.paper.suites.base import (
    BenchmarkData,
    GivenFiles,
    OmittedTask,
    PaperSuite,
    Protocol,
    SkillSheet,
    TaskSheet,
)
from skilldelta.paper.suites.inventory import TaskInventory, count
from skilldelta.version import __version__

RECORD_FILE = "prepared.json"
TOOLS_FILE = "tools.json"
_ALWAYS_SAID = ("temperature", "max_tokens")


@dataclass(frozen=True, slots=True)
class PreparedFolder:
    """What was written."""

    suite: PaperSuite
    folder: Path
    inventory: TaskInventory
    missing_skills: tuple[str, ...]
    """Skills that tasks name and no text was found for."""
    left_out: tuple[OmittedTask, ...]
    notes: tuple[str, ...]
    protocol: Protocol = "plain"


def prepare(
    suite: PaperSuite, sources: GivenFiles, folder: Path, *, families: Sequence[str] = (), all_skills: bool = False
) -> PreparedFolder:
    """Write a suite folder from the benchmark's own files; the first fault is an InputError, and nothing is left behind.

    With `families`, only the tasks of these, and the skills that they name. With `all_skills`, a skill without a text is a
    fault; otherwise its text can be added later.
    """
    check_new_folder(folder, "name a new folder with --output")
    reading = suite.read(sources)
    if sources.protocol == "authors":
        from skilldelta.paper.suites.authors_protocol import with_authors_protocol

        reading, all_skills = with_authors_protocol(suite.name, reading, sources), True
    reading = _of_families(reading, families)
    if not reading.tasks:
        raise InputError(f"{sources.data}: no task of {suite.title} in it")
    inventory = count([(task.family, task.skills) for task in reading.tasks])
    missing = tuple(name for name in inventory.skills if name not in reading.skills)
    if missing and all_skills:
        raise InputError(
            f"no text for {plural(len(missing), 'skill')} of {suite.title}, such as {missing[0]}; name a corpus or a folder "
            "that has them with --skills, or take only some families with --family; means over a part of the families cannot be "
            "compared with the paper's"
        )
    for place in (*reading.written, *reading.copied):
        check_inside(place, "a file of the prepared suite")
    unfinished = unfinished_name(folder)
    try:
        _write(suite, reading, sources, unfinished, families)
        if folder.exists():
            folder.rmdir()
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return PreparedFolder(
        suite, folder, inventory, missing, tuple(reading.left_out), tuple(reading.notes), sources.protocol
    )


def _of_families(reading: BenchmarkData, families: Sequence[str]) -> BenchmarkData:
    if not families:
        return reading
    all_families = {task.family for task in reading.tasks}
    for family in families:
        if family not in all_families:
            raise unknown_name("family", family, all_families)
    tasks = [task for task in reading.tasks if task.family in families]
    skill_names = {name for task in tasks for name in task.skills}
    skills = {name: sheet for name, sheet in reading.skills.items() if name in skill_names}
    return replace(reading, tasks=tasks, skills=skills)


def source_digests(sources: GivenFiles) -> dict[str, str]:
    """SHA-256 of the given files by what they are, so that a study that goes on can tell other files from the same ones."""
    paths = {"data": sources.data, "skills": sources.skills, "corpora": sources.corpora}
    digests = {kind: _digest(path) for kind, path in paths.items() if path is not None}
    return {**digests, "protocol": sources.protocol}


def recorded_sources(folder: Path) -> Mapping[str, str]:
    """What a prepared folder was made from; empty for a suite that was not prepared."""
    sources = _record(folder).get("sources")
    return sources if isinstance(sources, dict) else {}


def recorded_families(folder: Path) -> list[str]:
    """The families that a folder was prepared for, by name; empty where it has all."""
    families = _record(folder).get("families")
    return sorted(map(str, families)) if isinstance(families, list) else []


def _record(folder: Path) -> Mapping[str, Any]:
    path = folder / RECORD_FILE
    return json_document(path) if path.is_file() else {}


def _write(
    suite: PaperSuite, reading: BenchmarkData, sources: GivenFiles, folder: Path, families: Sequence[str]
) -> None:
    folder.mkdir(parents=True)
    (folder / "skills").mkdir()
    for sheet in reading.skills.values():
        _write_skill(sheet, folder / "skills" / sheet.skill_id)
    for place, text in reading.written.items():
        _write_file(folder / place, text)
    for place, source in reading.copied.items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / place)
    _write_file(folder / "tasks.jsonl", "".join(_line(task) + "\n" for task in reading.tasks))
    record = {
        "benchmark": suite.name,
        "skilldelta": __version__,
        "sources": source_digests(sources),
        "protocol": sources.protocol,
        **reading.record,
        "families": sorted(families),
        "left_out": [asdict(task) for task in reading.left_out],
    }
    _write_file(folder / RECORD_FILE, json.dumps(record, indent=2) + "\n")
    _write_file(folder / SUITE_FILE, _settings(suite, reading, sources.protocol))


def _settings(suite: PaperSuite, reading: BenchmarkData, protocol: str) -> str:
    unset, agent = AgentSettings(), reading.agent or suite.preset.agent
    chosen = {key: value for key, value in asdict(agent).items() if value != getattr(unset, key) or key in _ALWAYS_SAID}
    document: dict[str, Any] = {
        "name": suite.name,
        "benchmark": suite.name,
        "description": f"{suite.title}, prepared for SkillDelta; {suite.licence}",
        "protocol": protocol,
        "repetitions": suite.preset.repetitions,
        "agent": chosen,
        "grader": dict(reading.grader or suite.grader),
        **reading.settings,
    }
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=110)


def _write_skill(sheet: SkillSheet, folder: Path) -> None:
    # A JSON text is a YAML text too, whatever stands in it.
    verbatim = "verbatim: true\n" if sheet.is_verbatim else ""
    description = json.dumps(" ".join(sheet.description.split()))
    front = f"---\nname: {sheet.skill_id}\ndescription: {description}\n{verbatim}---\n"
    _write_file(folder / "SKILL.md", f"{front}\n{sheet.text}\n")
    if sheet.tools:
        _write_file(folder / TOOLS_FILE, json.dumps(list(sheet.tools), ensure_ascii=False, indent=2) + "\n")


def _line(task: TaskSheet) -> str:
    row: dict[str, Any] = {
        "task_id": task.task_id,
        "text": task.text,
        "family": task.family,
        "skill": task.skills[0] if len(task.skills) == 1 else list(dict.fromkeys(task.skills)),
    }
    if task.prompt:
        row["prompt"] = task.prompt
    if task.answer is not None:
        row["answer"] = task.answer
    if task.metadata:
        row["metadata"] = dict(task.metadata)
    return json.dumps(row, ensure_ascii=False)


def _write_file(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text, errors="replace")


def _digest(path: Path) -> str:
    """Of a file's content; of a folder's names and sizes, since corpora have gigabytes."""
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    listed: Sequence[str] = sorted(
        f"{file.relative_to(path).as_posix()}\t{file.stat().st_size}" for file in path.rglob("*") if file.is_file()
    )
    return hashlib.sha256("\n".join(listed).encode("utf-8", "replace")).hexdigest()
