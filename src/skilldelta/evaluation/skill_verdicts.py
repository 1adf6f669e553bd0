"""Keep, gate, drop or no effect: what the recorded pairs of a skill allow one to say about it.

`keep` and `drop` are read off the interval of the skill's mean gain, which takes in what the other skills of the panel show
(`skill_shrinkage`) and so is corrected for having looked at many. `gate` means that the gate beats always using the skill on
tasks that it had not seen, or that the skill harms some families and not others. Looking at many families finds harm by
chance, so a family counts as helped or harmed only when its exact sign test passes at a false-discovery rate of 5% over all
families of the panel. `no effect` means a gain that is probably within 5 points of zero. Everything else is `not enough
evidence`, with how many more tasks would probably settle it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

import numpy as np

from skilldelta.arrays import Flags, Floats, Ints
from skilldelta.evaluation.comparison import check_margin, more_tasks
from skilldelta.evaluation.repeated_folds import spread_of
from skilldelta.evaluation.results import MARGIN, Range
from skilldelta.evaluation.skill_shrinkage import NO_EFFECT, SkillEffect, skill_effects
from skilldelta.evaluation.task_mean import DRAWS, TIE, TaskMean, adjusted_for_false_discoveries, sign_test, task_mean
from skilldelta.gate.certainty import Certainty
from skilldelta.resemblance import nearest_to_each
from skilldelta.support import Support

Ruling = Literal["keep", "gate", "drop", "no effect", "not enough evidence"]
# In the order of a summary.
RULINGS: tuple[Ruling, ...] = ("keep", "gate", "drop", "no effect", "not enough evidence")
Effect = Literal["helps", "harms", "unclear"]
Reason = Literal[
    "gain", "harm", "no difference", "saves tokens", "harmed families", "helped families", "held out", "too little"
]

FALSE_DISCOVERIES = 0.05
# Share of tokens that a skill without any gain must save to be worth keeping.
WORTHWHILE_SAVING = 0.05
# Nearest tasks of the same skill, for groups of harmed tasks.
NEIGHBORS = 6
# Below this many tasks nothing is kept, gated or dropped.
FEWEST_TASKS = 5
# A gain is called no effect when it lies within 5 points of zero with at least this probability, or when so many runs came
# out alike and none differed.
_PROBABLY_NOTHING, _SURELY_NOTHING, _EQUAL_RUNS = 0.75, 0.95, 12


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

    One harmed task may be chance. A group of like tasks that are harmed, among neighbors that lose too, is a kind of task
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


@dataclass(frozen=True, slots=True)
class GateOnSkill:
    """The gate on the tasks of one skill, each decided by a gate that had not seen it."""

    use_rate: float
    vs_always_on: float
    interval: Range
    """95%, of the difference to always using the skill, corrected for having looked at every skill of the panel."""
    vs_always_off: float


@dataclass(frozen=True, slots=True, eq=False)
class SkillVerdict:
    """The ruling on one skill of a panel, with its evidence."""

    skill: str
    ruling: Ruling
    reason: Reason
    certainty: Certainty | None
    """None where there is not enough evidence for a ruling."""
    mean: TaskMean
    """Of the skill's tasks alone."""
    effect: SkillEffect
    """The gain after the other skills had their say: its interval decides and is shown."""
    gate: GateOnSkill | None
    """None where no held-out decisions were given."""
    adjusted_p: float
    """Of no gain on average, for having looked at every skill of the panel."""
    helped: int
    harmed: int
    families: tuple[FamilyEffect, ...]
    """The most harmed first."""
    groups: tuple[HarmGroup, ...]
    """Harmed tasks by nearest neighbors; their rows are of the panel."""
    token_change: float | None
    """Tokens with the skill over tokens without, minus 1; None where they are not known throughout."""
    extra_tokens: float | None
    """Tokens that the skill adds to a task on average; None where they are not known throughout."""
    skip_harmed: Skipping | None
    """Skipping the families that it harms, on the same outcomes that showed the harm: the most it could buy."""
    skip_by_family: Skipping
    """Skipping a task where the other tasks of its family lost: held out, what such a rule really bought."""
    skip_by_neighbors: Skipping
    """The same with the nearest tasks in place of the family."""
    more_tasks: int | None = None
    """More tasks that settle it in 80 of 100 cases, if the gain stays; None where it is settled, or nobody runs so many."""

    @property
    def interval(self) -> Range:
        """The corrected 95% interval of the gain."""
        return Range(self.effect.low, self.effect.high)

    @property
    def points_per_1000_tokens(self) -> float | None:
        """Success points gained per 1,000 tokens that the skill adds; None where it adds none."""
        if self.extra_tokens is None or self.extra_tokens <= 0:
            return None
        return 100 * self.effect.gain / (self.extra_tokens / 1000)


