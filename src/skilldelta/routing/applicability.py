"""Which of many skills a task is about, and how sure it is that any of them is: no outcome is an argument here.

Three signals say how well a task fits a skill, all on one scale for all skills. *Nearness* is the mean of the task's
three largest cosines to recorded tasks of the skill. The *linear score* comes from one ridge regression on vectors that
tells all skills and everyday prompts apart, the *word score* from another one on words. *None* is an alternative like any
skill: its recorded tasks are everyday prompts.

A conditional logit turns the signals into probabilities. It is fitted to recorded tasks, each seen without itself, in
three groups that count the same: tasks whose skill is on offer; the same tasks with their own skill taken off the list,
for which *none* is right; and everyday prompts. So a probability of 0.5 means that a message is as likely about one of
the skills as about something else, where half of the something else resembles the skills' tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skilldelta.arrays import Flags, Floats, Ints, Vectors
from skilldelta.errors import InputError
from skilldelta.routing.choice_model import Cases, fit_weights, probabilities
from skilldelta.routing.word_regression import WordRegression, class_targets

NEAREST = 3

# A skill with fewer recorded tasks borrows its description as one more.
FEW_TASKS = 3

# The alternatives that share the top place: an applicable skill is at most this much less likely than the best one.
_SHARE_OF_BEST = 0.5

# A wrong skill is twice as bad as a missing one, so that the best one must be twice as likely right as wrong.
LEAST_CHANCE = 2 / 3

# Of the weights below: nearness to a skill, nearness to everyday prompts, linear score, word score, and the constant of
# *none*. Typical of the demo's suite and of four public sets of tasks with skills (12 to 55 skills, 3 to 40 tasks each);
# wide, so that a bank of some hundred tasks decides for itself.
_PRIOR = np.array([1.3, 0.9, 6.0, 6.0, 5.4])
_PRIOR_DEVIATION = np.array([1.0, 1.0, 10.0, 10.0, 10.0])
_MAY_BE_NEGATIVE = np.array([False, False, False, False, True])

# Of the mean variance of the vectors. Values from 0.03 to 0.3 made no difference on the sets above.
_RIDGE = 0.1

# Skills of which this share of tasks is nearer to the other's are twins: neither is wrong where the other is right.
_TWIN_SHARE = 0.1

# Recorded tasks that calibrate, spread over the skills; more of them no longer move the weights.
_MOST_CASES = 2_000
_BLOCK_BYTES = 64 * 2**20


class Described(NamedTuple):
    """What a skill says that it is about."""

    text: str
    vector: Vectors  # (dim,)


@dataclass(frozen=True, eq=False)
class RecordedTasks:
    """Distinct tasks and the skills that they were recorded under; one task may belong to several."""

    vectors: Vectors  # (tasks, dim), rows of length 1
    texts: tuple[str, ...]  # (tasks,) empty where a text is not known
    skills: tuple[str, ...]
    members: Ints  # (memberships,) rows of `vectors`, those of the first skill first
    starts: Ints  # (skills + 1,) where each skill's members begin

    @classmethod
    def of(
        cls, task_ids: Sequence[str], skills: Sequence[str], vectors: Vectors, texts: Sequence[str] = ()
    ) -> RecordedTasks:
        """From one entry per task and skill; entries of the same id are the same task."""
        _, first, task = np.unique(np.asarray(task_ids, np.str_), return_index=True, return_inverse=True)
        names, skill = np.unique(np.asarray(skills, np.str_), return_inverse=True)
        # One membership per task and skill, although a skill may have several versions.
        pairs = np.unique(np.stack([skill, task], axis=1), axis=0)
        starts = np.searchsorted(pairs[:, 0], np.arange(len(names) + 1))
        words = tuple(texts[i] if texts else "" for i in first.tolist())
        return cls(vectors[first], words, tuple(names.tolist()), pairs[:, 1].astype(np.int64), starts.astype(np.int64))

    def with_descriptions(self, descriptions: Mapping[str, Described]) -> RecordedTasks:
        """The description of each skill with few tasks as one more task of it."""
        counts = np.diff(self.starts)
        few = [i for i, name in enumerate(self.skills) if counts[i] < FEW_TASKS and name in descriptions]
        if not few:
            return self
        extra = [descriptions[self.skills[i]] for i in few]
        rows = len(self.vectors) + np.arange(len(few))
        members = np.insert(self.members, self.starts[np.array(few) + 1], rows)
        added = np.cumsum(np.isin(np.arange(len(self.skills)), few))
        return RecordedTasks(
            np.concatenate([self.vectors, np.array([one.vector for one in extra], np.float32)]),
            self.texts + tuple(one.text for one in extra),
            self.skills,
            members,
            self.starts + np.append(0, added),
        )

    def membership(self) -> Flags:
        """(tasks, skills) whether a task belongs to a skill."""
        result = np.zeros((len(self.vectors), len(self.skills)), np.bool_)
        result[self.members, np.repeat(np.arange(len(self.skills)), np.diff(self.starts))] = True
        return result


class Ranking(NamedTuple):
    """How likely a task is about each skill on offer; what is left of 1 is the chance that it is about none."""

    chances: Mapping[str, float]
    alike: frozenset[tuple[str, str]] = frozenset()
    """Pairs of skills whose tasks cannot be told apart, so that the one is as right as the other."""

    @property
    def any_skill(self) -> float:
        """The chance that the task is about one of the skills on offer."""
        return min(1.0, sum(self.chances.values()))

    def applicable(self, least: float = LEAST_CHANCE) -> list[str]:
        """The skills to ask for their gain, the likeliest first: the best one and those that are like it.

        None where their chances together are below `least`. Small chances of many other skills do not count: that some
        skill applies is no reason to take the wrong one.
        """
        if not self.chances:
            return []
        ranked = sorted(self.chances, key=lambda name: -self.chances[name])
        best = ranked[0]
        group = [name for name in ranked if name == best or (best, name) in self.alike]
        if sum(self.chances[name] for name in group) < least:
            return []
        return [name for name in group if self.chances[name] >= _SHARE_OF_BEST * self.chances[best]]


@dataclass(frozen=True, eq=False)
class Applicability:
    """A fitted judgment over all recorded skills. Make it with `Applicability.fit`."""

    tasks: RecordedTasks
    everyday: Vectors  # (prompts, dim)
    center: Floats  # (dim,)
    coefficients: Floats  # (dim, skills + 1), *none* last
    constants: Floats  # (skills + 1,)
    words: WordRegression
    usual_nearness: tuple[float, float]  # mean and deviation among everyday prompts: the unit of nearness
    weights: Floats  # (5,) of the conditional logit
    twins: Flags  # (skills, skills)

    @classmethod
    def fit(
        cls,
        tasks: RecordedTasks,
        everyday: Vectors,
        *,
        everyday_texts: Sequence[str] = (),
        descriptions: Mapping[str, Described] | None = None,
    ) -> Applicability:
        """Learn from recorded tasks.

        Parameters
        ----------
        tasks : RecordedTasks
            Of every skill that may be asked about, and better of all others too.
        everyday : (prompts, dim)
            Prompts of no skill, at least two, from the same encoder.
        everyday_texts : (prompts,)
            Their words; without them, words have no say.
        descriptions : mapping of skill to its description
            Used for skills with fewer than three tasks.
        """
        if not len(tasks.vectors) or len(everyday) < 2:
            raise InputError("applicability needs a recorded task and two everyday prompts")
        recorded = len(tasks.vectors)
        tasks = tasks.with_descriptions(descriptions or {})
        is_member = tasks.membership()
        cases = _sampled_cases(tasks, recorded)
        regression = _Regression.fit(tasks.vectors, everyday, is_member)
        words, word_scores, everyday_words = _word_scores(tasks, everyday_texts, len(everyday), is_member, cases)
        among_everyday = _nearness_to_everyday(everyday, everyday, own=np.arange(len(everyday)))
        usual = (float(among_everyday.mean()), max(float(among_everyday.std()), 1e-3))
        nearness = _nearness_to_skills(tasks, tasks.vectors[cases], own=cases)
        features = _features(
            nearness,
            _nearness_to_everyday(everyday, tasks.vectors[cases]),
            regression.without_itself(cases),
            word_scores,
            usual,
        )
        everyday_features = _features(
            _nearness_to_skills(tasks, everyday),
            among_everyday,
            regression.without_itself(len(tasks.vectors) + np.arange(len(everyday))),
            everyday_words,
            usual,
        )
        # Skills that nearness confuses take no part in the calibration as wrong ones; what all signals together still
        # confuse cannot be told apart.
        weights = _calibrated(features, everyday_features, is_member[cases], _twins(nearness, is_member[cases]))
        twins = _twins(probabilities(features, weights)[:, :-1], is_member[cases])
        return cls(
            tasks,
            everyday,
            regression.center,
            regression.coefficients,
            regression.constants,
            words,
            usual,
            weights,
            twins,
        )

    def rank(self, query: Vectors, offered: Iterable[str] | None = None, *, text: str = "") -> Ranking:
        """How likely a task is about each of the skills on offer; unrecorded skills are left out.

        A recorded skill that is not on offer takes its share away from those that are, unless it is a twin of one.
        """
        names = set(self.tasks.skills if offered is None else offered)
        is_offered = np.array([name in names for name in self.tasks.skills], np.bool_)
        if not is_offered.any():
            return Ranking({})
        competes = is_offered | ~self.twins[is_offered].any(axis=0)
        features = self._features(query[None, :], [text])
        chances = probabilities(features, self.weights, np.append(competes, True)[None, :])[0]
        alike = [(self.tasks.skills[i], self.tasks.skills[j]) for i, j in np.argwhere(self.twins).tolist()]
        return Ranking(
            {name: float(chances[i]) for i, name in enumerate(self.tasks.skills) if is_offered[i]}, frozenset(alike)
        )

    def chances(self, queries: Vectors, texts: Sequence[str] = ()) -> Floats:
        """(queries, skills + 1) for many tasks at once, every skill on offer; *none* is the last column."""
        return probabilities(self._features(queries, texts or [""] * len(queries)), self.weights)

    def _features(self, queries: Vectors, texts: Sequence[str]) -> Floats:
        return _features(
            _nearness_to_skills(self.tasks, queries),
            _nearness_to_everyday(self.everyday, queries),
            (queries - self.center) @ self.coefficients + self.constants,
            self.words.score(texts),
            self.usual_nearness,
        )


# Signals


def _features(
    to_skills: Floats, to_everyday: Floats, linear: Floats, words: Floats, usual: tuple[float, float]
) -> Floats:
    """(queries, skills + 1, 5) as the prior's weights have them."""
    mean, deviation = usual
    result = np.zeros((*linear.shape, len(_PRIOR)))
    result[:, :-1, 0] = (to_skills - mean) / deviation
    result[:, -1, 1] = (to_everyday - mean) / deviation
    result[:, :, 2] = linear
    result[:, :, 3] = words
    result[:, -1, 4] = 1.0
    return result


