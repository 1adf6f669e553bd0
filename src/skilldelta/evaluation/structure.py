"""What a panel is made of: help, harm and tie by family, group sizes, skills per task, and how familiar tasks are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats, Ints
from skilldelta.evaluation.results import Actions, FamilyCounts, PanelResult, Structure
from skilldelta.nouns import plural
from skilldelta.resemblance import leave_one_out
from skilldelta.support import Scope, Support

SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2)


def family_counts(support: Support) -> tuple[FamilyCounts, ...]:
    """Counts of observed gains above, below and equal to zero, families in order of first appearance."""
    blocks = sorted(support.blocks("family"), key=lambda block: int(block[0]))
    gains = support.gains
    return tuple(
        FamilyCounts(
            family=_name(support, int(block[0])),
            pairs=len(block),
            help=int((gains[block] > 0).sum()),
            harm=int((gains[block] < 0).sum()),
            tie=int((gains[block] == 0).sum()),
            off=float(support.y0[block].mean()),
            on=float(support.y1[block].mean()),
            both_succeed=int(((gains[block] == 0) & (support.y1[block] == 1)).sum()),
            both_fail=int(((gains[block] == 0) & (support.y1[block] == 0)).sum()),
        )
        for block in blocks
    )


def _name(support: Support, row: int) -> str:
    """The family, or the skill whose rows without a family stand together."""
    return str(support.families[row]) or f"no family recorded (skill {support.skills[row]})"


def structure_of(support: Support, scope: Scope = "family") -> Structure:
    """Group sizes count tasks: a family of one task has no support of its own, under however many skills.

    Eligible pairs are those of other tasks in `scope`. A bundle's id joins its skills by "+".
    """
    eligible = eligible_pairs(support, scope)
    members = np.char.count(support.skills, "+") + 1
    sizes = [len(np.unique(support.task_codes[block])) for block in support.blocks("family")]
    skills_by_family = [len(np.unique(support.skills[block])) for block in support.blocks("family")]
    rows_of_task = np.bincount(support.task_codes)
    return Structure(
        groups=len(sizes),
        median_group=float(np.median(sizes)),
        smallest_group=min(sizes),
        largest_group=max(sizes),
        singletons=sum(size == 1 for size in sizes),
        skills=len(np.unique(support.skills)),
        families_with_several_skills=sum(skills > 1 for skills in skills_by_family),
        tasks_with_several_skills=int((rows_of_task > 1).sum()),
        bundles=len(np.unique(support.skills[members > 1])),
        edges=int(members[support.skills != ""].sum()),
        without_support=int((eligible == 0).sum()),
        eligible_smallest=int(eligible.min()),
        eligible_median=float(np.median(eligible)),
        eligible_largest=int(eligible.max()),
    )


def eligible_pairs(support: Support, scope: Scope) -> Ints:
    """(n,) how many pairs of other tasks lie in the scope of each row."""
    labels = np.unique(support.scope_labels(scope), return_inverse=True)[1]
    own = np.unique(labels * (len(support) + 1) + support.task_codes, return_inverse=True)[1]
    counts: Ints = np.bincount(labels)[labels] - np.bincount(own)[own]
    return counts


def panel_notes(support: Support, structure: Structure) -> list[str]:
    """What a reader of the results must know about the panel itself."""
    notes = []
    positive = support.gains > 0
    if positive.all() or not positive.any():
        kind = "every" if positive.all() else "no"
        notes.append(f"{kind} task has a positive observed gain: AUROC and balanced accuracy are undefined")
    priced = np.isfinite(support.tokens0) & np.isfinite(support.tokens1)
    if not priced.any():
        notes.append("no pair has the tokens of both arms: tokens and savings are unknown")
    elif not priced.all():
        notes.append(
            f"tokens and savings are over the {int(priced.sum())} of {plural(len(support), 'pair')} with the tokens of both arms"
        )
    if structure.singletons:
        alone = plural(structure.singletons, "family has", "families have")
        notes.append(f"{alone} one task only: no support in scope, and nothing to choose within")
    unnamed = int((support.families == "").sum())
    if unnamed:
        notes.append(f"{plural(unnamed, 'pair has', 'pairs have')} no family: the skill stands in for it")
    return notes


@dataclass(frozen=True, slots=True)
class CoveragePoint:
    """A gate that leaves its most unlike tasks to the fallback."""

    coverage: float
    """Share of the pairs that the policy decides."""
    familiarity: float | None
    """The limit that leaves these out: decided tasks are at least so familiar. None where every task is decided."""
    risk: float
    """Mean success lost on the decided pairs, against the better arm of each."""
    success: float
    """Over all pairs, the others skipped."""


def of_panel(panel: PanelResult, policy: str = "blend", scope: Scope = "family") -> tuple[CoveragePoint, ...]:
    """The curve of one policy, over the rows it was evaluated on; empty where the panel lacks it or familiarity is unknown."""
    result = panel.policies.get(policy)
    if result is None:
        return ()
    rows, support = result.rows, panel.support
    familiarity = panel_familiarity(support, scope)[rows]
    if np.isnan(familiarity).all():
        return ()
    return risk_coverage(familiarity, result.actions[rows], support.y0[rows], support.y1[rows])


def panel_familiarity(support: Support, scope: Scope = "family") -> Floats:
    """(n,) how much each task resembles the other tasks of its scope; NaN where these are too few to say."""
    familiarity = np.full(len(support), np.nan)
    for block in support.blocks(scope):
        _, first, place = np.unique(support.task_codes[block], return_index=True, return_inverse=True)
        familiarity[block] = leave_one_out(support.vectors[block[first]])[place]
    return familiarity


def risk_coverage(
    familiarity: Floats, actions: Actions, y0: Floats, y1: Floats, *, shares: Sequence[float] = SHARES
) -> tuple[CoveragePoint, ...]:
    """What a gate gains and loses when the most unlike tasks are left to the fallback, skip: one point per share left out.

    Risk is the success lost on the tasks that are still decided: the better recorded arm's minus the chosen one's. Where
    unlike tasks are decided worse than others, risk falls with coverage. Tasks of unknown familiarity (NaN), and equals
    of a task, are kept.
    """
    chosen = np.where(np.asarray(actions, np.float64) > 0.5, y1, y0)
    lost = np.maximum(y0, y1) - chosen
    order_by = np.where(np.isnan(familiarity), np.inf, familiarity)
    points = []
    for share in shares:
        limit = np.sort(order_by)[min(int(share * len(order_by)), len(order_by) - 1)]
        decided = order_by >= limit
        points.append(
            CoveragePoint(
                coverage=float(decided.mean()),
                familiarity=float(limit) if np.isfinite(limit) and not decided.all() else None,
                risk=float(lost[decided].mean()),
                success=float(np.where(decided, chosen, y0).mean()),
            )
        )
    return tuple(points)
