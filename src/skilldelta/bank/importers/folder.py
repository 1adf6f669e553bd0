"""A folder of result files as one source: its files in order of their names, a pair in two files being repeated."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skilldelta.bank.batch import Batch
from skilldelta.errors import InputError
from skilldelta.nouns import plural
from skilldelta.records import Agent, Execution

SUFFIXES = frozenset((".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".gz"))
_MOST_FILES = 10_000


def files_in(folder: Path, refusal: Callable[[], InputError]) -> list[Path]:
    """The data files of a folder and of those below it; hidden ones and other kinds are passed over.

    `refusal` is for a folder without any.
    """
    try:
        below = (path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES and path.is_file())
        found = list(itertools.islice(below, _MOST_FILES + 1))
    except OSError as error:
        raise InputError(f"{folder}: cannot be read ({error.strerror}); check the folder and its permissions") from None
    if len(found) > _MOST_FILES:
        raise InputError(f"{folder}: more than {_MOST_FILES:,} files; name a folder with fewer")
    visible = [path for path in found if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    if not visible:
        raise refusal()
    return sorted(visible)


def merged(batches: Sequence[Batch]) -> Batch:
    """The batches of a folder's files as one: a run that another file has too is a further repetition of its pair.

    Runs that agree in everything, tokens among them, are copies and keep their number, so that they count once.
    """
    seen: dict[_Key, tuple[float | None, float | None]] = {}
    following: dict[_Arm, int] = {}
    executions: list[Execution] = []
    repeated: set[_Arm] = set()
    for batch in batches:
        shifts = {_arm(e): following.get(_arm(e), 0) for e in batch.executions if _is_another(e, seen)}
        repeated |= shifts.keys()
        came = [replace(e, repetition=e.repetition + shifts.get(_arm(e), 0)) for e in batch.executions]
        for e in came:
            seen[_arm(e), e.repetition] = (e.success, e.tokens)
            following[_arm(e)] = max(following.get(_arm(e), 0), e.repetition + 1)
        executions += came
    return Batch(
        tasks=tuple(dict.fromkeys(task for batch in batches for task in batch.tasks)),
        skills=tuple(dict.fromkeys(skill for batch in batches for skill in batch.skills)),
        executions=tuple(executions),
        vectors=tuple(vector for batch in batches for vector in batch.vectors),
        notes=_notes(len(repeated)),
    )


_Arm = tuple[str, str, str, str, Agent, str]
_Key = tuple[_Arm, int]


def _arm(e: Execution) -> _Arm:
    return (e.suite, e.task_id, e.skill_id, e.skill_digest, e.agent, e.condition)


def _is_another(e: Execution, seen: Mapping[_Key, tuple[float | None, float | None]]) -> bool:
    """Whether an earlier file has an outcome under the same number that is not, for all one can tell, this one."""
    earlier = seen.get((_arm(e), e.repetition))
    if earlier is None or earlier[0] is None or e.success is None:
        return False
    return e.tokens is None or earlier != (e.success, e.tokens)


def _notes(repeated: int) -> tuple[str, ...]:
    if not repeated:
        return ()
    return (
        f"{plural(repeated, 'arm of a pair stands', 'arms of pairs stand')} in several files: taken as repetitions",
    )
