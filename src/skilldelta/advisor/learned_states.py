"""What the learned estimator knows of one panel: its learned states, and how they follow the evidence.

A state is read from the bank where another process has learned it, else learned and kept there. It belongs to one mark of
the evidence and one version of the code. When the evidence grows, a panel without a learner learns again before it answers.
With a learner it answers at once from the state it has, says that the state is of a previous revision, and takes the next
one when the learner, which works in another process, has it. A state that saw evidence which was removed since, or which
belongs to a version of a skill that is no longer the current one, never answers.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from skilldelta.bank.index import Index
from skilldelta.bank.pair_reading import Mark
from skilldelta.errors import SkillDeltaError
from skilldelta.estimators.base import Score, Scored, Target
from skilldelta.estimators.blend import Blend, FittedBlend
from skilldelta.estimators.blend.blend import left_out_with, rows_without
from skilldelta.estimators.blend.blend_panel import Key
from skilldelta.estimators.blend.kept import KeptBlend, NotKeptError, code_version, parts_of
from skilldelta.packing import DamagedError, pack, unpack
from skilldelta.redaction import redacted
from skilldelta.support import Support

_log = logging.getLogger("skilldelta.learning")

_WHOLE = "all"
_MARK = "mark"
# Executions of a panel up to which it is learned while the question waits, within about a tenth of a second.
SMALL = 2_000
# States without a single task, which are made for small panels only and never kept: the latest few are enough.
_MOST_TASK_STATES = 8


class Learner(Protocol):
    """Learns states behind the questions."""

    def learn(self, index: Index, name: str, *, at_once: bool) -> Future[Mapping[str, bytes] | None]:
        """The parts of a state of a panel, or None where they are kept in the bank; `name` says what it must not see.

        Somebody waits for it where it is wanted at once; else the learner may take its time.
        """


class NotLearnedYetError(SkillDeltaError):
    """There is no state that may answer; ask again when `ready` is done."""

    def __init__(self, ready: Future[None]) -> None:
        super().__init__("the evidence is being learned; ask again in a moment")
        self.ready = ready


@dataclass(slots=True)
class _State:
    """A state and the evidence that it has seen."""

    mark: Mark
    model: FittedBlend | KeptBlend
    is_current: bool = True
    is_kept: bool = False
    """Whether it is in the bank, or was refused there."""


class LearnedPanel:
    """The states of one agent on one suite under one encoder, by what they have not seen.

    A recorded task is scored by a state that never saw it: in a large panel there is one per fold, kept like the whole
    one; in a small panel it is learned anew, which takes less time than reading it would save.
    """

    def __init__(self, index: Index, learner: Learner | None = None) -> None:
        self._index = index
        self._learner_of_large = learner
        self._learner: Learner | None = None
        self._revision: int | None = None
        self._states: dict[str, _State] = {}
        self._task_states: OrderedDict[str, _State] = OrderedDict()
        self._requested: dict[str, Future[None]] = {}
        self._unusable: set[str] = set()
        """What the learner was asked for at this revision because nothing could answer."""
        self._changing = threading.RLock()

    def score(self, target: Target) -> Score:
        """The score of a target by a state that never saw its task."""
        name = self._left_out_for(target)
        for _ in range(2):  # a second time where a part of the state was replaced or damaged meanwhile
            state = self._state(name)
            try:
                score = state.model.score(target)
            except NotKeptError:
                self._drop(name, state)
                continue
            self._keep(name, state)  # after the score, which may have made parts that only some targets need
            return score if state.is_current else replace(score, of_previous_revision=True)
        state = self._learned_anew(name)
        return state.model.score(target)

    def scored(self, target: Target) -> Scored:
        """The scores of recorded rows, each made without its own outcome, of the state that scores a target."""
        name = self._left_out_for(target)
        state = self._state(name)
        try:
            scored = state.model.scored
        except NotKeptError:
            self._drop(name, state)
            state = self._learned_anew(name)
            scored = state.model.scored
        self._keep(name, state)
        return scored

    # -- finding a state --------------------------------------------------------------------------------------------

    def _left_out_for(self, target: Target) -> str:
        if not target.task_id:
            return _WHOLE
        state = self._state(_WHOLE)
        whole = state.model
        try:
            tasks = whole.names.tasks if isinstance(whole, KeptBlend) else np.unique(whole.support.task_ids)
        except NotKeptError:
            tasks = np.unique(self._index.scope().task_ids)
        self._keep(_WHOLE, state)  # it says which tasks are recorded, so the next process needs it as well
        place = int(np.searchsorted(tasks, target.task_id))
        if place == len(tasks) or tasks[place] != target.task_id:
            return _WHOLE
        return left_out_with(target.task_id, len(tasks))

    def _state(self, name: str) -> _State:
        """The state that answers now: the current one, or with a learner one that saw a part of the evidence."""
        with self._changing:
            self._refresh()
            if name.startswith("task "):
                return self._task_states.get(name) or self._learned_here(name)
            state = self._states.get(name) or self._read(name)
            if state is None:
                return self._learned_anew(name)
            self._states[name] = state
            if not state.is_current and name not in self._unusable:
                self._request(name, at_once=False)
            return state

    def _refresh(self) -> None:
        """Judge every state anew when the evidence has changed: keep it, grow it, or let go of it."""
        revision = self._index.revision()
        if revision == self._revision:
            return
        self._task_states.clear()
        self._unusable.clear()
        # A small panel is learned sooner than another process starts.
        if self._learner is None and self._learner_of_large is not None and self._index.has_more_than(SMALL):
            self._learner = self._learner_of_large
        for name, state in list(self._states.items()):
            freshness = self._index.freshness(state.mark)
            state.is_current = freshness == "current"
            if freshness == "invalid" or (freshness == "outdated" and self._learner is None):
                del self._states[name]
            if freshness == "outdated" and self._learner is None and isinstance(state.model, FittedBlend):
                rows, mark = self._index.whole()
                if name == _WHOLE:
                    self._states[name] = _State(mark, state.model.grown(rows), is_kept=True)
        self._revision = revision

    def _read(self, name: str, parts: Mapping[str, bytes] | None = None) -> _State | None:
        """A state that is read part by part, from the bank or from given parts; None where there is none that may answer."""
        place = place_of(self._index, name)
        revision = self._index.learned_revision(place) if parts is None else 0

        def read(part: str) -> bytes | None:
            if parts is not None:
                return parts.get(part)
            return None if revision is None else self._index.learned(place, part, revision=revision)

        def rows_of(key: Key | None) -> Support:
            family, skill = key or (None, None)
            return _visible(self._index.scope(skill=skill, family=family or None), name)

        try:
            mark = unpack(read(_MARK) or b"", Mark)
        except DamagedError:
            return None
        freshness = self._index.freshness(mark)
        if freshness == "invalid" or (freshness == "outdated" and self._learner is None):
            return None
        state = _State(
            mark, KeptBlend(read, rows_of, lambda: state.is_current), is_current=freshness == "current", is_kept=True
        )
        return state

    def _drop(self, name: str, state: _State) -> None:
        with self._changing:
            if self._states.get(name) is state:
                del self._states[name]

    # -- learning ---------------------------------------------------------------------------------------------------

    def _learned_anew(self, name: str) -> _State:
        """A state where none can answer: a learner's, which is waited for, or one that is learned here."""
        with self._changing:
            if name not in self._requested and (self._learner is None or name in self._unusable):
                return self._learned_here(name)
            ready = self._request(name, at_once=True)
            self._unusable.add(name)  # should what comes next not answer either, it is learned here
            raise NotLearnedYetError(ready)

    def _learned_here(self, name: str) -> _State:
        rows, mark = self._index.whole()
        state = _State(mark, Blend().fit(_visible(rows, name)))
        if not name.startswith("task "):
            self._states[name] = state
            return state
        self._task_states[name] = state
        while len(self._task_states) > _MOST_TASK_STATES:
            self._task_states.popitem(last=False)
        return state

    def _request(self, name: str, *, at_once: bool) -> Future[None]:
        """Have a state learned by the learner; done when it has taken its place."""
        assert self._learner is not None
        ready = self._requested.get(name)
        if ready is None or at_once:
            learned = self._learner.learn(self._index, name, at_once=at_once)
            if ready is None:
                ready = self._requested[name] = Future()
                learned.add_done_callback(lambda parts: self._take(name, parts))
        return ready

    def _take(self, name: str, learned: Future[Mapping[str, bytes] | None]) -> None:
        """Put what the learner has learned in place of what answers now, once it has read the groups that are in use."""
        before, state, is_usable = self._states.get(name), None, False
        try:
            state = self._read(name, learned.result())
            if state is not None and before is not None and isinstance(before.model, KeptBlend):
                assert isinstance(state.model, KeptBlend)
                state.model.prepare_like(before.model)
            is_usable = learned.result() != {}  # nothing is learned from no evidence
        except CancelledError:  # the service is shutting down
            pass
        except (NotKeptError, SkillDeltaError, OSError) as error:
            _log.warning("what was learned cannot be used: %s", redacted(str(error)))
        with self._changing:
            if not is_usable:
                self._unusable.add(name)
            elif state is None or not state.is_current:  # evidence was forgotten or added meanwhile: once more
                self._unusable.discard(name)
            if is_usable and state is not None:
                self._states[name] = state
                state.is_current &= self._index.freshness(state.mark) == "current"  # it took a while to read
            self._requested.pop(name).set_result(None)

    def _keep(self, name: str, state: _State) -> None:
        """Keep a state that was learned here, once. Where it cannot be kept, the next process learns it again."""
        if state.is_kept or not isinstance(state.model, FittedBlend) or name.startswith("task "):
            return
        state.is_kept = True
        self._index.keep_learned(place_of(self._index, name), _parts(state.model, state.mark), state.mark)


