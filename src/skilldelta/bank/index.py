"""The in-memory index: one contiguous float32 matrix per scope, loaded when it is first asked for.

A scope is an immutable snapshot. When the bank has grown, only the pairs of touched tasks are read and a new snapshot
takes the old one's place; who still holds the old one is not disturbed. Rows stand in the bank's record order, the same
as in `Bank.support`, so that ties break the same way everywhere.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from skilldelta.arrays import Ints
from skilldelta.bank.pair_reading import Changes, Mark, PairQuery
from skilldelta.bank.store import Bank
from skilldelta.bank.vectors import TextEncoder
from skilldelta.records import Agent
from skilldelta.support import Support


@dataclass(frozen=True, slots=True, eq=False)
class _Snapshot:
    mark: Mark
    task_keys: Ints  # (n,) the bank's keys, ascending: the record order
    support: Support


class Index:
    """The scopes of one agent under one encoder. Threads may share it."""

    def __init__(
        self, bank: Bank, encoder: TextEncoder, agent: Agent, *, suite: str | None = None, include_stale: bool = False
    ) -> None:
        self._bank = bank
        self._encoder = encoder
        self._agent = agent
        self._suite = suite
        self._include_stale = include_stale
        self._snapshots: dict[tuple[str | None, str | None], _Snapshot] = {}
        self._refreshing = threading.Lock()

    @property
    def identity(self) -> tuple[str, str, str, str, bool]:
        """What the rows depend on besides the revision: agent, suite, encoder, and whether stale evidence counts."""
        agent, suite = self._agent, "" if self._suite is None else f"suite {self._suite}"
        return (agent.name, agent.fingerprint, suite, self._encoder.identity, self._include_stale)

    def revision(self) -> int:
        """The revision of the evidence of this agent and suite as it is now."""
        return self._bank.panel_revision(self._agent, self._suite)

    def learned(self, name: str, part: str) -> bytes | None:
        """What was learned from the evidence as it is now, if it was cached."""
        return self._bank.learned(name, part, revision=self.revision())

    def keep_learned(self, name: str, parts: Mapping[str, bytes], *, revision: int) -> bool:
        """Cache what was learned from the rows at a revision; False where it is no longer the revision, or cannot be."""
        return revision == self.revision() and self._bank.keep_learned(name, parts, revision=revision)

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
        skill, family = name
        asked = PairQuery(self._agent, self._suite, skill, family, self._include_stale)
        changes = self._bank.changes(asked, since=None if old is None else old.mark)
        if old is None or changes.touched is None:
            task_keys = np.asarray(changes.task_keys, np.int64)
            return _Snapshot(changes.mark, task_keys, self._support(changes).read_only())
        if not changes.touched:
            return replace(old, mark=changes.mark)
        return _merged(old, changes, self._support(changes))

    def _support(self, changes: Changes) -> Support:
        vectors = self._bank.vectors(self._encoder, changes.texts)
        return changes.support(vectors, self._encoder.identity, self._agent, self._suite)


def _merged(old: _Snapshot, changes: Changes, new: Support) -> _Snapshot:
    """The old rows without those of touched tasks, and the new rows, in record order."""
    kept = np.flatnonzero(~np.isin(old.task_keys, np.asarray(changes.touched, np.int64)))
    is_whole = len(kept) == len(old.task_keys)
    task_keys = np.concatenate([old.task_keys[kept], np.asarray(changes.task_keys, np.int64)])
    support = (old.support if is_whole else old.support.rows(kept)).followed_by(new)
    if (np.diff(task_keys) < 0).any():
        order = np.argsort(task_keys, kind="stable")
        task_keys, support = task_keys[order], support.rows(order)
    return _Snapshot(changes.mark, task_keys, support.read_only())
