"""Whose a grading is: the arm, the evaluation, the run, the iteration, the skill and the model, from the nearest thing that says so.

Nearest is: the object that holds the verdicts, the objects around it, the file's name, the metadata beside the file, then the
folders from the file upward. What is said twice and differently is a conflict, and the run is refused with both readings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from skilldelta.bank.importers.joining import is_placeholder
from skilldelta.bank.importers.tools.plain_values import text_of
from skilldelta.bank.importers.workspace.arm_words import ArmName, arm_of_name, plain_words, possible_arm
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
    r"|did ?n[o']t load|never loaded|unavailable|(?:does|did) not exist)|(?:no such|unknown) skill\b|failed to load (?:the )?skill",
    re.IGNORECASE,
)
_ANY = 1_000
_MISSING_FLAGS = ("skill_loaded", "skill_available", "skill_found")
_REMARKS = (
    *("error", "errors", "note", "notes", "status", "skill_status", "warning", "warnings", "comment", "skill_error"),
    *("user_notes_summary", "user_notes", "remarks", "deviations", "issues"),
)


# Most objects say nothing of a kind, which one comparison of sets tells.
_SAYS_ARM = frozenset((*_ARM_FIELDS, *_ARM_FLAGS, "name", "id", "key", "title"))
_SAYS_EVAL = frozenset((*_ID_FIELDS, *_NAME_FIELDS, *_TEXT_FIELDS, "id", "name", "title"))
_SAYS_OTHER = {
    names: frozenset(names) for names in (_SKILL_FIELDS, _VERSION_FIELDS, _ITERATION_FIELDS, _MODEL_FIELDS, _RUN_FIELDS)
}
_SAYS_MISSING = frozenset((*_REMARKS, *_MISSING_FLAGS))


class ConflictingCluesError(Exception):
    """Two things say whose a run is, and differently."""


class FileClues(NamedTuple):
    """What a file's name and folders say, worked out once per file."""

    stem: str
    """The name without `grading`, `config` and the like: `eval-7`, `with_skill`; "" where nothing is left."""
    folders: tuple[str, ...]
    """From the file upward, those above the source among them."""


class Level(NamedTuple):
    """One thing that may say something: an object of the document, metadata beside the file, a name of a file or folder."""

    kind: str
    """object, key, case, file, beside or folder; a case is a key that names an evaluation whatever it is."""
    name: str = ""
    fields: Fields | None = None

    @property
    def is_key(self) -> bool:
        """Whether it is a key of the document."""
        return self.kind in ("key", "case")


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
            arm = _arm_of_part(level.name, extra)
            if arm is not None:
                yield ArmClue(arm, level.name, level.kind, f"the {_KINDS[level.kind]} {level.name!r}")


_KINDS = {"object": "field", "key": "key", "case": "key", "file": "file name", "beside": "metadata", "folder": "folder"}


def _arm(name: str, extra: Mapping[str, str]) -> ArmName | None:
    if name in extra:
        return ArmName("skip" if extra[name] == "skip" else "use")
    return arm_of_name(name)


def _arm_of_part(name: str, extra: Mapping[str, str]) -> ArmName | None:
    """The arm of a part of a path, which may hold the evaluation's name, too."""
    return _arm(name, extra) or possible_arm(name)


def _arm_fields(level: Level, extra: Mapping[str, str]) -> Iterator[ArmClue]:
    fields = level.fields or {}
    if _SAYS_ARM.isdisjoint(fields):
        return
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


def chosen_arm(sure: Sequence[ArmClue]) -> ArmClue | None:
    """The nearest name that is surely an arm's, else the nearest whose counterpart stands in the same place.

    A field or key of the file that contradicts the file's own name or folder is a conflict; folders further up are not asked.
    """
    # A weak word beside a sure one is no arm.
    strong = [clue for clue in sure if clue.arm.is_sure]
    ranked = strong or sure
    if not ranked:
        return None
    inside = next((clue for clue in ranked if clue.kind in ("object", "key", "case")), None)
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
    places: tuple[str, ...] = ()
    """Parts of the path that may name it, the nearest first; those above the source only where there is no other."""