def _word_scores(
    tasks: RecordedTasks, everyday_texts: Sequence[str], prompts: int, is_member: Flags, cases: Ints
) -> tuple[WordRegression, Floats, Floats]:
    """The regression on words, and the scores of the cases and of the everyday prompts, each made without itself."""
    # Skills with a single task calibrate nothing, but their words are learned.
    single = tasks.members[tasks.starts[:-1][np.diff(tasks.starts) < 2]]
    rows = np.unique(np.concatenate([cases, single]))
    has_words = bool(everyday_texts) and any(tasks.texts)
    texts = [tasks.texts[row] for row in rows.tolist()] if has_words else [""] * len(rows)
    texts += list(everyday_texts) if has_words else [""] * prompts
    words = WordRegression.fit(texts, *class_targets(is_member[rows], prompts))
    return words, words.without_itself[np.searchsorted(rows, cases)], words.without_itself[len(rows) :]


def _nearness_to_skills(tasks: RecordedTasks, queries: Vectors, own: Ints | None = None) -> Floats:
    """(queries, skills) nearness; `own` are the rows that the queries have among the tasks."""
    result = np.empty((len(queries), len(tasks.skills)))
    step = max(1, _BLOCK_BYTES // (4 * max(1, len(tasks.members))))
    is_ordered = np.array_equal(tasks.members, np.arange(len(tasks.vectors)))
    for start in range(0, len(queries), step):
        block = slice(start, start + step)
        cosines = _cosines(tasks.vectors, queries[block], None if own is None else own[block])
        result[block] = _means_of_largest(cosines if is_ordered else cosines[:, tasks.members], tasks.starts)
    return result


def _nearness_to_everyday(everyday: Vectors, queries: Vectors, own: Ints | None = None) -> Floats:
    """(queries,) the same for everyday prompts, which are all of one kind."""
    return _means_of_largest(_cosines(everyday, queries, own), np.array([0, len(everyday)]))[:, 0]


def _cosines(vectors: Vectors, queries: Vectors, own: Ints | None) -> Vectors:
    if queries is vectors:
        queries = queries.copy()  # BLAS crashes on x @ x.T with two threads (numpy issue 19685)
    cosines = queries @ vectors.T
    if own is not None:
        cosines[np.arange(len(cosines)), own] = -np.inf
    return cosines


def _means_of_largest(cosines: Vectors, starts: Ints) -> Floats:
    """(queries, blocks) the mean of the largest cosines of each block; -1 where a block has nothing but the query.

    Overwrites `cosines`. A loop over 200 skills would take longer than the product that made them.
    """
    counts = np.diff(starts)
    block_of = np.repeat(np.arange(len(counts)), counts)
    sums = np.zeros((len(cosines), len(counts)))
    terms = np.zeros_like(sums)
    for _ in range(NEAREST):
        largest = np.maximum.reduceat(cosines, starts[:-1], axis=1)
        is_other = np.isfinite(largest)
        sums[is_other] += largest[is_other]
        terms += is_other
        # Only the first of equal cosines is taken out.
        query, column = np.nonzero(cosines == largest[:, block_of])
        place = query * len(counts) + block_of[column]
        first = np.append(True, place[1:] != place[:-1])[: len(place)]
        cosines[query[first], column[first]] = -np.inf
    return np.where(terms > 0, sums / np.maximum(terms, 1), -1.0)


@dataclass(frozen=True, eq=False)
class _Regression:
    """Ridge regression of the class (each skill, then *none*) on the vector, every class with about the same weight."""

    center: Floats
    coefficients: Floats
    constants: Floats
    rows: Floats  # (tasks + prompts, dim) centered
    targets: Floats  # (tasks + prompts, classes)
    leverage: Floats  # (tasks + prompts,)

    @classmethod
    def fit(cls, tasks: Vectors, everyday: Vectors, is_member: Flags) -> _Regression:
        rows = np.concatenate([tasks, everyday]).astype(np.float64)
        n, dimension = rows.shape
        targets, weights = class_targets(is_member, len(everyday))
        center = weights @ rows / n
        constants = weights @ targets / n
        rows -= center
        weighted = rows * weights[:, None]
        gram = weighted.T @ rows
        inverse = np.linalg.inv(gram + _RIDGE * (np.trace(gram) / dimension + 1e-9) * np.eye(dimension))
        coefficients = inverse @ (weighted.T @ (targets - constants))
        leverage = np.vecdot(weighted @ inverse, rows) + weights / n
        return cls(center, coefficients, constants, rows, targets, np.minimum(leverage, 1 - 1e-6))

    def without_itself(self, at: Ints) -> Floats:
        """(at, classes) the score of a row by a regression that never saw it, in closed form."""
        fitted = self.rows[at] @ self.coefficients + self.constants
        result: Floats = self.targets[at] - (self.targets[at] - fitted) / (1 - self.leverage[at])[:, None]
        return result


# Calibration


def _sampled_cases(tasks: RecordedTasks, recorded: int) -> Ints:
    """Rows that calibrate: recorded tasks with another task of the same skill, a fixed number per skill at most."""
    generator = np.random.default_rng(0)
    most = max(10, _MOST_CASES // len(tasks.skills))
    chosen = []
    for start, end in zip(tasks.starts[:-1], tasks.starts[1:], strict=True):
        rows = tasks.members[start:end]
        if len(rows) < 2:
            continue
        rows = rows[rows < recorded]
        chosen.append(rows if len(rows) <= most else generator.choice(rows, most, replace=False))
    return np.unique(np.concatenate(chosen)) if chosen else np.zeros(0, np.int64)


def _twins(nearness: Floats, is_member: Flags) -> Flags:
    """(skills, skills) whether two skills share tasks, or many tasks of one are nearest to tasks of the other."""
    skills = nearness.shape[1]
    counts = np.maximum(is_member.sum(axis=0), 1)
    nearest = np.zeros_like(is_member)
    nearest[np.arange(len(nearness)), nearness.argmax(axis=1)] = True
    confused = is_member.T.astype(float) @ (nearest | is_member) / counts[:, None] > _TWIN_SHARE
    result: Flags = (confused | confused.T) & ~np.eye(skills, dtype=np.bool_)
    return result


def _calibrated(features: Floats, everyday_features: Floats, is_member: Flags, twins: Flags) -> Floats:
    """The weights of the conditional logit; those of the prior where no recorded task can say anything."""
    n, alternatives = features.shape[:2]
    if not n:
        return _PRIOR.copy()
    # Every skill counts the same, and so do the three groups; together they count as the recorded tasks that they are.
    case_weights = is_member @ (1 / np.maximum(is_member.sum(axis=0), 1))
    case_weights *= n / case_weights.sum()
    none = np.zeros(alternatives, np.bool_)
    none[-1] = True
    everything = np.ones((n, alternatives), np.bool_)
    own = np.column_stack([is_member, np.zeros(n, np.bool_)])
    groups = [Cases(features, everything, own, case_weights)]
    if alternatives > 2:
        # A twin may well be right for the task too, so that it goes with the task's own skill.
        removed = is_member | (is_member.astype(float) @ twins > 0)
        rest = np.column_stack([~removed, np.ones(n, np.bool_)])
        groups.append(Cases(features, rest, np.broadcast_to(none, rest.shape), case_weights))
    prompts = len(everyday_features)
    shape = (prompts, alternatives)
    groups.append(
        Cases(everyday_features, np.ones(shape, np.bool_), np.broadcast_to(none, shape), np.full(prompts, n / prompts))
    )
    return fit_weights(groups, _PRIOR, _PRIOR_DEVIATION**-2, free=_MAY_BE_NEGATIVE)
