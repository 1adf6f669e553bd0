"""What a panel is made of: help, harm and tie by family, group sizes, and how skills and tasks meet."""

from __future__ import annotations

import numpy as np

from skilldelta.evaluation.results import FamilyCounts, Structure
from skilldelta.support import Support


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
        )
        for block in blocks
    )


def _name(support: Support, row: int) -> str:
    """The family, or the skill whose rows without a family stand together."""
    return str(support.families[row]) or f"no family recorded (skill {support.skills[row]})"


def structure_of(support: Support) -> Structure:
    """Group sizes count tasks: a family of one task has no support of its own, under however many skills."""
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
    )
