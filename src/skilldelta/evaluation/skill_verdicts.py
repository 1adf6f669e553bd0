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
from skilldelta.evaluation.comparison import ENOUGH, check_margin, tasks_to_settle, verdict_of
from skilldelta.evaluation.harm_groups import HarmGroup, harm_groups, nearest_rows, neighborhood_gains
from skilldelta.evaluation.results import MARGIN
from skilldelta.evaluation.sign_test import adjusted_for_false_discoveries, sign_test
from skilldelta.evaluation.task_mean import DRAWS, TIE, TaskMean, task_mean
from skilldelta.support import Support

Ruling = Literal["keep", "gate", "drop", "not enough evidence"]
Effect = Literal["helps", "harms", "unclear"]
Reason = Literal["gain", "harm", "no difference", "saves tokens", "harmed families", "helped families", "too little"]

FALSE_DISCOVERIES = 0.05
WORTHWHILE_SAVING = 0.05
"""Share of tokens that a skill without any gain must save to be worth keeping."""


@dataclass(frozen=True, slots=True, eq=False)
class FamilyEffect:
    """What a skill does in one family."""

    family: str
    """Empty where none was recorded."""
    rows: Ints  # (m,) of the panel
    gain: float
    helped: int
    harmed: int
    p: float
    """Two-sided exact sign test over the family's tasks."""
    adjusted_p: float
    """The same, for having looked at every family of the panel (Benjamini and Hochberg)."""
    effect: Effect

    @property
    def tasks(self) -> int:
        """How many tasks the family has here."""
        return len(self.rows)


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
    found = [[_family(support, block, signs) for block in _blocks(support, rows)] for rows in skills]
    adjusted = iter(adjusted_for_false_discoveries([one.p for families in found for one in families]))
    judged = [[_with_adjusted(one, float(next(adjusted))) for one in families] for families in found]
    return [tuple(sorted(families, key=lambda one: (one.gain, one.family))) for families in judged]


def _blocks(support: Support, rows: Ints) -> list[Ints]:
    labels = support.families[rows]
    return [rows[labels == label] for label in dict.fromkeys(labels.tolist())]


def _family(support: Support, rows: Ints, signs: Floats) -> FamilyEffect:
    helped, harmed = int((signs[rows] > 0).sum()), int((signs[rows] < 0).sum())
    gain, p = float(support.gains[rows].mean()), sign_test(helped, harmed)
    return FamilyEffect(str(support.families[rows[0]]), rows, gain, helped, harmed, p, p, "unclear")


def _with_adjusted(one: FamilyEffect, p: float) -> FamilyEffect:
    effect: Effect = "unclear"
    if p <= FALSE_DISCOVERIES and one.gain > 0 and one.helped > one.harmed:
        effect = "helps"
    elif p <= FALSE_DISCOVERIES and one.gain < 0 and one.harmed > one.helped:
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
    neighbors = nearest_rows(own)
    harmed = [one for one in families if one.effect == "harms"]
    tokens = _token_change(own)
    ruling, reason, more = _ruling(mean, adjusted_p, families, tokens, margin)
    return SkillVerdict(
        skill=str(support.skills[rows[0]]),
        ruling=ruling,
        reason=reason,
        mean=mean,
        adjusted_p=adjusted_p,
        helped=int((signs[rows] > 0).sum()),
        harmed=int((signs[rows] < 0).sum()),
        families=families,
        groups=tuple(replace(group, rows=rows[group.rows]) for group in harm_groups(own, neighbors)),
        token_change=tokens,
        skip_harmed=_skipping(own, np.isin(rows, np.concatenate([one.rows for one in harmed]))) if harmed else None,
        skip_by_family=_skipping(own, _others_of_family(own) < -TIE),
        skip_by_neighbors=_skipping(own, neighborhood_gains(own, neighbors) < -TIE),
        more_tasks=more,
    )


def _ruling(
    mean: TaskMean, adjusted_p: float, families: Sequence[FamilyEffect], tokens: float | None, margin: float
) -> tuple[Ruling, Reason, int | None]:
    """The ruling, what it rests on, and how many more tasks it lacks."""
    helps, harms = (sum(one.effect == effect for one in families) for effect in ("helps", "harms"))
    low, high, half = mean.interval.low, mean.interval.high, mean.half_width
    if low is None or high is None or half is None:
        return "not enough evidence", "too little", max(0, ENOUGH - mean.tasks) or None
    verdict = verdict_of(low, high, margin) if mean.tasks >= ENOUGH else "not enough evidence"
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
    return "not enough evidence", "too little", _more_tasks(mean, half, adjusted_p, margin)


def _more_tasks(mean: TaskMean, half: float, adjusted_p: float, margin: float) -> int | None:
    wanted = tasks_to_settle(mean.mean, half, mean.tasks, margin)
    if wanted is None:
        return None
    return max(wanted, _tasks_to_pass(mean, adjusted_p), ENOUGH - mean.tasks, 1)


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
    known = bool(np.isfinite(own.tokens0).all() and np.isfinite(own.tokens1).all())
    total = float(own.tokens1.sum()) if known else 0.0
    return Skipping(
        tasks=int(skipped.sum()),
        success=float(np.where(skipped, -own.gains, 0.0).mean()),
        tokens=float(saved.mean()) if known else None,
        token_share=float(saved.sum()) / total if known and total > 0 else None,
    )


def _token_change(own: Support) -> float | None:
    if not (np.isfinite(own.tokens0).all() and np.isfinite(own.tokens1).all()) or own.tokens0.sum() <= 0:
        return None
    return float(own.tokens1.sum() / own.tokens0.sum()) - 1
