"""What the other agents' evidence says about a task, learned without the agent that borrows.

Two numbers: `trend`, what their evidence predicts for a text (the blend, fitted to the mean over agents of every task), and
`departure`, how far their mean outcome on the very same task lies from that, shrunk by how much of such a distance is known
to be shared by agents. The share is v_task / (v_task + v_rest / k) for k agents; both variances are estimated from the
products of agents' residuals on the same task. One agent alone cannot tell what is shared: then half of what its
executions' noise leaves is taken to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from skilldelta.arrays import Floats, Ints
from skilldelta.errors import InputError
from skilldelta.estimators.base import Target
from skilldelta.estimators.blend.blend import Blend, FittedBlend
from skilldelta.estimators.blend.shrinkage import WITHIN_ARM, precisions
from skilldelta.estimators.borrowing.sources import EvidenceSource, TaskKey
from skilldelta.records import text_digest
from skilldelta.support import Support

# Estimated variances count against typical ones as if those had been seen on this many tasks.
_PRIOR_TASKS = 8.0
_TYPICAL_SHARED, _TYPICAL_REST = 0.03, 0.1
# Of what one agent alone shows beyond the noise of its executions, the part that another agent shares.
_SHARED_WITH_ONE = 0.5
# The variance of a gain about which nothing is known.
_UNKNOWN_VARIANCE = 0.05


@dataclass(frozen=True, slots=True)
class Borrowed:
    """What others say about one task."""

    trend: float
    departure: float
    """Zero where no other agent ran the task."""
    differences: (
        Floats  # (agents,) how each agent's outcome on the task lies from the others' mean; 0 where it has none
    )
    variance: float
    """How far the trend may lie from the others' expected gain, squared."""
    agents: int
    """Other agents that ran the very same task."""

    @property
    def gain(self) -> float:
        """The expected gain of an agent like the others."""
        return self.trend + self.departure


