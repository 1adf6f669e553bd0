"""The pairs of a panel or a scope as columns, without an object per execution: what large banks are read by.

The rules are those of `pairing`, for the tasks that have nothing unusual about them: baselines that all skills share, or
that were recorded for the very version that was run. The other tasks go through `pairing` itself, and take their places
among the rest. A test holds both ways to the same pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from zlib import crc32

import numpy as np
from sqlalchemy import Connection, Select

from skilldelta.arrays import Flags, Floats, Ints, Vectors
from skilldelta.bank import reading, schema
from skilldelta.bank.pair_reading import Mark, PairQuery, mark_now, pair_query, read_pairs, versions_of
from skilldelta.bank.schema import UNCHECKED, chunked, execution_checksum
from skilldelta.records import Agent, Skill
from skilldelta.support import Support

_ROWS_AT_ONCE = 50_000
# Bytes of the numbers of an execution, as its checksum takes them.
_PACKED = 88


@dataclass(frozen=True, slots=True, eq=False)
class PairColumns:
    """Pairs in order of their tasks' arrival, and how many tasks or pairs were left out."""

    task_keys: Ints  # (n,) ascending
    skill_keys: Ints  # (n,) keys of skill versions
    y0: Floats
    y1: Floats
    r0: Ints
    r1: Ints
    tokens0: Floats  # NaN where unknown
    tokens1: Floats
    unpaired: int
    stale: int

    def __len__(self) -> int:
        return len(self.task_keys)


@dataclass(frozen=True, slots=True, eq=False)
class ScopeRows:
    """All pairs of a scope, with the names, texts and text digests of their tasks, one per pair."""

    mark: Mark
    columns: PairColumns
    task_ids: Sequence[str]
    families: Sequence[str]
    skills: Sequence[str]
    texts: tuple[str, ...]

    def support(self, vectors: Vectors, encoder: str, agent: Agent, suite: str | None) -> Support:
        """The pairs as arrays, with the vectors of their texts."""
        columns = self.columns
        return Support.from_arrays(
            task_ids=self.task_ids,
            families=self.families,
            skills=self.skills,
            vectors=vectors,
            **{name: getattr(columns, name) for name in ("y0", "y1", "r0", "r1", "tokens0", "tokens1")},
            texts=self.texts,
            encoder=encoder,
            agent=agent.name,
            suite=suite or "",
        )


def read_scope(connection: Connection, scope: PairQuery) -> ScopeRows:
    """Everything that a reader needs of a scope, in one view of the bank."""
    mark = mark_now(connection, scope)
    columns = read_pair_columns(connection, scope)
    keys = np.unique(columns.task_keys)
    tasks = schema.tasks
    # A scope that takes a good part of its suite is read in one go, and a small one by its keys.
    conditions = [tasks.c.suite == scope.suite] if scope.suite is not None else []
    is_large = len(keys) > _ROWS_AT_ONCE and scope.family is None
    chunks = [None] if is_large else list(chunked(keys.tolist()))
    needed = set(keys.tolist()) if is_large else None
    stored = {
        row.key: row
        for chunk in chunks
        for row in reading.read_stored_tasks(connection, *(conditions if chunk is None else [tasks.c.key.in_(chunk)]))
        if needed is None or row.key in needed
    }
    skills = reading.read_versions(connection)
    rows = [stored[key] for key in columns.task_keys.tolist()]
    return ScopeRows(
        mark,
        columns,
        [row.task_id for row in rows],
        [row.family for row in rows],
        [skills[key].skill_id for key in columns.skill_keys.tolist()],
        tuple(row.text for row in rows),
    )


def read_pair_columns(connection: Connection, scope: PairQuery) -> PairColumns:
    """The pairs of `read_pairs` as columns."""
    skills = reading.read_versions(connection)
    runs, doubled = _versioned(_read_runs(connection, pair_query(connection, scope)), skills)
    unusual = np.union1d(doubled, _unusual_tasks(runs, skills))
    if len(unusual):
        usual = ~np.isin(runs.task, unusual)
        runs = runs.where(usual)
    columns = _paired(runs, skills, include_stale=scope.include_stale)
    if not len(unusual):
        return columns
    return _with_unusual(connection, scope, columns, unusual, skills)


@dataclass(frozen=True, slots=True, eq=False)
class _Runs:
    """Executions as columns, by task and then by arrival."""

    task: Ints
    skill: Ints
    is_use: Flags
    is_counted: Flags
    repetition: Ints
    success: Floats
    tokens: Floats  # NaN where unknown

    def where(self, chosen: Flags) -> _Runs:
        return _Runs(**{field.name: getattr(self, field.name)[chosen] for field in fields(self)})


def _read_runs(connection: Connection, query: Select[*tuple[Any, ...]]) -> _Runs:
    """The executions of a query, each compared with its checksum."""
    result = connection.execute(query.execution_options(yield_per=_ROWS_AT_ONCE))
    pieces = [_checked_runs(rows) for rows in result.partitions()] or [_checked_runs([])]
    return _Runs(
        **{field.name: np.concatenate([getattr(piece, field.name) for piece in pieces]) for field in fields(_Runs)}
    )


