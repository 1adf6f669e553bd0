"""The manifest of a collection: hashes of its inputs, its seed, versions and commands, kept beside the bank.

A collection that goes on must go on with the same inputs; otherwise its pairs would mix two experiments. What changed is
named, so that it can be undone or accepted.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import itertools
import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from skilldelta.collect.suite import Suite, SuiteTask
from skilldelta.errors import InputError
from skilldelta.files import json_document, write_text
from skilldelta.records import Agent
from skilldelta.redaction import redacted
from skilldelta.version import __version__

MANIFEST_FILE = "manifest.json"
_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """Everything a run depends on. Digests are SHA-256."""

    suite: str
    agent: Agent
    settings: Mapping[str, Any]
    seed: int
    versions: Mapping[str, str]
    invocations: tuple[Mapping[str, Any], ...]
    """Each start: when, which command, which part of the suite."""
    skills: Mapping[str, str]
    files: Mapping[str, str]
    tasks: Mapping[str, str]


def describe_run(suite: Suite, agent: Agent, settings: Mapping[str, Any], *, seed: int) -> Manifest:
    """The manifest of a run that starts now."""
    return Manifest(
        suite=suite.name,
        agent=agent,
        settings=settings,
        seed=seed,
        versions=_versions(),
        invocations=(),
        skills={skill_id: skill.digest for skill_id, skill in suite.skills.items()},
        files=_file_digests(suite.folder),
        tasks={task.task_id: _task_digest(task) for task in suite.tasks},
    )


def open_manifest(folder: Path, current: Manifest, invocation: Mapping[str, Any], *, accept_changes: bool) -> Manifest:
    """Write the manifest of a new run, or add this start to that of the run that goes on.

    Inputs that differ from the ones the run started with are refused with the difference. With `accept_changes` the old
    manifest is kept under a number and the run goes on with the new inputs.
    """
    path = folder / MANIFEST_FILE
    before: tuple[Mapping[str, Any], ...] = ()
    if path.exists():
        started = read_manifest(path)
        changes = differences(started, current)
        if changes and not accept_changes:
            raise InputError(
                f"the suite is not the one this collection started with: {'; '.join(changes)}. "
                "Undo the change, collect into another bank, or go on with the new inputs: --accept-changes"
            )
        if changes:
            path.rename(_numbered(folder))
        before = started.invocations
    opened = replace(current, invocations=(*before, invocation))
    write_manifest(path, opened)
    return opened


def differences(started: Manifest, current: Manifest) -> list[str]:
    """What changed, in words; empty when a run may go on."""
    changes = []
    if started.seed != current.seed:
        changes.append(f"the seed was {started.seed} and is {current.seed}")
    for kind, old, new in (("task", started.tasks, current.tasks), ("skill", started.skills, current.skills)):
        changes += _changed(kind, old, new)
    if not changes:
        changes += _changed("file", started.files, current.files)
    return changes


def read_manifest(path: Path) -> Manifest:
    """A manifest from disk."""
    try:
        data = json_document(path)
        if data.pop("format") != _FORMAT:
            raise ValueError("another format")
        agent = Agent(**data.pop("agent"))
        return Manifest(agent=agent, invocations=tuple(data.pop("invocations")), **data)
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path}: not a manifest of a collection ({str(error)[:200]}); restore it or move its folder away"
        ) from None


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Whole or not at all."""
    # A command may hold keys. The fingerprint is of the whole one.
    settings = {name: redacted(value) if isinstance(value, str) else value for name, value in manifest.settings.items()}
    document = {"format": _FORMAT, **asdict(replace(manifest, settings=settings))}
    write_text(path, json.dumps(document, ensure_ascii=False, indent=2) + "\n", private=True)


def _changed(kind: str, old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    groups = {
        "changed": [name for name in old if name in new and old[name] != new[name]],
        "new": [name for name in new if name not in old],
        "gone": [name for name in old if name not in new],
    }
    return [f"{kind} {_listed(names)} {verb}" for verb, names in groups.items() if names]


def _listed(names: list[str], most: int = 5) -> str:
    listing = ", ".join(repr(name) for name in names[:most])
    return listing if len(names) <= most else f"{listing} and {len(names) - most} more"


def _task_digest(task: SuiteTask) -> str:
    row = [task.text, task.family, task.skill_id, task.answer, dict(task.grader), dict(task.metadata)]
    return hashlib.sha256(json.dumps(row, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _file_digests(folder: Path) -> dict[str, str]:
    places = (path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        place.as_posix(): hashlib.sha256((folder / place).read_bytes()).hexdigest()
        for place in places
        if not any(part.startswith(".") or part == "__pycache__" for part in place.parts)
    }


def _versions() -> dict[str, str]:
    versions = {"skilldelta": __version__, "python": platform.python_version(), "platform": platform.platform()}
    try:
        versions["inspect_ai"] = importlib.metadata.version("inspect_ai")
    except importlib.metadata.PackageNotFoundError:
        versions["inspect_ai"] = "not installed"
    return versions


def _numbered(folder: Path) -> Path:
    names = (folder / f"manifest-{number}.json" for number in itertools.count(1))
    return next(path for path in names if not path.exists())
