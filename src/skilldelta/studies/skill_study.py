"""Verdicts on the skills of loaded panels: keep, gate, drop or not enough evidence, and which tasks each skill breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.evaluation.paired_comparison import vote
from skilldelta.evaluation.results import MARGIN
from skilldelta.evaluation.skill_verdicts import FamilyEffect, HarmGroup, SkillVerdict, skill_verdicts
from skilldelta.pairing import arms_of
from skilldelta.report.skill_list import skill_sentence
from skilldelta.studies.loaded_panel import LoadedPanel
from skilldelta.support import Support


@dataclass(frozen=True, slots=True)
class SkillSettings:
    """What verdicts on skills depend on besides the panels."""

    margin: float = MARGIN
    """Gains below this count as none."""
    resamples: int = 10_000
    seed: int = 0


DEFAULT_SKILL_SETTINGS = SkillSettings()


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPanel:
    """A panel beside the verdicts on its skills."""

    panel: LoadedPanel
    verdicts: tuple[SkillVerdict, ...]
    settings: SkillSettings


def judge_skills(
    panels: Sequence[LoadedPanel], settings: SkillSettings = DEFAULT_SKILL_SETTINGS
) -> tuple[JudgedPanel, ...]:
    """A verdict for every skill of every panel; the correction for many looks is made within a panel.

    Examples:
        >>> (judged,) = judge_skills([panel])
        >>> [(one.skill, one.ruling, one.more_tasks) for one in judged.verdicts]
        [('units-skill', 'not enough evidence', 6), ('dates-skill', 'not enough evidence', 9)]
    """
    rng = np.random.default_rng(settings.seed)
    return tuple(
        JudgedPanel(
            panel,
            skill_verdicts(
                panel.support, rng=rng, votes=task_votes(panel), margin=settings.margin, draws=settings.resamples
            ),
            settings,
        )
        for panel in panels
    )


def judged_to_dict(judged: JudgedPanel) -> dict[str, Any]:
    """What `skilldelta skills --json` prints of a panel.

    Examples:
        >>> judged_to_dict(judge_skills([panel])[0])["skills"][1]["harmed_tasks"]
        ['dates-0', 'dates-1']
    """
    support = judged.panel.support
    return {
        "agent": support.agent,
        "suite": judged.panel.suite,
        "tasks": len(np.unique(support.task_ids)),
        "margin": judged.settings.margin,
        "skills": [_skill_document(support, one) for one in judged.verdicts],
        "left_out": list(judged.panel.notes),
    }


def _skill_document(support: Support, found: SkillVerdict) -> dict[str, Any]:
    mean = found.mean
    return {
        "skill": found.skill,
        "verdict": found.ruling,
        "reason": found.reason,
        "sentence": skill_sentence(found),
        "tasks": mean.tasks,
        "helped": found.helped,
        "harmed": found.harmed,
        "gain": mean.mean,
        "interval": {**asdict(mean.interval), "level": mean.level, "method": "bootstrap over tasks"},
        "adjusted_p": found.adjusted_p,
        "detectable_gain": mean.detectable,
        "more_tasks": found.more_tasks,
        "token_change": found.token_change,
        "harmed_tasks": [
            str(support.task_ids[row]) for one in found.families for row in one.rows if support.gains[row] < 0
        ],
        "families": [_family_document(support, one) for one in found.families],
        "neighbor_groups": [_group_document(support, one) for one in found.groups],
        "skipping": {
            "harmed_families": None if found.skip_harmed is None else asdict(found.skip_harmed),
            "by_family_held_out": asdict(found.skip_by_family),
            "by_neighbors_held_out": asdict(found.skip_by_neighbors),
        },
    }


def _family_document(support: Support, one: FamilyEffect) -> dict[str, Any]:
    names = ("family", "tasks", "gain", "helped", "harmed", "p", "adjusted_p", "effect")
    harmed = [str(support.task_ids[row]) for row in one.rows if support.gains[row] < 0]
    return {**{name: getattr(one, name) for name in names}, "harmed_tasks": harmed}


def _group_document(support: Support, group: HarmGroup) -> dict[str, Any]:
    return {
        "tasks": [str(support.task_ids[row]) for row in group.rows],
        "families": sorted({str(support.families[row]) for row in group.rows}),
        "gain": group.gain,
        "nearby_gain": group.nearby_gain,
        "isolated": group.is_isolated,
    }


def task_votes(panel: LoadedPanel) -> Floats:
    """(n,) which way each task went on equally many runs of both arms; by its gain where the arms have as many."""
    support = panel.support
    votes = support.gains.copy()
    unequal = np.flatnonzero(support.r0 != support.r1)
    if not len(unequal):
        return votes
    arms = {(one.task_id, one.skill_id): one for one in arms_of(panel.versioned) if not one.missing}
    for row in unequal:
        found = arms.get((str(support.task_ids[row]), str(support.skills[row])))
        if found is None:
            continue
        skip, use = ([run.success or 0.0 for run in arm] for arm in (found.skip, found.use))
        if np.isclose(np.mean(skip), support.y0[row]):  # a corrected row has other means than its runs
            votes[row] = vote(skip, use)
    return votes
