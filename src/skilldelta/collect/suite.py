"""Suites: a folder with `suite.yaml`, `tasks.jsonl` and `skills/<name>/SKILL.md`, read and checked whole.

Everything that can be wrong in a suite is found here, before the first call of an agent is paid. Which grader options
exist is the graders' knowledge, who runs the tasks is the agents'.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from skilldelta.errors import InputError, shown
from skilldelta.files import json_lines, read_text
from skilldelta.front_matter import split_front_matter
from skilldelta.records import Skill, Task
from skilldelta.settings_text import MOST_SETTINGS, yaml_value
from skilldelta.skill_folder import FolderFiles, files_beside, files_together

SUITE_FILE = "suite.yaml"
# Graders that can do without an answer in the task.
UNANSWERED_GRADERS = ("python", "command", "judge", "inspect", "unit_tests", "workbook")

_SUITE_KEYS = (
    *("name", "description", "tasks", "agent", "grader", "skills", "benchmark", "repetitions"),
    *("protocol", "skill_separator", "self_judge"),
)
_TASK_KEYS = ("task_id", "text", "prompt", "family", "skill", "answer", "grader", "metadata", "files")
_SKILL_SEPARATOR = "\n\n"


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """What a suite says about its agent; flags of the command line go before it."""

    solver: str = "generate"
    system: str = ""
    prompt: str = ""
    """What is asked in both arms, with {task} in it; empty is the task's text alone. No encoder sees it."""
    skill_prompt: str = ""
    """The user's message of the use arm, with {skill} and {task} in it; empty makes the skill a system message."""
    skill_system: str = ""
    """What the use arm has at the end of its system message, with {skill} in it, in place of a message of its own."""
    temperature: float | None = 0.0
    """None sends no temperature: some models of today accept none."""
    max_tokens: int = 1024
    max_tokens_field: str = "max_tokens"
    """The request's name for the cap: max_tokens or max_completion_tokens."""
    top_p: float | None = None
    stop: tuple[str, ...] = ()
    reasoning_effort: str = ""
    """Sent as it is; a field that switches thinking on or off is then not sent."""
    thinking: bool | None = None
    """Switches thinking on or off in the field that the model's family knows; None sends nothing."""
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of every request, also of self-judgements."""
    send_seed: bool = False
    """Whether a request carries the repetition's seed."""
    environment: tuple[str, ...] = ()
    """Names of variables that a command agent gets beside the usual few."""


@dataclass(frozen=True, slots=True)
class SuiteTask:
    """One line of tasks.jsonl with its grader settled."""

    task_id: str
    text: str
    family: str
    skill_id: str
    answer: Any
    grader: Mapping[str, Any]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    files: Path | None = None
    """A folder that is copied for every execution: the task's own working copy."""
    prompt: str = ""
    """What is asked in place of the text, which encoders see; empty is the text."""
    skill_text: str = ""
    """The skills' texts in the task's own order, where the suite keeps it; empty is the text of its bundle."""

    @property
    def question(self) -> str:
        """The task as an agent is asked it, before the suite's prompt."""
        return self.prompt or self.text


@dataclass(frozen=True, slots=True)
class SelfJudgePrompt:
    """A suite's own wording for self-judgements; `user` has {question} and {skills} in it."""

    system: str
    user: str


@dataclass(frozen=True, slots=True)
class Suite:
    """A checked suite. `skills` holds every single skill and every bundle that a task names, by skill_id."""

    name: str
    description: str
    folder: Path
    tasks: tuple[SuiteTask, ...]
    skills: Mapping[str, Skill]
    agent: AgentSettings
    benchmark: str = ""
    """The benchmark that it was prepared from, where it was."""
    repetitions: int = 1
    """Runs of each task in each arm, unless a person asks for another number."""
    protocol: str = ""
    """Whose wording it was prepared with: `authors`, `plain`, or nothing for a suite of one's own."""
    self_judge: SelfJudgePrompt | None = None
    skills_folder: Path = Path("skills")
    """Where the folders of its skills are."""

    def skill_text(self, task: SuiteTask) -> str:
        """What is injected for a task in the arm with the skill."""
        return task.skill_text or self.skills[task.skill_id].text

    def records(self) -> tuple[list[Task], list[Skill]]:
        """The tasks and the skills in use, as the bank stores them."""
        used = dict.fromkeys(task.skill_id for task in self.tasks)
        tasks = [Task(task.task_id, task.text, task.family, self.name) for task in self.tasks]
        return tasks, [self.skills[skill_id] for skill_id in used]