def skill_verdicts(
    support: Support,
    *,
    rng: np.random.Generator,
    votes: Floats | None = None,
    uses: Floats | None = None,
    margin: float = MARGIN,
    draws: int = DRAWS,
) -> tuple[SkillVerdict, ...]:
    """One verdict per skill of a panel, in order of first appearance.

    `votes` (n,) say which way each task went on equally many runs of both arms: above 0 helped, below 0 harmed. Without
    them the gains decide, which leans towards the arm with fewer runs where the two differ. `uses` (repeats, n) are the
    decisions of a gate that had not seen the row (`held_out_uses`); without them only families can make a ruling `gate`.
    """
    check_margin(margin)
    signs = np.sign(np.where(np.abs(differences := support.gains if votes is None else votes) <= TIE, 0.0, differences))
    rows = [np.flatnonzero(support.skills == skill) for skill in dict.fromkeys(support.skills.tolist())]
    families = _family_effects(support, rows, signs)
    means = [task_mean(support.gains[own], rng, draws=draws) for own in rows]
    adjusted = adjusted_for_false_discoveries([1.0 if mean.p is None else mean.p for mean in means])
    effects = skill_effects(support).values()
    gates = [None] * len(rows) if uses is None else _gate_values(support, rows, uses)
    return tuple(
        _verdict_on(support, own, mean, effect, gate, float(p), signs, own_families, margin)
        for own, mean, effect, gate, p, own_families in zip(
            rows, means, effects, gates, adjusted, families, strict=True
        )
    )


def _gate_values(support: Support, skills: Sequence[Ints], uses: Floats) -> list[GateOnSkill | None]:
    """The gate on each skill's rows. Intervals have the false-coverage rate of 5% over the skills that are called gated.

    Benjamini and Yekutieli (2005): where R of m skills pass the test at a false-discovery rate of 5%, intervals at the level
    1 - 0.05 R / m exclude zero exactly for those.
    """
    gains = support.gains
    values, spreads = [], []
    for rows in skills:
        differences = (uses[:, rows] - 1.0) * gains[rows]
        values.append(
            (float(uses[:, rows].mean()), float(differences.mean()), float((uses[:, rows] * gains[rows]).mean()))
        )
        spreads.append(spread_of(differences))
    p = [
        2 * NormalDist().cdf(-abs(on) / spread) if spread > 0 else 1.0
        for (_, on, _), spread in zip(values, spreads, strict=True)
    ]
    called = int((adjusted_for_false_discoveries(p) <= FALSE_DISCOVERIES).sum())
    reach = NormalDist().inv_cdf(1 - FALSE_DISCOVERIES * max(1, called) / len(skills) / 2)
    return [
        GateOnSkill(rate, on, Range(max(-1.0, on - reach * spread), min(1.0, on + reach * spread)), off)
        for (rate, on, off), spread in zip(values, spreads, strict=True)
    ]


def _family_effects(support: Support, skills: Sequence[Ints], signs: Floats) -> list[tuple[FamilyEffect, ...]]:
    """Per skill; the correction is over all families of the panel together."""
    effects = []
    for rows in skills:
        labels = support.families[rows]
        blocks = [rows[labels == label] for label in dict.fromkeys(labels.tolist())]
        effects.append([_family(support, block, signs) for block in blocks])
    adjusted = iter(adjusted_for_false_discoveries([effect.p for families in effects for effect in families]))
    judged = [[_with_adjusted(effect, float(next(adjusted))) for effect in families] for families in effects]
    return [tuple(sorted(families, key=lambda effect: (effect.gain, effect.family))) for families in judged]


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
    effect: SkillEffect,
    gate: GateOnSkill | None,
    adjusted_p: float,
    signs: Floats,
    families: tuple[FamilyEffect, ...],
    margin: float,
) -> SkillVerdict:
    own = support.rows(rows)
    codes = own.task_codes
    neighbors = nearest_to_each(own.vectors, own.vectors, NEIGHBORS, codes=codes, query_codes=codes).rows
    nearby = _neighborhood_gains(own.gains, neighbors)
    harmed = [family for family in families if family.effect == "harms"]
    tokens = _token_change(own)
    equal_runs = int((own.r0 + own.r1).sum()) if not signs[rows].any() else 0
    ruling, reason = _ruling(mean.tasks, effect, gate, families, tokens, margin, equal_runs)
    return SkillVerdict(
        skill=str(support.skills[rows[0]]),
        ruling=ruling,
        reason=reason,
        certainty=_certainty(ruling, effect),
        mean=mean,
        effect=effect,
        gate=gate,
        adjusted_p=adjusted_p,
        helped=int((own.gains > TIE).sum()),
        harmed=int((own.gains < -TIE).sum()),
        families=families,
        groups=tuple(replace(group, rows=rows[group.rows]) for group in _harm_groups(own.gains, neighbors, nearby)),
        token_change=tokens,
        extra_tokens=float((own.tokens1 - own.tokens0).mean()) if _tokens_known(own) else None,
        skip_harmed=_skipping(own, np.isin(rows, np.concatenate([family.rows for family in harmed])))
        if harmed
        else None,
        skip_by_family=_skipping(own, _others_of_family(own) < -TIE),
        skip_by_neighbors=_skipping(own, nearby < -TIE),
        more_tasks=_more_tasks(mean.tasks, effect) if ruling == "not enough evidence" else None,
    )


