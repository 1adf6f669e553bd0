"""Verdicts on the skills of loaded panels (keep, gate, drop, no effect, not enough evidence), and what each skill breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.evaluation.paired_comparison import vote
from skilldelta.evaluation.repeated_folds import REPEATS, SMALL_PANEL, held_out_uses
from skilldelta.evaluation.results import MARGIN
from skilldelta.evaluation.skill_verdicts import RULINGS, FamilyEffect, HarmGroup, SkillVerdict, skill_verdicts
from skilldelta.nouns import plural
from skilldelta.pairing import arms_of
from skilldelta.report.skill_list import skill_sentence
from skilldelta.studies.loaded_panel import LoadedPanel
from skilldelta.studies.status_quo_study import status_quo, status_quo_document
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
    panels: Sequence[LoadedPanel],
    settings: SkillSettings = DEFAULT_SKILL_SETTINGS,
    *,
    uses: Sequence[Floats] | None = None,
) -> tuple[JudgedPanel, ...]:
    """A verdict for every skill of every panel; the correction for many looks is made within a panel.

    Parameters:
        panels: From `load_panels`.
        settings: The gate, and what the verdicts depend on.
        uses: The gate's decisions on unseen rows, (repeats, n) for each panel, where they are known already.

    Returns:
        The verdicts, panel by panel.

    Examples:
        >>> (judged,) = judge_skills([panel])
        >>> [(one.skill, one.ruling, one.more_tasks) for one in judged.verdicts]
        [('units-skill', 'not enough evidence', 38), ('dates-skill', 'not enough evidence', 257)]
    """
    rng = np.random.default_rng(settings.seed)
    decisions = [gate_uses(panel.support, settings.seed) for panel in panels] if uses is None else uses
    return tuple(
        JudgedPanel(
            panel,
            skill_verdicts(
                panel.support,
                rng=rng,
                votes=task_votes(panel),
                uses=decided,
                margin=settings.margin,
                draws=settings.resamples,
            ),
            settings,
        )
        for panel, decided in zip(panels, decisions, strict=True)
    )


def gate_uses(support: Support, seed: int = 0) -> Floats:
    """(repeats, n) what the product's own estimator decides on rows that it has not seen; one repeat in a large panel."""
    from skilldelta.estimators.blend import Blend

    repeats = REPEATS if len(support.row_of_task) < SMALL_PANEL else 1
    return held_out_uses(support, Blend(), rng=np.random.default_rng(seed), repeats=repeats)


def summary_line(judged: Sequence[JudgedPanel]) -> str:
    """All verdicts in one line: `87 skills: keep 19, gate 3, drop 2, no effect 29, not enough evidence 34`."""
    rulings = [verdict.ruling for panel in judged for verdict in panel.verdicts]
    counts = ", ".join(f"{ruling} {rulings.count(ruling)}" for ruling in RULINGS if ruling in rulings)
    return f"{plural(len(rulings), 'skill')}: {counts}"


def judged_to_dict(judged: JudgedPanel) -> dict[str, Any]:
    """What `skilldelta skills --json` prints of a panel.

    Parameters:
        judged: One panel of `judge_skills`.

    Returns:
        The document.

    Examples:
        >>> judged_to_dict(judge_skills([panel])[0])["skills"][1]["harmed_tasks"]
        ['dates-0', 'dates-1']
    """
    support = judged.panel.support
    documents = []
    for verdict in judged.verdicts:
        measured = status_quo(judged.panel, verdict.skill, seed=judged.settings.seed, draws=judged.settings.resamples)
        listed = None if measured is None else status_quo_document(measured)
        documents.append({**_skill_document(support, verdict), "listed": listed})
    return {
        "agent": support.agent,
        "suite": judged.panel.suite,
        "tasks": len(np.unique(support.task_ids)),
        "margin": judged.settings.margin,
        "skills": documents,
        "left_out": list(judged.panel.notes),
    }


def _skill_document(support: Support, verdict: SkillVerdict) -> dict[str, Any]:
    mean = verdict.mean
    return {
        "skill": verdict.skill,
        "verdict": verdict.ruling,
        "reason": verdict.reason,
        "sentence": skill_sentence(verdict),
        "tasks": mean.tasks,
        "helped": verdict.helped,
        "harmed": verdict.harmed,
        "certainty": verdict.certainty,
        "gain": mean.mean,
        "interval": {**asdict(mean.interval), "level": mean.level, "method": "bootstrap over tasks"},
        "corrected": asdict(verdict.effect),
        "gate": None if verdict.gate is None else asdict(verdict.gate),
        "extra_tokens": verdict.extra_tokens,
        "points_per_1000_tokens": verdict.points_per_1000_tokens,
        "adjusted_p": verdict.adjusted_p,
        "detectable_gain": mean.detectable,
        "more_tasks": verdict.more_tasks,
        "token_change": verdict.token_change,
        "harmed_tasks": [
            str(support.task_ids[row]) for family in verdict.families for row in family.rows if support.gains[row] < 0
        ],
        "families": [_family_document(support, family) for family in verdict.families],
        "neighbor_groups": [_group_document(support, family) for family in verdict.groups],
        "skipping": {
            "harmed_families": None if verdict.skip_harmed is None else asdict(verdict.skip_harmed),
            "by_family_held_out": asdict(verdict.skip_by_family),
            "by_neighbors_held_out": asdict(verdict.skip_by_neighbors),
        },
    }


def _family_document(support: Support, family: FamilyEffect) -> dict[str, Any]:
    names = ("family", "tasks", "gain", "helped", "harmed", "p", "adjusted_p", "effect")
    harmed = [str(support.task_ids[row]) for row in family.rows if support.gains[row] < 0]
    return {**{name: getattr(family, name) for name in names}, "harmed_tasks": harmed}


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
    arms = {
        (arms_of_task.task_id, arms_of_task.skill_id): arms_of_task
        for arms_of_task in arms_of(panel.versioned)
        if not arms_of_task.missing
    }
    for row in unequal:
        found = arms.get((str(support.task_ids[row]), str(support.skills[row])))
        if found is None:
            continue
        skip, use = ([run.success or 0.0 for run in arm] for arm in (found.skip, found.use))
        if np.isclose(np.mean(skip), support.y0[row]):  # a corrected row has other means than its runs
            votes[row] = vote(skip, use)
    return votes