class OthersEvidence:
    """The evidence of several sources, pooled by task for predicting, and never shown as anybody's outcomes."""

    def __init__(self, sources: Sequence[EvidenceSource]) -> None:
        """Gather sources; what is learned from them is learned when it is first asked for.

        Raises:
            InputError: No source has a pair.
        """
        if not any(len(source.support) for source in sources):
            raise InputError("no other agent has a pair to borrow from; collect or import pairs of one first")
        self.names = tuple(source.name for source in sources)
        self.pairs = sum(len(source.support) for source in sources)
        self._sources = tuple(sources)
        keys = [key for source in sources for key in source.keys]
        self.place: dict[TaskKey, int] = {}
        for key in keys:
            self.place.setdefault(key, len(self.place))
        codes = np.array([self.place[key] for key in keys], np.int64)
        agents = np.repeat(np.arange(len(sources)), [len(source.support) for source in sources])
        self.pooled = _pooled(sources, codes, len(self.place))
        self._fill(codes, agents)

    def _fill(self, codes: Ints, agents: Ints) -> None:
        """Means over agents (tasks,), and how each agent differs from them (tasks, agents)."""
        tasks, count = len(self.place), len(self._sources)
        gains = np.concatenate([source.support.gains for source in self._sources])
        weights = np.concatenate([precisions(source.support.r0, source.support.r1) for source in self._sources])
        cells = codes * count + agents
        weight = np.bincount(cells, weights, tasks * count).reshape(tasks, count)
        total = np.bincount(cells, weights * gains, tasks * count).reshape(tasks, count)
        self.has_run = weight > 0
        self.gains: Floats = np.where(self.has_run, total / np.where(self.has_run, weight, 1.0), 0.0)
        self.weight = weight

    @cached_property
    def blend(self) -> FittedBlend:
        """Learned from the tasks' means."""
        return Blend().fit(self.pooled)

    @cached_property
    def trends(self) -> Floats:
        """(tasks,) what the other tasks predict for each, made without its own outcomes."""
        # Not the scores that a fitted blend keeps: their weights have seen every outcome.
        return Blend().leave_one_out(self.pooled).values

    @cached_property
    def means(self) -> Floats:
        """(tasks,) the agents' mean outcome on each task."""
        mean: Floats = (self.weight * self.gains).sum(axis=1) / self.weight.sum(axis=1)
        return mean

    @cached_property
    def variances(self) -> tuple[float, float]:
        """What agents share of a task's distance from its trend, and what they do not; per pair of weight 1."""
        residuals = np.where(self.has_run, self.gains - self.trends[:, None], 0.0)
        runs = self.has_run.sum(axis=0)
        # An agent with a level of its own says nothing about tasks by that level.
        levels = residuals.sum(axis=0) / (runs + 4.0)
        residuals = np.where(self.has_run, residuals - levels, 0.0)
        count = self.has_run.sum(axis=1)
        several = count > 1
        total = float((residuals**2).sum() / max(1, self.has_run.sum()))
        products = float((residuals.sum(axis=1) ** 2 - (residuals**2).sum(axis=1))[several].sum())
        tasks = float(several.sum())
        if not tasks:
            noise = WITHIN_ARM * float((1 / self.pooled.r0 + 1 / self.pooled.r1).mean())
            observed = len(self.means)
            shared = _SHARED_WITH_ONE * max(0.0, total - noise)
            shared = (observed * shared + _PRIOR_TASKS * _TYPICAL_SHARED) / (observed + _PRIOR_TASKS)
            return shared, max(total - shared, 0.02)
        shared = products / float((count * (count - 1))[several].sum())
        shared = (tasks * max(0.0, shared) + _PRIOR_TASKS * _TYPICAL_SHARED) / (tasks + _PRIOR_TASKS)
        rest = (tasks * max(total - shared, 0.0) + _PRIOR_TASKS * _TYPICAL_REST) / (tasks + _PRIOR_TASKS)
        return shared, rest

    @cached_property
    def departures(self) -> Floats:
        """(tasks,) the shrunk distance of each task's mean from its trend."""
        shared, rest = self.variances
        typical = self.weight.sum() / max(1, self.has_run.sum())
        agents = self.weight.sum(axis=1) / typical
        departures: Floats = shared / (shared + rest / agents) * (self.means - self.trends)
        return departures

    @cached_property
    def differences(self) -> Floats:
        """(tasks, agents) how each agent differs from the mean on a task; 0 where it did not run it."""
        shared, rest = self.variances
        return shared / (shared + rest) * np.where(self.has_run, self.gains - self.means[:, None], 0.0)

    def about(self, target: Target) -> Borrowed:
        """What the others say about a target; the very same task where one of them ran it."""
        place = self.place.get((text_digest(target.text), target.skill)) if target.text else None
        if place is None:
            score = self.blend.score(replace(target, task_id=""))
            variance = _UNKNOWN_VARIANCE if score.spread is None else score.spread.deviation**2
            return Borrowed(score.gain, 0.0, np.zeros(len(self.names)), variance, 0)
        return self.at(place)

    def at(self, place: int) -> Borrowed:
        """What they say about a task that at least one of them ran."""
        shared, rest = self.variances
        agents = float(self.weight[place].sum() * self.has_run.sum() / self.weight.sum())
        left = shared * (rest / agents) / (shared + rest / agents)
        return Borrowed(
            float(self.trends[place]),
            float(self.departures[place]),
            self.differences[place],
            left,
            int(self.has_run[place].sum()),
        )


def _pooled(sources: Sequence[EvidenceSource], codes: Ints, tasks: int) -> Support:
    """One row per task and skill: the mean over agents, with all their repetitions."""
    supports = [source.support for source in sources]

    def column(name: str) -> Floats:
        return np.concatenate([getattr(support, name) for support in supports])

    weights = np.concatenate([precisions(support.r0, support.r1) for support in supports])
    total = np.bincount(codes, weights, tasks)

    def mean(name: str) -> Floats:
        return np.asarray(np.bincount(codes, weights * column(name), tasks) / total)

    first = np.full(tasks, -1, np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    digests = np.array([digest for source in sources for digest in source.digests])
    texts = [text for support in supports for text in (support.texts or ("",) * len(support))]
    return Support.from_arrays(
        task_ids=digests[first].tolist(),
        families=column("families")[first].tolist(),
        skills=column("skills")[first].tolist(),
        vectors=np.concatenate([support.vectors for support in supports])[first],
        y0=mean("y0"),
        y1=mean("y1"),
        r0=np.bincount(codes, column("r0"), tasks).astype(np.int64),
        r1=np.bincount(codes, column("r1"), tasks).astype(np.int64),
        texts=tuple(texts[i] for i in first),
    )