def load_suite(folder: Path) -> Suite:
    """Read and check a suite folder; the first mistake is an InputError that names file, line and remedy."""
    settings = _read_settings(folder)
    skills_folder = folder / _text(settings, "skills", SUITE_FILE, default="skills")
    tasks_file = folder / _text(settings, "tasks", SUITE_FILE, default="tasks.jsonl")
    default_grader = settings.get("grader")
    if default_grader is not None:
        _check_grader(default_grader, f"{folder / SUITE_FILE}: grader")
    repetitions = settings.get("repetitions", 1)
    rule = f"{folder / SUITE_FILE}: repetitions must be a whole number from 1 to 1000"
    _check_number(repetitions, 1, 1000, rule, whole=True)
    single = _read_skills(skills_folder)
    skills: dict[str, Skill] = {}
    tasks: list[SuiteTask] = []
    lines_by_id: dict[str, int] = {}
    if not os.path.isfile(tasks_file):
        raise InputError(f"{tasks_file}: the tasks file is missing; name another with `tasks:` in {SUITE_FILE}")
    separator = _text(settings, "skill_separator", SUITE_FILE, default="")
    for number, row in list(json_lines(tasks_file)):
        where = f"{tasks_file}:{number}"
        task = _task(row, where, default_grader=default_grader, folder=folder)
        if task.task_id in lines_by_id:
            raise InputError(f"{where}: task_id {task.task_id!r} is already used in line {lines_by_id[task.task_id]}")
        lines_by_id[task.task_id] = number
        names = skill_names(row, where)
        if separator and isinstance(row["skill"], list):
            # The order of the annotations is part of the text, and one set of skills comes in several orders.
            names = list(dict.fromkeys(row["skill"]))
            text = _bundle(names, single, where, skills_folder, separator).text
            task = replace(task, skill_text=text)
        bundle = _bundle(names, single, where, skills_folder, separator or _SKILL_SEPARATOR)
        skills.setdefault(task.skill_id, replace(bundle, skill_id=task.skill_id))
        tasks.append(task)
    if not tasks:
        raise InputError(f"{tasks_file}: no tasks; write one JSON object per line with task_id, text, skill and answer")
    return Suite(
        name=_text(settings, "name", SUITE_FILE, default=folder.resolve().name),
        description=_text(settings, "description", SUITE_FILE, default=""),
        folder=folder,
        tasks=tuple(tasks),
        skills=skills,
        agent=_agent_settings(settings.get("agent") or {}, f"{folder / SUITE_FILE}: agent"),
        benchmark=_text(settings, "benchmark", SUITE_FILE, default=""),
        repetitions=repetitions,
        protocol=_text(settings, "protocol", SUITE_FILE, default=""),
        self_judge=_self_judge(settings.get("self_judge"), f"{folder / SUITE_FILE}: self_judge"),
        skills_folder=skills_folder,
    )


