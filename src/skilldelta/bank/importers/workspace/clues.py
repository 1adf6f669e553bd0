"""Whose a grading is: the arm, the evaluation, the run, the iteration, the skill and the model, from the nearest thing that says so.

Nearest is: the object that holds the verdicts, the objects around it, the file's name, the metadata beside the file, then the
folders from the file upward. What is said twice and differently is a conflict, and the run is refused with both readings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from skilldelta.bank.importers.joining import is_placeholder
from skilldelta.bank.importers.tools.plain_values import text_of
from skilldelta.bank.importers.workspace.arm_words import ArmName, arm_of_name, plain_words
from skilldelta.bank.importers.workspace.assertions import Fields
from skilldelta.bank.importers.workspace.path_words import NUMBERED, RUN_FOLDER, bare_stem, is_generic, is_iteration

_ARM_FIELDS = (
    *("configuration", "config", "config_name", "arm", "arm_name", "mode", "variant", "condition", "setup", "setting"),
    *("run_type", "group", "experiment_arm", "skill_mode", "skill_condition", "label", "type", "kind", "agent_config"),
)
_ARM_FLAGS = ("with_skill", "skill_enabled", "use_skill", "uses_skill", "skill_used", "used_skill", "has_skill")
_ID_FIELDS = ("eval_id", "evaluation_id", "case_id", "test_id", "task_id", "scenario_id", "eval_number", "eval_index")
_NAME_FIELDS = (
    *(
        "eval_name",
        "evaluation_name",
        "case_name",
        "test_name",
        "task_name",
        "scenario_name",
        "scenario",
        "case",
        "eval",
    ),
    *("task", "evaluation", "test_case", "slug"),
)
_TEXT_FIELDS = (
    *("prompt", "task_prompt", "user_prompt", "query", "input", "question", "instruction", "instructions", "task_text"),
    *("request", "user_message"),
)
_SKILL_FIELDS = ("skill_name", "skill", "skill_id")
_VERSION_FIELDS = ("skill_digest", "skill_sha256", "skill_sha", "skill_hash", "skill_commit", "skill_version")
_ITERATION_FIELDS = ("iteration", "iteration_number", "iteration_name")
_MODEL_FIELDS = ("model", "model_name", "model_id", "executor_model", "agent_model", "model_requested")
_RUN_FIELDS = ("run_number", "run_index", "run", "repetition", "rep", "trial", "attempt", "repeat")
_NOT_LOADED = re.compile(
    r"skill\b[^.;]{0,60}\b(?:failed to load|not (?:been )?(?:found|loaded|available|installed)|could not be (?:loaded|found)"
    r"|did ?n[o']t load|never loaded|unavailable)|failed to load (?:the )?skill",
    re.IGNORECASE,
)
_REMARKS = ("error", "errors", "note", "notes", "status", "skill_status", "warning", "comment", "skill_error")


class ConflictingCluesError(Exception):
    """Two things say whose a run is, and differently."""


class FileClues(NamedTuple):
    """What a file's name and folders say, worked out once per file."""

    stem: str
    """The name without `grading`, `config` and the like: `eval-7`, `with_skill`; "" where nothing is left."""
    folders: tuple[str, ...]
    """From the file upward, those above the source among them."""


@dataclass(frozen=True, slots=True)
class Level:
    """One thing that may say something: an object of the document, metadata beside the file, a name of a file or folder."""

    kind: str
    """object, key, file, beside or folder."""
    name: str = ""
    fields: Fields | None = None


@lru_cache(maxsize=4096)
def file_clues(name: str, above: tuple[str, ...]) -> FileClues:
    """The clues in a path inside a source; `above` are the folders around the source, the nearest first."""
    folder, _, file = name.rpartition("/")
    folders = tuple(reversed(folder.split("/"))) if folder else ()
    return FileClues(bare_stem(file.rpartition(".")[0] or file), (*folders, *above))


# Arms


class ArmClue(NamedTuple):
    """A name that may be an arm's, and where it stands."""

    arm: ArmName
    name: str
    kind: str
    said_by: str


def arm_clues(levels: Iterable[Level], extra: Mapping[str, str]) -> Iterator[ArmClue]:
    """Everything that may name the arm, the nearest first; `extra` are the names that a person explains."""
    for level in levels:
        if level.fields:
            yield from _arm_fields(level, extra)
        if level.name:
            arm = _arm(level.name, extra)
            if arm is not None:
                yield ArmClue(arm, level.name, level.kind, f"the {_KINDS[level.kind]} {level.name!r}")