def eval_clue(levels: Sequence[Level], arm: ArmClue | None = None, *, inside: int = _ANY) -> EvalClue:
    """The evaluation of a run of the arm `arm`, whose file lies in `inside` folders of its source."""
    eval_id = name = text = ""
    places: list[str] = []
    folders = 0
    for level in levels:
        if level.fields is not None and not _SAYS_EVAL.isdisjoint(level.fields):
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
        folders += level.kind == "folder"
        is_outside = folders > inside and bool(places)
        is_named = level.is_key and bool(eval_id or name)
        if level.name and not level.name.startswith("[") and not is_outside and not is_named:
            places += _eval_names(level.kind, level.name, arm)
        if level.kind == "folder" and is_iteration(level.name):
            break
    if match := NUMBERED.match(eval_id):
        eval_id = match[1]
    if match := NUMBERED.match(name):
        eval_id, name = eval_id or match[1], ""
    if plain_words(eval_id) == plain_words(name) or (eval_id and not eval_id.isdigit() and not name):
        eval_id, name = "", name or eval_id
    return EvalClue(without_zeros(eval_id), name, text, tuple(dict.fromkeys(places)))


def without_zeros(eval_id: str) -> str:
    """`1` of `01`, so that a folder eval-01 is the evaluation with the id 1."""
    return str(int(eval_id)) if eval_id.isascii() and eval_id.isdigit() else eval_id


def _not_an_arm(name: str) -> str:
    """A name, unless it is an arm's: rows per arm carry it where rows per evaluation have theirs."""
    arm = arm_of_name(name)
    return "" if arm is not None and arm.is_sure else name


@lru_cache(maxsize=1 << 14)
def _eval_names(kind: str, name: str, arm: ArmClue | None) -> tuple[str, ...]:
    """The name of a folder, file part or key, where it can be an evaluation's."""
    if RUN_FOLDER.match(name) or is_generic(name) or (kind == "folder" and is_iteration(name)):
        return ()
    if kind == "key" and not NUMBERED.match(name) and not re.search(r"[-\s]", name):
        return ()  # `runs`, `with_skill`, `grading`: a key with a hyphen or a blank was made of an evaluation's name
    named = arm_of_name(name)
    if arm is not None and name == arm.name and kind == arm.kind:
        name = _spelled(name, arm.arm.rest)  # eval-3-with_skill: what is left of it
    elif named is not None and (named.is_sure or not named.rest):
        name = ""
    elif named is not None and (arm is None or named.meaning == arm.arm.meaning):
        name = _spelled(name, named.rest)
    return (name,) if name else ()


def _spelled(name: str, rest: str) -> str:
    """The part of a name that plain words stand for, as it is written; "" for a numbered run."""
    match = re.search(r"[\W_]*".join(map(re.escape, rest.split("_"))), name, re.IGNORECASE)
    return "" if not rest or match is None or RUN_FOLDER.match(rest.replace("_", "-")) else match[0]


def _first_text(fields: Fields, names: tuple[str, ...]) -> str:
    if names in _SAYS_OTHER and _SAYS_OTHER[names].isdisjoint(fields):
        return ""
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
        if level.fields is not None and not _SAYS_OTHER[_RUN_FIELDS].isdisjoint(level.fields):
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
        if level.fields is None or _SAYS_OTHER[_SKILL_FIELDS].isdisjoint(level.fields):
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


def skill_was_missing(objects: Iterable[Fields]) -> str:
    """What the objects of a run say about a skill that failed to load; "" where they say nothing of the kind."""
    for fields in objects:
        if _SAYS_MISSING.isdisjoint(fields):
            continue
        for flag in _MISSING_FLAGS:
            if fields.get(flag) is False:
                return f"{flag}: false"
        for name in _REMARKS:
            value = fields.get(name)
            lists = list(value.values()) if isinstance(value, dict) else [value]
            remarks = [remark for inner in lists for remark in (inner if isinstance(inner, list) else [inner])]
            for remark in remarks:
                if isinstance(remark, str) and _NOT_LOADED.search(remark):
                    return f"{name}: {remark[:80]!r}"
    return ""
