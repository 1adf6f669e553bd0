"""The files that a person has: instances of SRA-Bench, which four of the paper's suites are read from, and skill texts.

Instances are checked row by row. Skill texts are one JSON or JSONL file of many skills, a folder of skill folders, or one
Markdown file.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilldelta.errors import InputError, shown
from skilldelta.files import json_lines, json_list, read_text
from skilldelta.front_matter import split_front_matter
from skilldelta.paper.suites.base import GivenFiles, SkillSheet

_PLACES = ("data/bench/instances", "bench/instances", "instances", "")
_CORPORA = ("data/bench/corpus/corpus.json", "bench/corpus/corpus.json", "corpus/corpus.json", "corpus.json")
_MOST_CORPUS = 512 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class Instance:
    """One row of an instance file."""

    instance_id: str
    question: str
    skills: tuple[str, ...]
    """As annotated, in their order and without repeats."""
    data: Mapping[str, Any]
    """What an answer is compared with."""
    where: str

    def text(self, key: str, *, may_be_empty: bool = False) -> str:
        """A text of the data that must be there."""
        value = self.data.get(key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str) or not (may_be_empty or value.strip()):
            raise InputError(f"{self.where}: eval_data.{key} must be a text, got {shown(value)}")
        return value


def read_instances(sources: GivenFiles, dataset: str) -> list[Instance]:
    """The instances of a dataset from its file, or from the folder of a checkout that holds it."""
    path = instance_file(sources.data, dataset)
    instances = [_instance(row, dataset, f"{path}: [{number}]") for number, row in enumerate(json_list(path))]
    places: dict[str, str] = {}
    for instance in instances:
        if instance.instance_id in places:
            first = places[instance.instance_id]
            raise InputError(f"{instance.where}: the instance {instance.instance_id} is already at {first}")
        places[instance.instance_id] = instance.where
    return instances


def instance_places(dataset: str) -> tuple[str, ...]:
    """Where a dataset's instances stand in a checkout, or in the folder around them."""
    return tuple(f"{place}/{dataset}.json" if place else f"{dataset}.json" for place in _PLACES)


def instance_file(data: Path, dataset: str) -> Path:
    """The file that `--from` names, directly or by the folder around it."""
    if not data.exists():
        raise InputError(f"{data}: there is no such file or folder; --from names {dataset}.json or its checkout")
    if not data.is_dir():
        return data
    for place in instance_places(dataset):
        if (data / place).is_file():
            return data / place
    raise InputError(f"{data}: no {dataset}.json in this folder; name the file itself with --from")


def skills_of(sources: GivenFiles, instances: list[Instance]) -> dict[str, SkillSheet]:
    """The texts of the annotated skills, from `--skills` or from a checkout's own corpus; none where there is neither."""
    path = sources.skills
    folders = [folder for folder in (sources.data, *sources.checkouts) if folder.is_dir()]
    if path is None:
        places = [f"{place}{ending}" for place in _CORPORA for ending in ("", ".zip")]
        path = next((folder / place for folder in folders for place in places if (folder / place).is_file()), None)
    if path is None:
        return {}
    names = sorted({skill for instance in instances for skill in instance.skills})
    return read_corpus(path, names, is_verbatim=sources.protocol == "authors")


def _instance(row: Mapping[str, Any], dataset: str, where: str) -> Instance:
    own_dataset = row.get("dataset")
    if own_dataset != dataset:
        raise InputError(f"{where}: an instance of {shown(own_dataset)}, not of {dataset}; name the file of {dataset}")
    question, data, skills = row.get("question"), row.get("eval_data"), row.get("skill_annotations")
    if not isinstance(question, str) or not question.strip():
        raise InputError(f"{where}: question must be a text, got {shown(question)}")
    if not isinstance(data, dict):
        raise InputError(f"{where}: eval_data must be an object, got {shown(data)}")
    if not isinstance(skills, list) or not skills:
        raise InputError(f"{where}: skill_annotations must be a list with a skill, got {shown(skills)}")
    names = tuple(dict.fromkeys(check_name(skill, f"{where}: skill_annotations") for skill in skills))
    return Instance(check_name(row.get("instance_id"), f"{where}: instance_id"), question, names, data, where)


def only_skill(instance: Instance) -> str:
    """The skill of a dataset in which every task has one."""
    if len(instance.skills) != 1:
        raise InputError(f"{instance.where}: expected one skill, got {len(instance.skills)}")
    return instance.skills[0]


def check_name(name: Any, where: str) -> str:
    """An id that can be the name of a folder: letters, digits, dots, dashes and underscores."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(f"{where}: {shown(name)} cannot be an id; use letters, digits, '.', '_' and '-'")
    return name


def read_corpus(path: Path, skill_ids: Iterable[str], *, is_verbatim: bool = False) -> dict[str, SkillSheet]:
    """The skills of these ids that the corpus has, in the order of the ids; one may be missing."""
    names = list(dict.fromkeys(skill_ids))
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder; --skills names a corpus file or a folder of skills")
    if path.is_dir():
        return {name: sheet for name in names if (sheet := _from_folder(path, name)) is not None}
    needed, sheets = set(names), dict[str, SkillSheet]()
    for where, row in _rows(path):
        skill_id = check_name(row.get("skill_id"), f"{where}: skill_id")
        if skill_id in needed:
            sheets[skill_id] = _sheet(skill_id, row, where, is_verbatim=is_verbatim)
    return {name: sheets[name] for name in names if name in sheets}


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
    if path.suffix.lower() == ".zip":
        yield from ((f"{path}: [{number}]", row) for number, row in enumerate(_archived_list(path)))
        return
    if path.suffix.lower() == ".jsonl":
        yield from ((f"{path}:{number}", row) for number, row in json_lines(path))
        return
    yield from ((f"{path}: [{number}]", row) for number, row in enumerate(json_list(path)))


def _archived_list(path: Path) -> list[Mapping[str, Any]]:
    """The list of objects in the one file of an archive."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            if len(members) != 1 or members[0].file_size > _MOST_CORPUS:
                raise InputError(f"{path}: expected one JSON file of at most {_MOST_CORPUS >> 20} MiB in the archive")
            rows = json.loads(archive.read(members[0]))
    except (zipfile.BadZipFile, ValueError, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{path}: the corpus cannot be read ({error})") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(f"{path}: expected a list of skills")
    return rows


def _sheet(skill_id: str, row: Mapping[str, Any], where: str, *, is_verbatim: bool) -> SkillSheet:
    text, name = row.get("content"), row.get("name")
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"{where}: the skill {skill_id} has no content")
    described = row.get("description") or name or f"The skill {skill_id}."
    tools = row.get("tools") or []
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise InputError(f"{where}: the tools of {skill_id} must be a list of objects")
    return SkillSheet(skill_id, str(described), text if is_verbatim else text.strip(), tuple(tools), is_verbatim)
