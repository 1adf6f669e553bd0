"""Keep, gate or drop: what the recorded pairs of a skill allow one to say about it.

`keep` and `drop` are read off the interval of the skill's mean gain over tasks; `gate` means that it harms some families
and not others. Looking at many families finds harm by chance, so a family counts as helped or harmed only when its exact
sign test passes at a false-discovery rate of 5% over all families of the panel; skills are held to the same rate over all
skills. Everything else is `not enough evidence`, with about how many more tasks would settle it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

import numpy as np

from skilldelta.arrays import Flags, Floats, Ints
from skilldelta.evaluation.comparison import ENOUGH, check_margin, more_tasks, verdict_of
from skilldelta.evaluation.results import MARGIN
from skilldelta.evaluation.task_mean import DRAWS, TIE, TaskMean, adjusted_for_false_discoveries, sign_test, task_mean
from skilldelta.resemblance import nearest_to_each
from skilldelta.support import Support

Ruling = Literal["keep", "gate", "drop", "not enough evidence"]
Effect = Literal["helps", "harms", "unclear"]
Reason = Literal["gain", "harm", "no difference", "saves tokens", "harmed families", "helped families", "too little"]

FALSE_DISCOVERIES = 0.05
WORTHWHILE_SAVING = 0.05
"""Share of tokens that a skill without any gain must save to be worth keeping."""
NEIGHBORS = 6
"""Nearest tasks of the same skill, for groups of harmed tasks."""


@dataclass(frozen=True, slots=True, eq=False)
class FamilyEffect:
    """What a skill does in one family."""

    family: str
    """Empty where none was recorded."""
    rows: Ints  # (m,) of the panel
    gain: float
    helped: int
    harmed: int
    """Tasks by their gains, over all runs."""
    votes: tuple[int, int]
    """Tasks helped and harmed on as many runs of both arms, which the sign test counts."""
    p: float
    """Two-sided exact sign test of the votes."""
    adjusted_p: float
    """The same, for having looked at every family of the panel (Benjamini and Hochberg)."""
    effect: Effect

    @property
    def tasks(self) -> int:
        """How many tasks the family has here."""
        return len(self.rows)


@dataclass(frozen=True, slots=True, eq=False)
class HarmGroup:
    """Harmed rows that belong together.

    One harmed task may be chance. A group of like tasks that are harmed, among neighbours that lose too, is a kind of task
    on which the skill should be skipped. Groups are the connected parts of the graph in which a harmed task points to the
    harmed ones among its k nearest tasks of the same skill.
    """

    rows: Ints  # (m,) of the support, the most harmed first
    gain: float
    """Mean gain of these rows: by construction below zero."""
    nearby_gain: float | None
    """Mean gain of their nearest tasks, each row's own left out; None where there is no other task."""

    @property
    def is_isolated(self) -> bool:
        """Whether the tasks around it show no harm, so that skipping there buys nothing that would last."""
        return self.nearby_gain is None or self.nearby_gain >= 0


@dataclass(frozen=True, slots=True)
class Skipping:
    """What skipping the skill on some of its tasks would have bought, against always using it."""

    tasks: int
    """How many would have been run without the skill."""
    success: float
    """Change of success over all tasks of the skill."""
    tokens: float | None
    """Tokens saved per task of the skill; None where they are not known throughout."""
    token_share: float | None
    """The same as a share of always-on's."""


@dataclass(frozen=True, slots=True, eq=False)
class SkillVerdict:
    """The ruling on one skill of a panel, with its evidence."""

    skill: str
    ruling: Ruling
    reason: Reason
    mean: TaskMean
    adjusted_p: float
    """Of no gain on average, for having looked at every skill of the panel."""
    helped: int
    harmed: int
    families: tuple[FamilyEffect, ...]
    """The most harmed first."""
    groups: tuple[HarmGroup, ...]
    """Harmed tasks by nearest neighbours; their rows are of the panel."""
    token_change: float | None
    """Tokens with the skill over tokens without, minus 1; None where they are not known throughout."""
    skip_harmed: Skipping | None
    """Skipping the families that it harms, on the same outcomes that showed the harm: the most it could buy."""
    skip_by_family: Skipping
    """Skipping a task where the other tasks of its family lost: held out, what such a rule really bought."""
    skip_by_neighbors: Skipping
    """The same with the nearest tasks in place of the family."""
    more_tasks: int | None = None
    """Roughly how many more tasks would settle it; None where it is settled, or never will be."""