def _ruling(
    tasks: int,
    effect: SkillEffect,
    gate: GateOnSkill | None,
    families: Sequence[FamilyEffect],
    tokens: float | None,
    margin: float,
    equal_runs: int,
) -> tuple[Ruling, Reason]:
    """The ruling and what it rests on."""
    helps, harms = (sum(family.effect == kind for family in families) for kind in ("helps", "harms"))
    if tasks >= FEWEST_TASKS:
        if effect.high < 0:
            return ("gate", "helped families") if helps else ("drop", "harm")
        if harms and harms < len(families):
            return "gate", "harmed families"
        if gate is not None and (gate.interval.low or 0.0) > 0 and gate.vs_always_off > 0:
            return "gate", "held out"
        if effect.low > 0 and effect.gain > margin:
            return "keep", "gain"
    if effect.nothing >= _PROBABLY_NOTHING or equal_runs >= _EQUAL_RUNS:
        if tokens is not None and tokens <= -WORTHWHILE_SAVING:
            return "keep", "saves tokens"
        return "no effect", "no difference"
    return "not enough evidence", "too little"


def _certainty(ruling: Ruling, effect: SkillEffect) -> Certainty | None:
    if ruling == "not enough evidence":
        return None
    is_leaning = ruling == "no effect" and effect.nothing < _SURELY_NOTHING
    return "leaning" if is_leaning else "sure"


def _more_tasks(tasks: int, effect: SkillEffect) -> int | None:
    """How many more tasks would settle the ruling in 80 of 100 cases, if the gain stays."""
    return more_tasks(effect.gain, (effect.high - effect.low) / 2, tasks, NO_EFFECT, least=FEWEST_TASKS)


def _others_of_family(own: Support) -> Floats:
    """(n,) the mean gain of the other tasks of each row's family; NaN for the only one."""
    codes = np.unique(own.families, return_inverse=True)[1]
    counts = np.bincount(codes)[codes] - 1
    sums = np.bincount(codes, weights=own.gains)[codes] - own.gains
    means: Floats = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return means


def _skipping(own: Support, skipped: Flags) -> Skipping:
    saved = np.where(skipped, own.tokens1 - own.tokens0, 0.0)
    has_tokens = _tokens_known(own)
    total = float(own.tokens1.sum()) if has_tokens else 0.0
    return Skipping(
        tasks=int(skipped.sum()),
        success=float(np.where(skipped, -own.gains, 0.0).mean()),
        tokens=float(saved.mean()) if has_tokens else None,
        token_share=float(saved.sum()) / total if has_tokens and total > 0 else None,
    )


def _token_change(own: Support) -> float | None:
    if not _tokens_known(own) or own.tokens0.sum() <= 0:
        return None
    return float(own.tokens1.sum() / own.tokens0.sum()) - 1


def _tokens_known(own: Support) -> bool:
    return bool(np.isfinite(own.tokens0).all() and np.isfinite(own.tokens1).all())


def _harm_groups(gains: Floats, neighbors: Ints, nearby: Floats) -> tuple[HarmGroup, ...]:
    """The groups of one skill's rows, the largest loss first; `nearby` (n,) are the mean gains of the neighbors."""
    harmed = gains < -TIE
    if not harmed.any():
        return ()
    labels, groups = _parts(harmed, neighbors), []
    for label in np.unique(labels[harmed]):
        rows = np.flatnonzero(harmed & (labels == label))
        ordered = rows[np.argsort(gains[rows], kind="stable")]
        finite = nearby[rows][np.isfinite(nearby[rows])]
        groups.append(HarmGroup(ordered, float(gains[rows].mean()), float(finite.mean()) if len(finite) else None))
    return tuple(sorted(groups, key=lambda group: (group.gain * len(group.rows), int(group.rows[0]))))


def _neighborhood_gains(gains: Floats, neighbors: Ints) -> Floats:
    """(n,) the mean gain of each row's nearest other tasks, (n, k) padded with -1; NaN without any."""
    present = neighbors >= 0
    counts = present.sum(axis=1)
    sums = np.where(present, gains[neighbors], 0.0).sum(axis=1)
    means: Floats = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return means


def _parts(harmed: Flags, neighbors: Ints) -> Ints:
    """(n,) the connected part of each row; edges run between harmed rows only."""
    from scipy.sparse import csr_array  # slow to import; a server that judges no skill does without
    from scipy.sparse.csgraph import connected_components

    n, k = neighbors.shape
    start, end = np.repeat(np.arange(n), k), neighbors.ravel()
    is_edge = (end >= 0) & harmed[start] & harmed[end]
    graph = csr_array((np.ones(int(is_edge.sum())), (start[is_edge], end[is_edge])), shape=(n, n))
    labels: Ints = connected_components(graph, directed=True, connection="weak")[1].astype(np.int64)
    return labels