def _checked_runs(rows: Sequence[Any]) -> _Runs:
    columns = list(zip(*rows, strict=True)) if rows else [()] * 14
    key, agent, task, skill, condition, repetition, attempt, success, tokens, seconds, cost, status, at, checksum = (
        columns
    )
    packed = np.empty((len(rows), _PACKED // 8), "<i8")
    numbers = packed.view("<f8")
    try:
        for place, column in enumerate((key, agent, task, skill, repetition, attempt)):
            packed[:, place] = np.asarray(column, np.int64)
        for place, column in enumerate((success, tokens, seconds, cost, at), 6):
            numbers[:, place] = np.asarray(column, np.float64)  # None becomes NaN, as in the checksum
        _check(packed, condition, status, checksum, rows)
    except (TypeError, ValueError, OverflowError):  # a value of another type than was stored
        _refuse_changed(rows)
        raise
    completed = np.fromiter((word == "completed" for word in status), np.bool_, len(rows))
    return _Runs(
        task=packed[:, 2].astype(np.int64),
        skill=packed[:, 3].astype(np.int64),
        is_use=np.fromiter((word == "use" for word in condition), np.bool_, len(rows)),
        is_counted=completed & ~np.isnan(numbers[:, 6]),
        repetition=packed[:, 4].copy(),
        success=numbers[:, 6].copy(),
        tokens=numbers[:, 7].copy(),
    )


def _check(packed: Any, condition: Sequence[str], status: Sequence[str], checksum: Sequence[int], rows: Any) -> None:
    """`execution_checksum` of many rows: their numbers lie in one piece of memory."""
    raw = packed.tobytes()
    words = {pair: f"{pair[0]} {pair[1]}".encode() for pair in set(zip(condition, status, strict=True))}
    start = 0
    for pair, stored_checksum in zip(zip(condition, status, strict=True), checksum, strict=True):
        end = start + _PACKED
        if crc32(words[pair], crc32(raw[start:end])) != stored_checksum and stored_checksum != UNCHECKED:
            _refuse_changed(rows)
        start = end


def _refuse_changed(rows: Sequence[Any]) -> None:
    for *stored, checksum in rows:
        if execution_checksum(stored) != checksum and checksum != UNCHECKED:
            raise schema.changed_row(f"the execution {stored[0]} of the task with the key {stored[2]}")


def _versioned(runs: _Runs, skills: Mapping[int, Skill]) -> tuple[_Runs, Ints]:
    """Runs without a version as those of the only version known; and the tasks that also have the same run with it."""
    versions = versions_of(skills.values())
    keys = {(skill.skill_id, skill.digest): key for key, skill in skills.items()}
    only = {
        key: keys[skill.skill_id, versions[skill.skill_id][0]]
        for key, skill in skills.items()
        if not skill.digest and len(versions.get(skill.skill_id, ())) == 1
    }
    is_unversioned = np.isin(runs.skill, list(only))
    if not is_unversioned.any():
        return runs, np.empty(0, np.int64)
    skill = runs.skill.copy()
    for key, version in only.items():
        skill[runs.skill == key] = version
    versioned = replace(runs, skill=skill)
    columns = np.stack([versioned.task, versioned.skill, versioned.is_use, versioned.repetition], axis=1)
    _, place = np.unique(columns, axis=0, return_inverse=True)
    place = place.reshape(-1)
    with_version = np.isin(runs.skill, list(only.values())) & runs.is_counted
    return versioned, np.unique(versioned.task[is_unversioned & np.isin(place, place[with_version])])


def _unusual_tasks(runs: _Runs, skills: Mapping[int, Skill]) -> Ints:
    """Tasks that need the full rules of `pairing`, because they have baselines of other versions than those that were run."""
    unusual: list[Ints] = []
    own = ~runs.is_use & (runs.skill != _shared_key(skills))
    if own.any():
        use, skip = _Groups(runs, runs.is_use), _Groups(runs, own)
        # A baseline of a version that was not run, or without a counted run.
        unusual.append(skip.task[(use.place(skip.task, skip.skill) < 0) | (skip.counts == 0)])
        # A version without a baseline of its own, beside baselines of others.
        lacking = _count_at(skip, use.task, use.skill) == 0
        unusual.append(use.task[lacking & np.isin(use.task, skip.task)])
    return np.unique(np.concatenate(unusual)) if unusual else np.empty(0, np.int64)


def _shared_key(skills: Mapping[int, Skill]) -> int:
    """The key of the nameless skill of shared baselines; -1 where there is none."""
    return next(
        (key for key, skill in skills.items() if skill.skill_id == schema.SHARED_SKILL and not skill.digest), -1
    )


class _Groups:
    """Some executions by task and skill version, in order of first appearance, with their counts and sums."""

    def __init__(self, runs: _Runs, chosen: Flags) -> None:
        task, skill = runs.task[chosen], runs.skill[chosen]
        self._width = int(runs.skill.max(initial=0)) + 1
        codes, first, inverse = np.unique(task * self._width + skill, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        group = rank[inverse]
        self.task, self.skill = task[first[order]], skill[first[order]]
        self._codes, self._ranks = codes, rank
        counted = runs.is_counted[chosen]
        size = len(order)
        # `bincount` adds in the order of the rows, as a plain sum does: means are equal to the last digit.
        self.counts = np.bincount(group[counted], minlength=size)
        self.successes = np.bincount(group[counted], weights=runs.success[chosen][counted], minlength=size)
        self.tokens = np.bincount(group[counted], weights=runs.tokens[chosen][counted], minlength=size)

    def place(self, task: Ints, skill: Ints) -> Ints:
        """Where the groups of some tasks and versions are; -1 where there is none."""
        if not len(self._codes):
            return np.full(len(task), -1, np.int64)
        codes = task * self._width + skill
        at = np.searchsorted(self._codes, codes).clip(max=len(self._codes) - 1)
        return np.where(self._codes[at] == codes, self._ranks[at], -1)


def _count_at(groups: _Groups, task: Ints, skill: Ints) -> Ints:
    """The counted runs of some tasks and versions; 0 where there is no such group."""
    place = groups.place(task, skill)
    return np.where(place >= 0, _taken(groups.counts, place), 0).astype(np.int64)


def _paired(runs: _Runs, skills: Mapping[int, Skill], *, include_stale: bool) -> PairColumns:
    shared_key = _shared_key(skills)
    is_shared = runs.skill == shared_key
    use = _Groups(runs, runs.is_use)
    own, shared = _Groups(runs, ~runs.is_use & ~is_shared), _Groups(runs, ~runs.is_use & is_shared)
    own_place = own.place(use.task, use.skill)
    shared_place = shared.place(use.task, np.full(len(use.task), shared_key, np.int64))
    has_own = _count_at(own, use.task, use.skill) > 0

    def baseline(own_values: Any, shared_values: Any) -> Any:
        of_shared = np.where(shared_place >= 0, _taken(shared_values, shared_place), 0)
        return np.where(has_own, _taken(own_values, own_place), of_shared)

    r0, r1 = baseline(own.counts, shared.counts), use.counts
    is_pair = (r0 > 0) & (r1 > 0)
    versions = versions_of(skills.values())
    current = np.array(
        [key for key, skill in skills.items() if versions.get(skill.skill_id, [skill.digest])[-1] == skill.digest],
        np.int64,
    )
    is_stale = ~np.isin(use.skill, current)
    chosen = is_pair if include_stale else is_pair & ~is_stale
    order = np.flatnonzero(chosen)
    if include_stale:  # stale pairs stand beside their task's current one
        order = order[np.lexsort((order, is_stale[order], use.task[order]))]
    untreated = np.setdiff1d(shared.task, use.task)
    with np.errstate(invalid="ignore", divide="ignore"):
        y0, tokens0 = baseline(own.successes, shared.successes) / r0, baseline(own.tokens, shared.tokens) / r0
        y1, tokens1 = use.successes / r1, use.tokens / r1
    return PairColumns(
        use.task[order],
        use.skill[order],
        *(y0[order], y1[order], r0[order].astype(np.int64), r1[order].astype(np.int64)),
        *(tokens0[order], tokens1[order]),
        unpaired=int((~is_pair).sum()) + len(untreated),
        stale=0 if include_stale else int((is_pair & is_stale).sum()),
    )


def _taken(values: Any, place: Ints) -> Any:
    return values[place] if len(values) else np.zeros(len(place))


def _with_unusual(
    connection: Connection, scope: PairQuery, columns: PairColumns, unusual: Ints, skills: Mapping[int, Skill]
) -> PairColumns:
    """The pairs of usual tasks with those of unusual ones in their places."""
    paired = read_pairs(connection, scope, task_keys=unusual.tolist())
    keys = {(skill.skill_id, skill.digest): key for key, skill in skills.items()}
    pairs = paired.pairing.pairs

    def joined(name: str, values: Iterator[Any] | list[Any]) -> Any:
        old = getattr(columns, name)
        return np.concatenate([old, np.asarray(list(values), old.dtype)])

    task_keys = joined("task_keys", [paired.key_of(pair) for pair in pairs])
    order = np.argsort(task_keys, kind="stable")
    rest = {
        "skill_keys": joined("skill_keys", [keys[pair.skill_id, pair.skill_digest] for pair in pairs]),
        **{name: joined(name, [getattr(pair, name) for pair in pairs]) for name in ("y0", "y1", "r0", "r1")},
        **{name: joined(name, [getattr(pair, name) for pair in pairs]) for name in ("tokens0", "tokens1")},
    }
    return PairColumns(
        task_keys[order],
        **{name: values[order] for name, values in rest.items()},
        unpaired=columns.unpaired + len(paired.pairing.unpaired),
        stale=columns.stale + len(paired.pairing.stale),
    )