def skill_verdicts(
    support: Support,
    *,
    rng: np.random.Generator,
    votes: Floats | None = None,
    margin: float = MARGIN,
    draws: int = DRAWS,
) -> tuple[SkillVerdict, ...]:
    """One verdict per skill of a panel, in order of first appearance.

    `votes` (n,) say which way each task went on equally many runs of both arms: above 0 helped, below 0 harmed. Without
    them the gains decide, which leans towards the arm with fewer runs where the two differ.
    """
    check_margin(margin)
    signs = np.sign(np.where(np.abs(given := support.gains if votes is None else votes) <= TIE, 0.0, given))
    rows = [np.flatnonzero(support.skills == skill) for skill in dict.fromkeys(support.skills.tolist())]
    families = _family_effects(support, rows, signs)
    means = [task_mean(support.gains[own], rng, draws=draws) for own in rows]
    adjusted = adjusted_for_false_discoveries([1.0 if mean.p is None else mean.p for mean in means])
    return tuple(
        _verdict_on(support, own, mean, float(p), signs, found, margin)
        for own, mean, p, found in zip(rows, means, adjusted, families, strict=True)
    )


def _family_effects(support: Support, skills: Sequence[Ints], signs: Floats) -> list[tuple[FamilyEffect, ...]]:
    """Per skill; the correction is over all families of the panel together."""
    found = []
    for rows in skills:
        labels = support.families[rows]
        blocks = [rows[labels == label] for label in dict.fromkeys(labels.tolist())]
        found.append([_family(support, block, signs) for block in blocks])
    adjusted = iter(adjusted_for_false_discoveries([one.p for families in found for one in families]))
    judged = [[_with_adjusted(one, float(next(adjusted))) for one in families] for families in found]
    return [tuple(sorted(families, key=lambda one: (one.gain, one.family))) for families in judged]


def _family(support: Support, rows: Ints, signs: Floats) -> FamilyEffect:
    gains = support.gains[rows]
    helped, harmed = int((gains > TIE).sum()), int((gains < -TIE).sum())
    votes = int((signs[rows] > 0).sum()), int((signs[rows] < 0).sum())
    gain, p = float(gains.mean()), sign_test(*votes)
    return FamilyEffect(str(support.families[rows[0]]), rows, gain, helped, harmed, votes, p, p, "unclear")


def _with_adjusted(one: FamilyEffect, p: float) -> FamilyEffect:
    effect: Effect = "unclear"
    if p <= FALSE_DISCOVERIES and one.gain > 0 and one.votes[0] > one.votes[1]:
        effect = "helps"
    elif p <= FALSE_DISCOVERIES and one.gain < 0 and one.votes[1] > one.votes[0]:
        effect = "harms"
    return replace(one, adjusted_p=p, effect=effect)


def _verdict_on(
    support: Support,
    rows: Ints,
    mean: TaskMean,
    adjusted_p: float,
    signs: Floats,
    families: tuple[FamilyEffect, ...],
    margin: float,
) -> SkillVerdict:
    own = support.rows(rows)
    codes = own.task_codes
    neighbors = nearest_to_each(own.vectors, own.vectors, NEIGHBORS, codes=codes, query_codes=codes).rows
    nearby = _neighborhood_gains(own.gains, neighbors)
    harmed = [one for one in families if one.effect == "harms"]
    tokens = _token_change(own)
    ruling, reason, more = _ruling(mean, adjusted_p, families, tokens, margin)
    return SkillVerdict(
        skill=str(support.skills[rows[0]]),
        ruling=ruling,
        reason=reason,
        mean=mean,
        adjusted_p=adjusted_p,
        helped=int((own.gains > TIE).sum()),
        harmed=int((own.gains < -TIE).sum()),
        families=families,
        groups=tuple(replace(group, rows=rows[group.rows]) for group in _harm_groups(own.gains, neighbors, nearby)),
        token_change=tokens,
        skip_harmed=_skipping(own, np.isin(rows, np.concatenate([one.rows for one in harmed]))) if harmed else None,
        skip_by_family=_skipping(own, _others_of_family(own) < -TIE),
        skip_by_neighbors=_skipping(own, nearby < -TIE),
        more_tasks=more,
    )