def check_new_folder(folder: Path, remedy: str = "name a new folder") -> None:
    """Refuse to write a suite where something is already."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} exists and is not empty; {remedy}")


def _read_settings(folder: Path) -> dict[str, Any]:
    path = folder / SUITE_FILE
    if not os.path.isfile(path):
        if os.path.isfile(folder / "evals" / "evals.json"):
            remedy = f"make one of its evals with: skilldelta suite init --from-skill {folder} NEW_FOLDER"
        else:
            remedy = f"start one with: skilldelta suite init {folder}"
        raise InputError(f"{folder} is not a suite: it has no {SUITE_FILE}; {remedy}")
    settings = yaml_value(read_text(path, most=MOST_SETTINGS), str(path)) or {}
    if not isinstance(settings, dict):
        raise InputError(f"{path}: expected settings like `name: my-suite`, got {type(settings).__name__}")
    _refuse_unknown(settings, _SUITE_KEYS, str(path))
    return settings


def _agent_settings(settings: Any, where: str) -> AgentSettings:
    if not isinstance(settings, dict):
        raise InputError(f"{where}: expected settings like `solver: generate`, got {shown(settings)}")
    _refuse_unknown(settings, tuple(field.name for field in fields(AgentSettings)), where)
    usual = AgentSettings()
    stop, environment, top_p = settings.get("stop") or [], settings.get("environment") or [], settings.get("top_p")
    texts = [stop] if isinstance(stop, str) else stop
    if not _all_texts(texts):
        raise InputError(f"{where}: stop must be a text or a list of texts, got {shown(stop)}")
    if not _all_texts(environment) or not all(re.fullmatch(r"\w+", name) for name in environment):
        raise InputError(f"{where}: environment must be a list of names of variables, without their values")
    temperature, most = settings.get("temperature", usual.temperature), settings.get("max_tokens", usual.max_tokens)
    if temperature is not None:
        _check_number(temperature, 0, 1e6, f"{where}: temperature must be a number of at least 0, or null")
    _check_number(most, 1, 2**31 - 1, f"{where}: max_tokens must be at least 1", whole=True)
    if top_p is not None:
        _check_number(top_p, 0, 1, f"{where}: top_p must be a number from 0 to 1")
    return AgentSettings(
        solver=_text(settings, "solver", where, default=usual.solver),
        system=_text(settings, "system", where, default=""),
        prompt=_template(settings, "prompt", ("{task}",), where),
        skill_prompt=_template(settings, "skill_prompt", ("{skill}", "{task}"), where),
        skill_system=_template(settings, "skill_system", ("{skill}",), where),
        temperature=None if temperature is None else float(temperature),
        max_tokens=most,
        max_tokens_field=_cap_field(settings, where),
        reasoning_effort=_text(settings, "reasoning_effort", where, default=""),
        thinking=_switch(settings, "thinking", where),
        extra_body=_extra_body(settings, where),
        send_seed=bool(_switch(settings, "send_seed", where)),
        top_p=None if top_p is None else float(top_p),
        stop=tuple(texts),
        environment=tuple(environment),
    )


def _cap_field(settings: Mapping[str, Any], where: str) -> str:
    name = _text(settings, "max_tokens_field", where, default="max_tokens")
    if name not in ("max_tokens", "max_completion_tokens"):
        raise InputError(f"{where}: max_tokens_field must be max_tokens or max_completion_tokens, got {shown(name)}")
    return name


def _switch(settings: Mapping[str, Any], key: str, where: str) -> bool | None:
    value = settings.get(key)
    if value is not None and not isinstance(value, bool):
        raise InputError(f"{where}: {key} must be true or false, got {shown(value)}")
    return value


def _extra_body(settings: Mapping[str, Any], where: str) -> dict[str, Any]:
    extra = settings.get("extra_body") or {}
    if not isinstance(extra, dict):
        raise InputError(f"{where}: extra_body must be an object of request fields, got {shown(extra)}")
    return extra


def _self_judge(settings: Any, where: str) -> SelfJudgePrompt | None:
    if settings is None:
        return None
    if not isinstance(settings, dict):
        raise InputError(f"{where}: expected system and user, got {shown(settings)}")
    _refuse_unknown(settings, ("system", "user"), where)
    user = _template(settings, "user", ("{question}", "{skills}"), where)
    return SelfJudgePrompt(_text(settings, "system", where, default=""), user)


def _template(settings: Mapping[str, Any], key: str, places: tuple[str, ...], where: str) -> str:
    """A text with a place for each of the things that it is filled with; an empty one stands for none."""
    text = _text(settings, key, where, default="")
    for place in places if text else ():
        if text.count(place) != 1:
            raise InputError(f"{where}: {key} must have {place} in it once, got {shown(text)}")
    return text


def _check_number(value: Any, least: float, most: float, rule: str, *, whole: bool = False) -> None:
    is_number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
    if not is_number or not least <= value <= most:
        raise InputError(f"{rule}, got {shown(value)}")


def _all_texts(values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _task(row: dict[str, Any], where: str, *, default_grader: Any, folder: Path) -> SuiteTask:
    _refuse_unknown(row, _TASK_KEYS, where)
    task_id = _text(row, "task_id", where)
    grader = row.get("grader", default_grader)
    if grader is None:
        raise InputError(f"{where}: task {task_id!r} has no grader; add `grader: {{type: exact}}` to {SUITE_FILE}")
    _check_grader(grader, f"{where}: grader")
    if row.get("answer") is None and grader["type"] not in UNANSWERED_GRADERS:
        raise InputError(f"{where}: task {task_id!r} has no answer, and its grader {grader['type']!r} needs one")
    metadata = row.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise InputError(f"{where}: metadata must be an object, got {shown(metadata)}")
    return SuiteTask(
        task_id=task_id,
        text=_text(row, "text", where),
        family=_text(row, "family", where, default=""),
        skill_id="+".join(skill_names(row, where)),
        answer=row.get("answer"),
        grader=grader,
        metadata=metadata,
        files=_files(row, where, folder),
        prompt=_text(row, "prompt", where, default=""),
    )


def _files(row: dict[str, Any], where: str, folder: Path) -> Path | None:
    if "files" not in row:
        return None
    files = folder / _text(row, "files", where)
    if not os.path.isdir(files):
        raise InputError(f"{where}: the folder {files} does not exist; `files` names a folder to copy for the task")
    return files


def skill_names(row: Mapping[str, Any], where: str) -> list[str]:
    """The sorted names of a task's skills; a bundle is the same bundle in whatever order it is written."""
    value = row.get("skill")
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        raise InputError(f"{where}: skill must be a name or a list of names, got {shown(value)}")
    return sorted(set(names))


