"""Skill texts as people have them: one JSON or JSONL file of many skills, a folder of skill folders, or one Markdown file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from skilldelta.errors import InputError, shown
from skilldelta.files import json_lines, json_list, read_text
from skilldelta.front_matter import split_front_matter
from skilldelta.suites.base import SkillSheet

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def check_name(name: Any, where: str) -> str:
    """An id that can be the name of a folder: letters, digits, dots, dashes and underscores."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(f"{where}: {shown(name)} cannot be an id; use letters, digits, '.', '_' and '-'")
    return name


def read_corpus(path: Path, wanted: Iterable[str]) -> dict[str, SkillSheet]:
    """The wanted skills that the corpus has, in the order in which they are wanted. A wanted one may be missing."""
    names = list(dict.fromkeys(wanted))
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder; --skills names a corpus file or a folder of skills")
    if path.is_dir():
        return {name: sheet for name in names if (sheet := _from_folder(path, name)) is not None}
    if path.suffix.lower() == ".zip":
        raise InputError(f"{path}: a corpus in an archive; unpack it and name the JSON file in it")
    wanted_names, found = set(names), dict[str, SkillSheet]()
    for where, row in _rows(path):
        skill_id = check_name(row.get("skill_id"), f"{where}: skill_id")
        if skill_id in wanted_names:
            found[skill_id] = _sheet(skill_id, row, where)
    return {name: found[name] for name in names if name in found}


def read_one_skill(path: Path, skill_id: str) -> SkillSheet:
    """The one skill of a Markdown file, or of a folder with a SKILL.md; front matter is not part of its text."""
    file = path / "SKILL.md" if path.is_dir() else path
    if not file.is_file():
        raise InputError(f"{file}: there is no such file; --skills names one Markdown file with the skill")
    parts = split_front_matter(read_text(file))
    if not parts.body:
        raise InputError(f"{file}: the skill has no text")
    described = re.search(r"^description:[ \t]*(.+)$", "".join(parts.front), re.MULTILINE)
    description = described[1].strip().strip("\"'") if described else ""
    return SkillSheet(skill_id, description or f"The skill {skill_id}.", parts.body)


def _from_folder(folder: Path, name: str) -> SkillSheet | None:
    for file in (folder / name / "SKILL.md", folder / f"{name}.md"):
        if file.is_file():
            return read_one_skill(file, name)
    return None


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if path.suffix.lower() == ".jsonl":
        yield from ((f"{path}:{number}", row) for number, row in json_lines(path))
        return
    yield from ((f"{path}: [{number}]", row) for number, row in enumerate(json_list(path)))


def _sheet(skill_id: str, row: Mapping[str, Any], where: str) -> SkillSheet:
    text, name = row.get("content"), row.get("name")
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{where}: the skill {skill_id} has no content")
    described = row.get("description") or name or f"The skill {skill_id}."
    tools = row.get("tools") or []
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise InputError(f"{where}: the tools of {skill_id} must be a list of objects")
    return SkillSheet(skill_id, str(described), text.strip(), tuple(tools))