def _ruling(
    mean: TaskMean, adjusted_p: float, families: Sequence[FamilyEffect], tokens: float | None, margin: float
) -> tuple[Ruling, Reason, int | None]:
    """The ruling, what it rests on, and how many more tasks it lacks."""
    helps, harms = (sum(one.effect == effect for one in families) for effect in ("helps", "harms"))
    if mean.half_width is None:
        return "not enough evidence", "too little", max(0, ENOUGH - mean.tasks) or None
    verdict = verdict_of(mean.interval, mean.tasks, margin)
    clear = adjusted_p <= FALSE_DISCOVERIES
    if verdict == "worse" and clear:
        return ("gate", "helped families", None) if helps else ("drop", "harm", None)
    if harms and harms < len(families):
        return "gate", "harmed families", None
    if verdict == "better" and clear:
        return "keep", "gain", None
    if verdict == "equivalent":
        if tokens is not None and tokens <= -WORTHWHILE_SAVING:
            return "keep", "saves tokens", None
        return "drop", "no difference", None
    more = more_tasks(mean.mean, mean.half_width, mean.tasks, margin)
    return "not enough evidence", "too little", None if more is None else max(more, _tasks_to_pass(mean, adjusted_p))


def _tasks_to_pass(mean: TaskMean, adjusted_p: float) -> int:
    """How many more tasks a skill needs whose own interval excludes 0 while the correction for many looks does not."""
    if mean.p is None or not 0 < mean.p < FALSE_DISCOVERIES < adjusted_p:
        return 0
    needed = mean.p * FALSE_DISCOVERIES / adjusted_p  # the correction multiplies p by about as much after more tasks
    now, then = (NormalDist().inv_cdf(1 - p / 2) for p in (mean.p, needed))
    return math.ceil(mean.tasks * (then / now) ** 2) - mean.tasks


def _others_of_family(own: Support) -> Floats:
    """(n,) the mean gain of the other tasks of each row's family; NaN for the only one."""
    codes = np.unique(own.families, return_inverse=True)[1]
    counts = np.bincount(codes)[codes] - 1
    sums = np.bincount(codes, weights=own.gains)[codes] - own.gains
    found: Floats = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return found


def _skipping(own: Support, skipped: Flags) -> Skipping:
    saved = np.where(skipped, own.tokens1 - own.tokens0, 0.0)
    known = _tokens_known(own)
    total = float(own.tokens1.sum()) if known else 0.0
    return Skipping(
        tasks=int(skipped.sum()),
        success=float(np.where(skipped, -own.gains, 0.0).mean()),
        tokens=float(saved.mean()) if known else None,
        token_share=float(saved.sum()) / total if known and total > 0 else None,
    )


def _token_change(own: Support) -> float | None:
    if not _tokens_known(own) or own.tokens0.sum() <= 0:
        return None
    return float(own.tokens1.sum() / own.tokens0.sum()) - 1


def _tokens_known(own: Support) -> bool:
    return bool(np.isfinite(own.tokens0).all() and np.isfinite(own.tokens1).all())


def _harm_groups(gains: Floats, neighbors: Ints, nearby: Floats) -> tuple[HarmGroup, ...]:
    """The groups of one skill's rows, the largest loss first; `nearby` (n,) are the mean gains of the neighbours."""
    harmed = gains < -TIE
    if not harmed.any():
        return ()
    labels, found = _parts(harmed, neighbors), []
    for label in np.unique(labels[harmed]):
        rows = np.flatnonzero(harmed & (labels == label))
        ordered = rows[np.argsort(gains[rows], kind="stable")]
        known = nearby[rows][np.isfinite(nearby[rows])]
        found.append(HarmGroup(ordered, float(gains[rows].mean()), float(known.mean()) if len(known) else None))
    return tuple(sorted(found, key=lambda group: (group.gain * len(group.rows), int(group.rows[0]))))


def _neighborhood_gains(gains: Floats, neighbors: Ints) -> Floats:
    """(n,) the mean gain of each row's nearest other tasks, (n, k) padded with -1; NaN without any."""
    present = neighbors >= 0
    counts = present.sum(axis=1)
    sums = np.where(present, gains[neighbors], 0.0).sum(axis=1)
    found: Floats = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return found


def _parts(harmed: Flags, neighbors: Ints) -> Ints:
    """(n,) the connected part of each row; edges run between harmed rows only."""
    from scipy.sparse import csr_array  # slow to import; a server that judges no skill does without
    from scipy.sparse.csgraph import connected_components

    n, k = neighbors.shape
    start, end = np.repeat(np.arange(n), k), neighbors.ravel()
    kept = (end >= 0) & harmed[start] & harmed[end]
    graph = csr_array((np.ones(int(kept.sum())), (start[kept], end[kept])), shape=(n, n))
    labels: Ints = connected_components(graph, directed=True, connection="weak")[1].astype(np.int64)
    return labels