_KINDS = {"object": "field", "key": "key", "file": "file name", "beside": "metadata", "folder": "folder"}


def _arm(name: str, extra: Mapping[str, str]) -> ArmName | None:
    if name in extra:
        return ArmName("skip" if extra[name] == "skip" else "use")
    return arm_of_name(name)


def _arm_fields(level: Level, extra: Mapping[str, str]) -> Iterator[ArmClue]:
    fields = level.fields or {}
    for name in _ARM_FIELDS:
        value = fields.get(name)
        if (
            isinstance(value, str)
            and (arm := _arm(value, extra)) is not None
            and (arm.is_sure or name in _ARM_FIELDS[:10])
        ):
            yield ArmClue(arm, value, level.kind, f"{name}: {value!r}")
    for name in ("name", "id", "key", "title"):
        value = fields.get(name)
        if isinstance(value, str) and (arm := _arm(value, extra)) is not None and arm.is_sure:
            yield ArmClue(arm, value, level.kind, f"{name}: {value!r}")
    for name in _ARM_FLAGS:
        value = fields.get(name)
        if isinstance(value, bool):
            reading = f"{name}: {str(value).lower()}"
            yield ArmClue(ArmName("use" if value else "skip"), reading, level.kind, reading)


def chosen_arm(clues: Sequence[ArmClue], weak_pairs: frozenset[tuple[str, str]]) -> ArmClue | None:
    """The nearest name that is surely an arm's, else the nearest whose counterpart stands in the same kind of place.

    A field or key of the file that contradicts the file's own name or folder is a conflict; folders further up are not asked.
    """
    sure = [clue for clue in clues if clue.arm.is_sure or (clue.kind, clue.arm.rest) in weak_pairs]
    # A weak word beside a sure one is no arm.
    strong = [clue for clue in sure if clue.arm.is_sure]
    ranked = strong or sure
    if not ranked:
        return None
    inside = next((clue for clue in ranked if clue.kind in ("object", "key")), None)
    outside = next((clue for clue in ranked if clue.kind in ("file", "folder")), None)
    if inside is not None and outside is not None and inside.kind == "object":
        if inside.arm.meaning != outside.arm.meaning:
            raise ConflictingCluesError(f"{inside.said_by} in the file, but {outside.said_by}")
        # The folder of an old version says more than `with_skill` in the file.
        if outside.arm.version and not inside.arm.version:
            return outside
    return ranked[0]


# Evaluations


class EvalClue(NamedTuple):
    """What says which evaluation a run is of."""

    eval_id: str = ""
    name: str = ""
    text: str = ""
    folder: str = ""
    """The folder or file part that would name it, where nothing else does."""


def eval_clue(levels: Sequence[Level]) -> EvalClue:
    """The evaluation of a run."""
    eval_id = name = text = folder = ""
    for level in levels:
        if level.fields is not None:
            if not eval_id:
                eval_id = _first_text(level.fields, _ID_FIELDS)
            if not name:
                name = _not_an_arm(_first_text(level.fields, _NAME_FIELDS))
            text = text or _first_text(level.fields, _TEXT_FIELDS)
            if not eval_id and level.kind == "object" and level.name.startswith("["):
                eval_id = _not_an_arm(_first_text(level.fields, ("id",)))
                name = name or _not_an_arm(_first_text(level.fields, ("name", "title")))
            elif not eval_id and not name and level.kind == "beside":
                eval_id = _first_text(level.fields, ("id",))
                name = _first_text(level.fields, ("name",))
        if (
            level.name
            and not level.name.startswith("[")
            and not folder
            and not (level.kind == "key" and (eval_id or name))
        ):
            folder = _eval_name(level)
        if level.kind == "folder" and is_iteration(level.name):
            break
    if match := NUMBERED.match(folder):
        eval_id = eval_id or match[1]
    if match := NUMBERED.match(eval_id):
        eval_id = match[1]
    if match := NUMBERED.match(name):
        eval_id, name = eval_id or match[1], ""
    if plain_words(eval_id) == plain_words(name) or (eval_id and not eval_id.isdigit() and not name):
        eval_id, name = "", name or eval_id
    return EvalClue(eval_id, name, text, "" if NUMBERED.match(folder) and eval_id else folder)