def _bundle(names: list[str], single: Mapping[str, Skill], where: str, folder: Path, separator: str) -> Skill:
    for name in names:
        if name not in single:
            raise InputError(f"{where}: skill {name!r} does not exist; expected the file {folder / name / 'SKILL.md'}")
    text = separator.join(single[name].text for name in names)
    return Skill.from_text(
        "+".join(names),
        text,
        files_together(text, [(name, FolderFiles(single[name].files, single[name].sketch)) for name in names]),
    )


def _read_skills(folder: Path) -> dict[str, Skill]:
    if not os.path.isdir(folder):
        raise InputError(f"{folder}: the skills folder is missing; put each skill into {folder / 'NAME' / 'SKILL.md'}")
    return {path.parent.name: read_skill(path) for path in sorted(folder.glob("*/SKILL.md"))}


def read_skill(path: Path) -> Skill:
    """One SKILL.md: YAML front matter with name and description, then the body, which is the text injected."""
    parts = split_front_matter(read_text(path))
    if not parts.front:
        raise InputError(f"{path}: no front matter; begin the file with --- / name: … / description: … / ---")
    front = yaml_value("".join(parts.front), f"{path}: front matter")
    if not isinstance(front, dict) or not front.get("name") or not front.get("description"):
        raise InputError(f"{path}: the front matter needs both name and description")
    if front["name"] != path.parent.name:
        raise InputError(
            f"{path}: the front matter says name {shown(front['name'])}, its folder is {path.parent.name!r}"
        )
    if not parts.body:
        raise InputError(f"{path}: the skill has no text after its front matter, so there is nothing to inject")
    # A text of a benchmark is injected to the letter, blank ends included.
    text = parts.verbatim if front.get("verbatim") is True else parts.body
    return Skill.from_text(path.parent.name, text, files_beside(path))


def _check_grader(grader: Any, where: str) -> None:
    if not isinstance(grader, dict) or not isinstance(grader.get("type"), str):
        raise InputError(f"{where}: expected an object with a type, such as {{type: exact}}, got {shown(grader)}")


def _text(row: Mapping[str, Any], key: str, where: str, *, default: str | None = None) -> str:
    value = row.get(key, default)
    if not isinstance(value, str) or (default is None and not value.strip()):
        raise InputError(f"{where}: {key} must be a text, got {shown(value)}")
    return value


def _refuse_unknown(row: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in row:
        if key not in keys:
            raise InputError(f"{where}: unknown key {shown(key)}; known are {', '.join(keys)}")