def learn_state(index: Index, name: str) -> Mapping[str, bytes] | None:
    """Learn a state with everything that any question may need: its parts, or None where they are kept in the bank."""
    rows, mark = index.whole()
    parts = _parts(Blend().fit(_visible(rows, name)), mark, whole=True)
    return None if index.keep_learned(place_of(index, name), parts, mark) else parts


def place_of(index: Index, name: str) -> str:
    """The name of a state in the bank, which another agent, suite, encoder or version of the code does not share."""
    digest = hashlib.blake2b(json.dumps([name, *index.identity]).encode(), digest_size=16).hexdigest()
    return f"blend:{digest} {code_version()}"


def _parts(model: FittedBlend, mark: Mark, *, whole: bool = False) -> dict[str, bytes]:
    """A state in parts, with the mark of the evidence; versions of skills that it has not seen do not matter."""
    parts = parts_of(model, whole=whole)
    if parts:
        versions = dict(mark.versions)
        skills = np.unique(model.support.skills).tolist()
        parts[_MARK] = pack(replace(mark, versions=tuple((skill, versions.get(skill, ())) for skill in skills)))
    return parts


def _visible(support: Support, name: str) -> Support:
    """The rows that a state of this name may see."""
    return support if name == _WHOLE else support.rows(np.flatnonzero(rows_without(support.task_ids, name)))
