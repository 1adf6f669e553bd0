"""Learned states: what the learned estimator has fitted to one panel, shared with other processes through the bank."""

from __future__ import annotations

import hashlib
import json

import numpy as np

from skilldelta.bank.index import Index
from skilldelta.estimators.base import Score, Target
from skilldelta.estimators.stack import FittedStack, Stack
from skilldelta.estimators.stack.kept import KeptStack, NotKeptError, code_version, parts_of
from skilldelta.estimators.stack.stack import Scored, left_out_with, rows_without
from skilldelta.estimators.stack.stack_panel import Key
from skilldelta.support import Support

_WHOLE = "all"


class Stacks:
    """The stacks of one agent on one suite under one encoder, by what they have not seen.

    A stack is read from the bank where another process has learned it, else fitted and kept there. A kept one is good for
    one revision of the evidence and one version of the code; one that this process has fitted grows with the evidence. A
    recorded task is scored by a stack that never saw it: in a large panel there is one per fold, kept like the whole
    one; in a small panel it is fitted anew, which takes less time than reading it would save.
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._revision: int | None = None
        self._fitted: dict[str, FittedStack] = {}
        self._kept: dict[str, KeptStack] = {}

    def score(self, target: Target) -> Score:
        """The score of a target by a stack that never saw its task."""
        self._refresh()
        name = self._left_out_for(target)
        if name not in self._fitted:
            try:
                return self._from_bank(name, target.task_id).score(target)
            except NotKeptError:
                pass
        known = name in self._fitted
        score = self._fit(name, target.task_id).score(target)
        if not known:  # after the score, which may have made parts that only some targets need
            self._keep(name)
        return score

    def scored(self) -> Scored:
        """The scores of recorded rows, each made without its own outcome."""
        self._refresh()
        if _WHOLE not in self._fitted:
            try:
                return self._from_bank(_WHOLE, "").scored
            except NotKeptError:
                self._fit(_WHOLE, "")
                self._keep(_WHOLE)
        return self._fitted[_WHOLE].scored

    def _refresh(self) -> None:
        """Let go of what belongs to an earlier revision; a whole stack of this process grows."""
        revision = self._index.revision()
        if revision == self._revision:
            return
        whole = self._fitted.get(_WHOLE)
        self._fitted = {} if whole is None else {_WHOLE: whole.grown(self._index.scope())}
        self._kept, self._revision = {}, revision

    def _left_out_for(self, target: Target) -> str:
        if not target.task_id:
            return _WHOLE
        tasks = self._tasks()
        return left_out_with(target.task_id, len(tasks)) if target.task_id in tasks else _WHOLE

    def _tasks(self) -> frozenset[str]:
        try:
            return frozenset(self._from_bank(_WHOLE, "").names.tasks.tolist())
        except NotKeptError:
            return frozenset(self._index.scope().row_of_task)

    def _from_bank(self, name: str, task_id: str) -> KeptStack:
        if name not in self._kept:
            place = self._place(name)
            self._kept[name] = KeptStack(
                lambda part: self._index.learned(place, part), lambda key: self._rows_of(key, name, task_id)
            )
        return self._kept[name]

    def _rows_of(self, key: Key, name: str, task_id: str) -> Support:
        family, skill = key
        return _seen(self._index.scope(skill=skill, family=family or None), name, task_id)

    def _fit(self, name: str, task_id: str) -> FittedStack:
        if name not in self._fitted:
            self._fitted[name] = Stack().fit(_seen(self._index.scope(), name, task_id))
        return self._fitted[name]

    def _keep(self, name: str) -> None:
        """Keep a stack, if it is of the revision that the bank still has; that it cannot be kept is no one's problem."""
        if not name.startswith("task ") and self._revision is not None:
            self._index.keep_learned(self._place(name), parts_of(self._fitted[name]), revision=self._revision)

    def _place(self, name: str) -> str:
        """A name that another agent, suite, encoder or version of the code does not share."""
        told = json.dumps([name, *self._index.identity])
        return f"stack:{hashlib.blake2b(told.encode(), digest_size=16).hexdigest()} {code_version()}"


def _seen(support: Support, name: str, task_id: str) -> Support:
    """The rows that a stack of this name may see."""
    return support if name == _WHOLE else support.rows(np.flatnonzero(rows_without(support.task_ids, task_id, name)))