def _not_an_arm(name: str) -> str:
    """A name, unless it is an arm's: rows per arm carry it where rows per evaluation have theirs."""
    arm = arm_of_name(name)
    return "" if arm is not None and arm.is_sure else name


def _eval_name(level: Level) -> str:
    """The name of a folder, file part or key, where it can be an evaluation's."""
    name = level.name
    if RUN_FOLDER.match(name) or is_generic(name) or (level.kind == "folder" and is_iteration(name)):
        return ""
    if level.kind == "key" and not NUMBERED.match(name) and not re.search(r"[-\s]", name):
        return ""  # `runs`, `with_skill`, `grading`: a key with a hyphen or a blank was made of an evaluation's name
    arm = arm_of_name(name)
    if arm is None:
        return name
    if arm.is_sure or not arm.rest:
        return ""
    # eval-3-with_skill: what is left of it, as it is spelled.
    at = plain_words(name).find(arm.rest)
    rest = re.sub(r"\A[-_ ]+|[-_ ]+\Z", "", name[at : at + len(arm.rest)]) if at >= 0 else ""
    return "" if RUN_FOLDER.match(arm.rest.replace("_", "-")) else rest


def _first_text(fields: Fields, names: Sequence[str]) -> str:
    for name in names:
        if name in fields:
            text = text_of(fields[name]).strip()
            if text and not is_placeholder(text):
                return text
    return ""


# Runs, iterations, skills, models


def run_number(levels: Sequence[Level]) -> int | None:
    """Which repetition a run is; None where nothing says."""
    for level in levels:
        if level.fields is not None:
            for name in _RUN_FIELDS:
                value = level.fields.get(name)
                if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1_000_000:
                    return value
        if level.name and (match := RUN_FOLDER.match(level.name)):
            return int(match[1])
        if level.kind == "file" and (match := re.search(r"(?:run|trial|rep|attempt)[-_]?(\d{1,4})\b", level.name)):
            return int(match[1])
        if level.kind == "folder" and is_iteration(level.name):
            return None
    return None


def iteration(levels: Sequence[Level]) -> tuple[str, str]:
    """The iteration of a run as its folder names it, and as a field does; "" where neither says."""
    folder = next((level.name for level in levels if level.kind == "folder" and is_iteration(level.name)), "")
    field = ""
    for level in levels:
        if level.fields is not None and level.kind in ("object", "beside"):
            field = field or _first_text(level.fields, _ITERATION_FIELDS)
    return folder, field


def recorded_version(levels: Sequence[Level]) -> str:
    """The version of the skill that the run or its metadata records; "" where none does."""
    return next(
        (
            version
            for level in levels
            if level.fields is not None and (version := _first_text(level.fields, _VERSION_FIELDS))
        ),
        "",
    )


def skill_name(levels: Sequence[Level]) -> str:
    """The skill that the run or its metadata names; a path stands for the skill's folder."""
    for level in levels:
        if level.fields is None:
            continue
        for field in _SKILL_FIELDS:
            name = text_of(level.fields.get(field)).strip()
            if name and not is_placeholder(name) and arm_of_name(name) is None:
                return _skill_of_path(name)
    return ""


def _skill_of_path(name: str) -> str:
    parts = [part for part in re.split(r"[\\/]+", name) if part and part != "."]
    if len(parts) > 1 and parts[-1].upper() == "SKILL.MD":
        parts.pop()
    return parts[-1] if parts else name


def model_name(levels: Sequence[Level]) -> str:
    """The model that the run or its metadata names."""
    for level in levels:
        if level.fields is not None and (model := _first_text(level.fields, _MODEL_FIELDS)):
            return model
    return ""


def skill_was_missing(levels: Sequence[Level]) -> str:
    """What the run says about a skill that failed to load; "" where it says nothing of the kind."""
    for level in levels:
        if level.fields is None or level.kind != "object":
            continue
        for flag in ("skill_loaded", "skill_available", "skill_found"):
            if level.fields.get(flag) is False:
                return f"{flag}: false"
        for name in _REMARKS:
            value = level.fields.get(name)
            remarks = value if isinstance(value, list) else [value]
            for remark in remarks:
                if isinstance(remark, str) and _NOT_LOADED.search(remark):
                    return f"{name}: {remark[:80]!r}"
    return ""
