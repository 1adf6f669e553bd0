"""Which skills of a bank a task is about: applicability, fitted to what the bank has recorded and kept until it grows."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from skilldelta.arrays import Vectors
from skilldelta.bank.index import Index
from skilldelta.bank.store import Bank
from skilldelta.encoders import Encoder
from skilldelta.errors import InputError
from skilldelta.front_matter import split_front_matter
from skilldelta.records import Agent, Skill
from skilldelta.routing.applicability import FEW_TASKS, Applicability, Described, Ranking, RecordedTasks
from skilldelta.routing.everyday import everyday_prompts
from skilldelta.support import Support

# Characters of a skill's text that describe it where it has no description of its own.
_LONGEST_DESCRIPTION = 400


# A judgment stays good until the bank has grown by this share; with 20,000 tasks a new one takes seconds.
_GROWTH = 0.02


class _Fitted(NamedTuple):
    revision: int
    rows: int
    applicability: Applicability | None


class SkillRanking:
    """Ranks the skills of one agent. Threads may share it; a grown bank is noticed."""

    def __init__(self, bank: Bank, encoder: Encoder, agent: Agent) -> None:
        self._bank = bank
        self._encoder = encoder
        self._agent = agent
        self._indexes: dict[str, Index] = {}
        self._fitted: dict[str, _Fitted] = {}
        self._fitting = threading.Lock()

    def rank(self, text: str, offered: Iterable[str], *, suite: str = "") -> Ranking | None:
        """How likely a task is about each skill on offer; None where nothing can be said, so that every gate is asked.

        Nothing can be said without recorded tasks, and by an encoder that has no vectors for everyday prompts.
        """
        applicability = self.applicability(suite)
        if applicability is None:
            return None
        return applicability.rank(self._encoder.encode([text])[0], offered, text=text)

    def applicability(self, suite: str = "") -> Applicability | None:
        """The judgment over all recorded skills, of one suite or of all."""
        revision = self._bank.revision()
        fitted = self._fitted.get(suite)
        if fitted is not None and fitted.revision == revision:
            return fitted.applicability
        with self._fitting:
            fitted = self._fitted.get(suite)
            if fitted is None or fitted.revision != revision:
                fitted = self._fitted[suite] = self._refitted(suite, revision, fitted)
            return fitted.applicability

    def _refitted(self, suite: str, revision: int, old: _Fitted | None) -> _Fitted:
        """The judgment for the rows as they are now; the old one where hardly anything was added."""
        if suite not in self._indexes:
            # What an earlier version of a skill was about, the current one is about too.
            self._indexes[suite] = Index(
                self._bank, self._encoder, self._agent, suite=suite or None, include_stale=True
            )
        rows = self._indexes[suite].scope()
        if old is not None and old.applicability is not None:
            is_same_size = old.rows <= len(rows) <= (1 + _GROWTH) * old.rows
            if is_same_size and set(old.applicability.tasks.skills) == set(rows.skills.tolist()):
                return old._replace(revision=revision)
        everyday = encoded_everyday(self._encoder)
        if not len(rows) or len(everyday) < 2:
            return _Fitted(revision, len(rows), None)
        fitted = fitted_applicability(rows, everyday, everyday_prompts(), self._encoder, self._bank.skills())
        return _Fitted(revision, len(rows), fitted)


def fitted_applicability(
    rows: Support, everyday: Vectors, everyday_texts: Sequence[str], encoder: Encoder, skills: Iterable[Skill]
) -> Applicability:
    """Applicability from the rows of a panel; two rows with the same text are the same task."""
    tasks = RecordedTasks.of(rows.texts or rows.task_ids.tolist(), rows.skills.tolist(), rows.vectors, rows.texts or ())
    few = {name for name, count in zip(tasks.skills, np.diff(tasks.starts), strict=True) if count < FEW_TASKS}
    texts = {skill.skill_id: described(skill) for skill in skills if skill.skill_id in few}
    return Applicability.fit(tasks, everyday, everyday_texts=everyday_texts, descriptions=_encoded(encoder, texts))


def described(skill: Skill) -> str:
    """What a skill is about in a few words: its name, then its description or the beginning of its text."""
    parts = split_front_matter(skill.text)
    lines = [line for line in parts.front if line.startswith("description:")]
    description = lines[0].partition(":")[2].strip() if lines else parts.body
    words = skill.skill_id.replace("-", " ").replace("_", " ")
    return f"{words}: {description[:_LONGEST_DESCRIPTION]}".strip()


def encoded_everyday(encoder: Encoder) -> Vectors:
    """(prompts, dim) the everyday prompts; none for an encoder that knows the bank's own texts only."""
    try:
        return encoder.encode(list(everyday_prompts()))
    except InputError:
        return np.empty((0, 0), np.float32)


def _encoded(encoder: Encoder, texts: Mapping[str, str]) -> dict[str, Described]:
    if not texts:
        return {}
    vectors = encoder.encode(list(texts.values()))
    return {name: Described(text, vector) for (name, text), vector in zip(texts.items(), vectors, strict=True)}
