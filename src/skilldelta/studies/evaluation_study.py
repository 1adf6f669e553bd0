"""The evaluation of loaded panels: what would the gate have bought, how sure are we, and against what?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.errors import InputError
from skilldelta.estimators.partition import Partition
from skilldelta.estimators.relevance_scores import RelevanceScores
from skilldelta.evaluation.comparison import default_gate, gate_comparison
from skilldelta.evaluation.leave_one_out import evaluate_panels
from skilldelta.evaluation.panel_policy import PanelPolicy
from skilldelta.evaluation.resampling.permutation import SHUFFLES
from skilldelta.evaluation.resampling.refitted import GROUPS, refitted_ranges
from skilldelta.evaluation.results import MARGIN, Means, PanelResult, Range, means_to_dict, panel_to_dict
from skilldelta.evaluation.scored_policies import EvaluationPlan, Holdout, Scorer, score_policies
from skilldelta.evaluation.structure import CoveragePoint, of_panel
from skilldelta.gate import Gate
from skilldelta.nouns import plural
from skilldelta.renames import estimator_name
from skilldelta.report.verdict import gate_headline
from skilldelta.studies.loaded_panel import LoadedPanel, StudyProgress, step_of
from skilldelta.studies.status_quo_study import InHarness, in_harness, in_harness_document
from skilldelta.support import Support

# By policy and metric.
RefittedRanges = Mapping[str, Mapping[str, Range]]


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """What the numbers of an evaluation depend on besides the panels."""

    gate: Gate = field(default_factory=Gate)
    """What is judged, beside the controls; it decides as it would in `predict`."""
    holdout: Holdout = "task"
    """What is left out together with a target."""
    partition: Partition | None = None
    """Where both Ridge controls train, validate and are tested; their own split unless given."""
    seed: int = 0
    resamples: int = 10_000
    """Bootstrap draws; 0 switches intervals off."""
    margin: float = MARGIN
    """Differences of success below this count as none in the verdict."""
    shuffles: int = SHUFFLES
    """Panels with shuffled gains that show what chance gives; 0 leaves them out."""
    null_blend: bool = False
    """Shuffle for the blend too, which is fitted anew to each of twice as many panels."""
    refit_intervals: bool = False
    """Also give intervals that account for refitting: every policy is scored again without each group of tasks."""
    relevance: RelevanceScores | None = None
    """Relevance scores from elsewhere; computed from the texts unless given."""
    in_harness: bool = False
    """Also give bounds of the gate's worth in a harness where the listed arm was not collected; takes several times as long."""


DEFAULT_EVALUATION = EvaluationSettings()


