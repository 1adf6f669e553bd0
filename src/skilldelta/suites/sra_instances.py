"""The instance files of SRA-Bench, which four of the paper's suites are read from, checked row by row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skilldelta.errors import InputError, shown
from skilldelta.files import json_list
from skilldelta.suites.base import GivenFiles, SkillSheet
from skilldelta.suites.skill_corpus import check_name, read_corpus

_PLACES = ("data/bench/instances", "bench/instances", "instances", "")
_CORPORA = ("data/bench/corpus/corpus.json", "bench/corpus/corpus.json", "corpus/corpus.json", "corpus.json")


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


def read_instances(given: GivenFiles, dataset: str) -> list[Instance]:
    """The instances of a dataset from its file, or from the folder of a checkout that holds it."""
    path = instance_file(given.data, dataset)
    instances = [_instance(row, dataset, f"{path}: [{number}]") for number, row in enumerate(json_list(path))]
    seen: dict[str, str] = {}
    for one in instances:
        if one.instance_id in seen:
            raise InputError(f"{one.where}: the instance {one.instance_id} is already at {seen[one.instance_id]}")
        seen[one.instance_id] = one.where
    return instances


def instance_file(data: Path, dataset: str) -> Path:
    """The file that `--from` names, directly or by the folder around it."""
    if not data.exists():
        raise InputError(f"{data}: there is no such file or folder; --from names {dataset}.json or its checkout")
    if not data.is_dir():
        return data
    for place in _PLACES:
        if (data / place / f"{dataset}.json").is_file():
            return data / place / f"{dataset}.json"
    raise InputError(f"{data}: no {dataset}.json in this folder; name the file itself with --from")


def skills_of(given: GivenFiles, instances: list[Instance]) -> dict[str, SkillSheet]:
    """The texts of the annotated skills, from `--skills` or from a checkout's own corpus; none where there is neither."""
    path = given.skills
    if path is None and given.data.is_dir():
        path = next((given.data / place for place in _CORPORA if (given.data / place).is_file()), None)
    if path is None:
        return {}
    return read_corpus(path, sorted({skill for one in instances for skill in one.skills}))


def _instance(row: Mapping[str, Any], dataset: str, where: str) -> Instance:
    found = row.get("dataset")
    if found != dataset:
        raise InputError(f"{where}: an instance of {shown(found)}, not of {dataset}; name the file of {dataset}")
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
