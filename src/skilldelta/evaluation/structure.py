"""What a panel is made of: help, harm and tie by family, group sizes, and how skills and tasks meet."""

from __future__ import annotations

import numpy as np

from skilldelta.arrays import Ints
from skilldelta.evaluation.results import FamilyCounts, Structure
from skilldelta.support import Scope, Support


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
