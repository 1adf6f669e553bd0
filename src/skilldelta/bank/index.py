"""The in-memory index: one contiguous float32 matrix per scope, loaded when it is first asked for.

A scope is an immutable snapshot. When the bank has grown, only the pairs of touched tasks are read and a new snapshot
takes the old one's place; who still holds the old one is not disturbed. Rows stand in the bank's record order, the same
as in `Bank.support`, so that ties break the same way everywhere.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from skilldelta.arrays import Ints
from skilldelta.bank.pair_columns import ScopeRows
from skilldelta.bank.pair_reading import Changes, Freshness, Mark, PairQuery
from skilldelta.bank.store import Bank
from skilldelta.bank.vectors import TextEncoder
from skilldelta.records import Agent, Pair
from skilldelta.support import Support


@dataclass(frozen=True, slots=True, eq=False)
class _Snapshot:
    mark: Mark
    task_keys: Ints  # (n,) the bank's keys, ascending: the record order
    support: Support


# Changes of a panel that are kept for scopes that were not asked for since.
_MOST_ARRIVALS = 32


class Index:
    """The scopes of one agent under one encoder. Threads may share it."""

    def __init__(
        self, bank: Bank, encoder: TextEncoder, agent: Agent, *, suite: str | None = None, include_stale: bool = False
    ) -> None:
        self._bank = bank
        self._encoder = encoder
        self.agent = agent
        self.suite = suite
        self._include_stale = include_stale
        self._snapshots: dict[tuple[str | None, str | None], _Snapshot] = {}
        self._arrivals: list[_Arrivals] = []
        self._refreshing = threading.Lock()

    @property
    def identity(self) -> tuple[str, str, str, str, bool]:
        """What the rows depend on besides the revision: agent, suite, encoder, and whether stale evidence counts."""
        agent, suite = self.agent, "" if self.suite is None else f"suite {self.suite}"
        return (agent.name, agent.fingerprint, suite, self._encoder.identity, self._include_stale)

    def revision(self) -> int:
        """The revision of the evidence of this agent and suite as it is now."""
        return self._bank.panel_revision(self.agent, self.suite)

    def learned(self, name: str, part: str, *, revision: int) -> bytes | None:
        """A part of what was learned at a revision, if it is kept."""
        return self._bank.learned(name, part, revision=revision)

    def learned_revision(self, name: str) -> int | None:
        """The revision at which the kept state of a name was learned."""
        return self._bank.learned_revision(name)

    def keep_learned(self, name: str, parts: Mapping[str, bytes], mark: Mark) -> bool:
        """Cache what was learned from the rows at a mark; False where it may no longer answer, or cannot be cached.

        Evidence that was only added to since is no reason against it, unless a state of the present revision is cached.
        """
        freshness = self.freshness(mark)
        if freshness == "invalid" or (freshness == "outdated" and self.learned_revision(name) == self.revision()):
            return False
        is_kept = self._bank.keep_learned(name, parts, revision=mark.revision)
        if is_kept and self.freshness(mark) == "invalid":  # forgotten in this very moment: no word of it may stay
            self._bank.drop_learned(name)
            return False
        return is_kept

    def has_more_than(self, executions: int) -> bool:
        """Whether the agent has more executions on the suite than this; cheap, however many there are."""
        return self._bank.has_more_executions(executions, self.agent, self.suite)

    def freshness(self, mark: Mark) -> Freshness:
        """How what was learned at a mark relates to the evidence as it is now."""
        if mark.revision == self.revision():
            return "current"
        arrivals = self._arrivals  # what a scope has read already need not be asked for again
        is_up_to_date = bool(arrivals) and arrivals[-1].changes.mark.revision == self.revision()
        if is_up_to_date and any(earlier.since == mark.revision for earlier in arrivals):
            return "outdated"
        return self._bank.freshness(PairQuery(self.agent, self.suite, None, None, self._include_stale), mark)

    def whole(self) -> tuple[Support, Mark]:
        """All rows, and how far the evidence was read for them."""
        with self._refreshing:
            snapshot = self._snapshots[None, None] = self._refreshed((None, None), self._snapshots.get((None, None)))
        return snapshot.support, snapshot.mark

    def scope(self, *, skill: str | None = None, family: str | None = None) -> Support:
        """The rows of a skill, a family, both, or (neither) all; up to date with what was committed before the call."""
        name = (skill, family)
        snapshot = self._snapshots.get(name)
        if snapshot is not None and snapshot.mark.revision == self.revision():
            return snapshot.support
        with self._refreshing:
            snapshot = self._refreshed(name, self._snapshots.get(name))
            if len(snapshot.support) or family is None:
                self._snapshots[name] = snapshot
            else:  # families that nobody recorded are as many as anybody likes to name
                self._snapshots.pop(name, None)
            return snapshot.support

    def _refreshed(self, name: tuple[str | None, str | None], old: _Snapshot | None) -> _Snapshot:
        if old is not None and old.mark.revision == self.revision():
            return old  # another thread was faster
        scope = PairQuery(self.agent, self.suite, *name, self._include_stale)
        changes = None
        if old is not None:
            changes = self._changes_of_all(scope, old.mark) or self._bank.changes(scope, since=old.mark)
        if old is None or changes is None or changes.touched is None:
            rows = self._bank.scope_rows(scope)
            return _Snapshot(rows.mark, rows.columns.task_keys, self._support(rows).read_only())
        if not changes.touched:
            return replace(old, mark=changes.mark)
        return _merged(old, changes, self._support(changes))

    def _changes_of_all(self, scope: PairQuery, since: Mark) -> Changes | None:
        """What a scope lacks, out of what the whole panel lacked, which is read once for all scopes; None if unknown."""
        whole = replace(scope, skill_id=None, family=None)
        last = self._arrivals[-1].changes.mark if self._arrivals else None
        if last is None or last.revision != self.revision():
            now = self._bank.mark(whole)
            if last is None or (last.removals, last.versions) != (now.removals, now.versions):
                self._arrivals = [_Arrivals(now.revision, Changes(now, (), (), (), ()))]
            else:
                self._arrivals.append(_Arrivals(last.revision, self._bank.changes(whole, since=last)))
                del self._arrivals[:-_MOST_ARRIVALS]
        lacking: list[Changes] = []
        for arrivals in reversed(self._arrivals):
            if arrivals.changes.touched is None:  # something was removed in this very moment
                self._arrivals = []
                return None
            lacking.append(arrivals.changes)
            if arrivals.since == since.revision:
                return _joined(lacking, scope)
        return None

    def _support(self, changes: Changes | ScopeRows) -> Support:
        vectors = self._bank.vectors(self._encoder, changes.texts)
        return changes.support(vectors, self._encoder.identity, self.agent, self.suite)


@dataclass(frozen=True, slots=True, eq=False)
class _Arrivals:
    """What the whole panel gained after a revision."""

    since: int
    changes: Changes


def _joined(newest_first: Sequence[Changes], scope: PairQuery) -> Changes:
    """Several changes of a panel as one of a scope: a task that was touched more than once is as it was last."""
    mark = newest_first[0].mark
    if scope.skill_id is not None:
        mark = replace(mark, versions=((scope.skill_id, dict(mark.versions).get(scope.skill_id, ())),))
    touched: set[int] = set()
    rows: list[tuple[int, Pair, str]] = []
    for changes in newest_first:
        rows += [
            (key, pair, text)
            for key, pair, text in zip(changes.task_keys, changes.pairs, changes.texts, strict=True)
            if key not in touched and scope.skill_id in (None, pair.skill_id) and scope.family in (None, pair.family)
        ]
        touched.update(changes.touched or ())
    rows.sort(key=lambda row: row[0])
    return Changes(
        mark,
        tuple(sorted(touched)),
        tuple(pair for _, pair, _ in rows),
        tuple(key for key, _, _ in rows),
        tuple(text for _, _, text in rows),
    )


def _merged(old: _Snapshot, changes: Changes, new: Support) -> _Snapshot:
    """The old rows without those of touched tasks, and the new rows, in record order."""
    untouched = np.flatnonzero(~np.isin(old.task_keys, np.asarray(changes.touched, np.int64)))
    is_whole = len(untouched) == len(old.task_keys)
    task_keys = np.concatenate([old.task_keys[untouched], np.asarray(changes.task_keys, np.int64)])
    support = (old.support if is_whole else old.support.rows(untouched)).followed_by(new)
    if (np.diff(task_keys) < 0).any():
        order = np.argsort(task_keys, kind="stable")
        task_keys, support = task_keys[order], support.rows(order)
    return _Snapshot(changes.mark, task_keys, support.read_only())