@dataclass(frozen=True, slots=True, eq=False)
class EvaluatedPanel:
    """A panel beside its results."""

    panel: LoadedPanel
    result: PanelResult
    refitted: RefittedRanges
    """Empty unless asked for."""
    risk: tuple[CoveragePoint, ...]
    """Of SkillDelta's estimator, when its most unlike tasks are left to the fallback."""
    in_harness: InHarness | None = None
    """What the gate is worth in a harness, where the listed arm was collected or the settings ask for bounds."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """The panels of a study, what they show together, and how they were evaluated."""

    panels: tuple[EvaluatedPanel, ...]
    means: Means
    settings: EvaluationSettings

    @property
    def results(self) -> list[PanelResult]:
        """The results alone, one per panel."""
        return [panel.result for panel in self.panels]


def evaluate(
    panels: Sequence[LoadedPanel],
    settings: EvaluationSettings = DEFAULT_EVALUATION,
    *,
    progress: StudyProgress | None = None,
) -> Evaluated:
    """Leave-one-task-out evaluation of every policy on every panel; agents of one suite share their task draws.

    Parameters:
        panels: From `load_panels`.
        settings: The gate that is judged, and what else the numbers depend on.
        progress: Called with a step, how much of it is done, and of how much.

    Returns:
        One result per panel, and means over panels.

    Examples:
        >>> found = evaluate([panel], EvaluationSettings(resamples=0, shuffles=0))
        >>> found.results[0].policies["always_on"].success
        0.5
    """
    relevance = settings.relevance
    if relevance is not None and all(relevance.of(panel.support) is None for panel in panels):
        raise InputError("the relevance scores name no task of these panels; give their task ids, suites and agents")
    texts = {skill: text for panel in panels for skill, text in panel.skill_texts.items()}
    plan = EvaluationPlan(settings.gate, texts, settings.partition, settings.holdout, settings.relevance)
    rng = np.random.default_rng(settings.seed)
    evaluation = evaluate_panels(
        [panel.support for panel in panels],
        rng=rng,
        plan=plan,
        resamples=settings.resamples,
        margin=settings.margin,
        shuffles=settings.shuffles,
        null_blend=settings.null_blend,
        judgements={(panel.support.agent, panel.suite): panel.judgements for panel in panels if panel.judgements},
        progress=step_of(progress, "evaluating"),
    )
    evaluated = tuple(
        EvaluatedPanel(
            panel,
            result,
            _refitted(panel, result, plan, rng, progress) if settings.refit_intervals else {},
            of_panel(result, scope=plan.scope),
            _in_harness(panel, result, settings),
        )
        for panel, result in zip(panels, evaluation.panels, strict=True)
    )
    return Evaluated(evaluated, evaluation.means, settings)


def plan_of(evaluated: Evaluated) -> EvaluationPlan:
    """How panels were evaluated."""
    texts = {skill: text for item in evaluated.panels for skill, text in item.panel.skill_texts.items()}
    settings = evaluated.settings
    return EvaluationPlan(settings.gate, texts, settings.partition, settings.holdout, settings.relevance)


def evaluation_document(evaluated: Evaluated) -> dict[str, Any]:
    """The document of `evaluate --json`."""
    panels = [_panel_document(panel) for panel in evaluated.panels]
    return {"panels": panels, "means": means_to_dict(evaluated.means)}


def _panel_document(evaluated: EvaluatedPanel) -> dict[str, Any]:
    verdict, own = gate_comparison(evaluated.result), evaluated.result.policies.get(default_gate(evaluated.result))
    document = {
        **panel_to_dict(evaluated.result),
        "noise_floor": asdict(evaluated.panel.noise),
        "verdict": None if verdict is None else asdict(verdict),
        "headline": asdict(gate_headline(evaluated.result, own)) if own is not None else None,
        "excluded": [asdict(task) for task in evaluated.panel.excluded],
        "corrected": [asdict(record) for record in evaluated.panel.corrected],
        "risk_coverage": [asdict(point) for point in evaluated.risk],
        "in_harness": None if evaluated.in_harness is None else in_harness_document(evaluated.in_harness),
    }
    for name, ranges in evaluated.refitted.items():
        documents = {metric: asdict(interval) for metric, interval in ranges.items()}
        document["policies"][name]["refitted_intervals"] = documents
    return document


def refitting_note(panel: LoadedPanel) -> str:
    """What refitting the intervals of a panel means for those who wait for it."""
    groups = _groups(panel)
    if groups < 2:
        return f"{panel.title}: one task cannot be refitted without itself; collect more"
    return f"{panel.title}: refitting scores every policy {plural(groups + 1, 'time')}; large panels take long"


def _in_harness(panel: LoadedPanel, result: PanelResult, settings: EvaluationSettings) -> InHarness | None:
    gate = result.policies.get(result.gate)
    if gate is None or settings.holdout == "family" or not (panel.listed or settings.in_harness):
        return None
    uses = np.asarray(gate.actions, np.bool_)
    return in_harness(panel, settings.gate, uses, seed=settings.seed, draws=settings.resamples)


def _refitted(
    panel: LoadedPanel,
    result: PanelResult,
    plan: EvaluationPlan,
    rng: np.random.Generator,
    progress: StudyProgress | None,
) -> RefittedRanges:
    """Nothing for a panel of one task, which leaves none to score from."""
    groups = _groups(panel)
    if groups < 2:
        return {}
    return refitted_ranges(
        result.support,
        list(result.policies),
        rng=rng,
        plan=plan,
        judgements=panel.judgements or None,
        groups=groups,
        progress=step_of(progress, "refitting"),
    )


def _groups(panel: LoadedPanel) -> int:
    return min(GROUPS, len(np.unique(panel.support.task_ids)))


def plan_for(panel: LoadedPanel, gate: Gate) -> EvaluationPlan:
    """The plan of a study of one panel by one gate."""
    return EvaluationPlan(gate, panel.skill_texts)


def scored_policy(name: str, support: Support, plan: EvaluationPlan) -> PanelPolicy:
    """One policy with its scores; constant policies have none and are refused."""
    name = estimator_name(name)
    scored = score_policies(support, [name], plan, None)
    if name not in scored.policies:
        raise InputError("; ".join(scored.left_out) or f"{name} cannot be scored on this panel")
    if scored.policies[name].scores is None:
        raise InputError(f"{name} has no scores; choose blend, paper, family_mean or tfidf_knn")
    return scored.policies[name]


def scorer_of(name: str, plan: EvaluationPlan) -> Scorer:
    """How a policy scores a part of a panel."""

    def score(support: Support) -> Floats:
        scores = scored_policy(name, support, plan).scores
        assert scores is not None  # scored_policy refuses policies without
        return scores

    return score
