"""A skill folder with `evals/evals.json`, as the skill-creator and agentskills.io lay it out, made into a suite.

Each eval is a task of the skill. Its expectations are graded one by one: a sentence by the judge model, an object such as
`{"run": "test -f report.md"}` by a command in the sandbox. An eval without expectations is judged by its expected output.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from skilldelta.collect.suite import SUITE_FILE, check_new_folder, read_skill
from skilldelta.errors import InputError, shown
from skilldelta.files import check_file, json_document, read_bytes, write_bytes, write_text
from skilldelta.records import Skill

EVALS_FILE = PurePosixPath("evals/evals.json")
# Bytes of evals.json, and of one file that an eval names.
_MOST_EVALS_BYTES = 16 << 20
_MOST_FILE_BYTES = 256 << 20


def is_skill_with_evals(folder: Path) -> bool:
    """Whether a folder is a skill that brings its own evals; a suite is never one."""
    has_evals = (folder / "SKILL.md").is_file() and (folder / EVALS_FILE).is_file()
    return has_evals and not (folder / SUITE_FILE).exists()


def write_suite_of_skill(skill_folder: Path, folder: Path) -> list[Path]:
    """Write the suite into a new or empty folder, whole or not at all; returns its files."""
    check_new_folder(folder)
    _build(skill_folder, folder)
    return sorted(path for path in folder.rglob("*") if path.is_file())


def refresh_suite_of_skill(skill_folder: Path, folder: Path) -> Path:
    """The suite in a folder of our own, written again at every start; `collect` notices what changed."""
    folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.is_symlink():
        raise InputError(f"{folder} is a link; remove it, the suite of {skill_folder} is kept there")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / SUITE_FILE).is_file():
        raise InputError(f"{folder} holds something else than a suite; move it away")
    _build(skill_folder, folder)
    return folder


def _build(skill_folder: Path, folder: Path) -> None:
    """Written beside its place and then renamed, so that a mistake in the evals leaves what was there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".skilldelta-", dir=folder.parent) as scratch:
        fresh = Path(scratch) / "suite"
        _write(skill_folder, fresh)
        if folder.exists():
            folder.rename(Path(scratch) / "old")
        fresh.rename(folder)


def _write(skill_folder: Path, folder: Path) -> None:
    skill, evals = _read(skill_folder)
    settings = {
        "name": f"{skill.skill_id}-evals",
        "description": f"The evals of the skill {skill.skill_id}",
        "grader": {"type": "expectations"},
    }
    rows = [_row(evaluation, number, skill, skill_folder, folder) for number, evaluation in enumerate(evals)]
    (name, times), *_ = Counter(row["task_id"] for row in rows).most_common(1)
    if times > 1:
        raise InputError(f"{skill_folder / EVALS_FILE}: two evals are called {name!r}; give each its own id")
    (folder / "skills" / skill.skill_id).mkdir(parents=True)
    write_text(folder / SUITE_FILE, yaml.safe_dump(settings, sort_keys=False, allow_unicode=True))
    write_text(folder / "tasks.jsonl", "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    shutil.copyfile(skill_folder / "SKILL.md", folder / "skills" / skill.skill_id / "SKILL.md")


def _read(skill_folder: Path) -> tuple[Skill, list[dict[str, Any]]]:
    path = skill_folder / EVALS_FILE
    for needed in (skill_folder / "SKILL.md", path):
        check_file(needed)
    document = json_document(path, most=_MOST_EVALS_BYTES)
    evals = document.get("evals")
    if not isinstance(evals, list) or not evals or not all(isinstance(evaluation, dict) for evaluation in evals):
        raise InputError(f"{path}: evals must be a list of objects with a prompt, got {shown(evals)}")
    return read_skill(skill_folder.resolve() / "SKILL.md"), evals


def _row(evaluation: Mapping[str, Any], number: int, skill: Skill, skill_folder: Path, folder: Path) -> dict[str, Any]:
    """One eval as a line of tasks.jsonl; its files are copied into a folder of the suite."""
    where = f"{skill_folder / EVALS_FILE}: evals[{number}]"
    prompt = evaluation.get("prompt")
    if not isinstance(prompt, str) or not prompt.strip():
        raise InputError(f"{where}: prompt must be a text, got {shown(prompt)}")
    task_id = str(evaluation.get("name") or evaluation.get("eval_name") or evaluation.get("id", number))
    row: dict[str, Any] = {"task_id": task_id, "text": prompt, "family": skill.skill_id, "skill": skill.skill_id}
    expected, expectations = evaluation.get("expected_output"), _expectations(evaluation, where)
    if expectations:
        row["answer"] = expectations
        if expected:
            row["metadata"] = {"expected_output": str(expected)}
    elif expected:
        row |= {"answer": str(expected), "grader": {"type": "judge"}}
    else:
        raise InputError(f"{where}: nothing to grade by; give it expectations or an expected_output")
    if names := _file_names(evaluation, where):
        row["files"] = f"files/{number}"
        _copy_files(names, skill_folder, folder / "files" / str(number), where)
    return row


def _expectations(evaluation: Mapping[str, Any], where: str) -> list[str | dict[str, str]]:
    """Sentences and commands; older files call them assertions, and some put each sentence into an object."""
    expectations = evaluation.get("expectations") or evaluation.get("assertions") or []
    if not isinstance(expectations, list):
        raise InputError(f"{where}: expectations must be a list, got {shown(expectations)}")
    return [_expectation(item, where) for item in expectations]


def _expectation(item: Any, where: str) -> str | dict[str, str]:
    if isinstance(item, str) and item.strip():
        return item
    if isinstance(item, dict):
        if isinstance(item.get("run"), str):
            return {"run": item["run"]}
        for key in ("text", "description", "name"):
            if isinstance(item.get(key), str) and item[key].strip():
                return str(item[key])
    raise InputError(f'{where}: an expectation is a sentence or {{"run": "command"}}, got {shown(item)}')


def _file_names(evaluation: Mapping[str, Any], where: str) -> list[str]:
    names = evaluation.get("files") or []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{where}: files must be a list of paths, got {shown(names)}")
    return names


def _copy_files(names: list[str], skill_folder: Path, target: Path, where: str) -> None:
    """Files of the skill's own folder; a path or a link that leads out of it is refused."""
    home = skill_folder.resolve()
    target.mkdir(parents=True)
    for name in names:
        source = (home / name).resolve()
        if not source.is_file():
            source = (home / "evals" / name).resolve()
        if not source.is_file() or not source.is_relative_to(home):
            raise InputError(f"{where}: the file {name!r} is not in the skill's folder")
        write_bytes(target / source.name, read_bytes(source, most=_MOST_FILE_BYTES))
