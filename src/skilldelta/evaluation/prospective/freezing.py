"""Prospective panels: every target predicted, decided and sealed before its outcome exists.

What the sealed predictions were worth is `auditing`'s question; the file is `seal`'s.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from skilldelta.errors import InputError
from skilldelta.estimators.base import Estimator, Target
from skilldelta.evaluation.amendments import Exclusion, check_exclusions, without_excluded
from skilldelta.evaluation.prospective.frozen_rule import PAPER_RULE, FrozenGain, FrozenRule, version_of
from skilldelta.evaluation.prospective.seal import (
    GATE_FIELDS,
    SealedPanel,
    SealedPrediction,
    SealedSettings,
    SealedTarget,
    seal,
    sealed_rows,
    vector_digest,
)
from skilldelta.evaluation.prospective.tampering import names_of
from skilldelta.support import Support


def freeze(
    support: Support,
    targets: Sequence[Target],
    *,
    rule: FrozenRule,
    created: str,
    estimator: Estimator | None = None,
    exclusions: Sequence[Exclusion] = (),
) -> SealedPanel:
    """Predict and decide every target, and seal. Targets need ids, texts and vectors; their outcomes must not exist.

    `estimator` replaces the paper's rule as the source of predicted gains; scope and threshold are still the rule's.
    `exclusions` are left out of support and targets, and sealed with their reasons.
    """
    check_exclusions(exclusions, {*support.task_ids.tolist(), *(target.task_id for target in targets)})
    gone = {exclusion.task_id for exclusion in exclusions}
    support, targets = (
        without_excluded(support, exclusions),
        [exclusion for exclusion in targets if exclusion.task_id not in gone],
    )
    _check_targets(support, targets)
    threshold = rule.resolve_threshold(support, estimator)
    gains = rule.gains(support, targets, estimator, threshold)
    return seal(
        _settings(support, rule, threshold, estimator, exclusions),
        sealed_rows(support),
        [SealedTarget(t.task_id, t.skill, t.family, t.text, vector_digest(t.vector)) for t in targets],
        [_sealed_prediction(support, *target_and_gain) for target_and_gain in zip(targets, gains, strict=True)],
        created=created,
    )


def _check_targets(support: Support, targets: Sequence[Target]) -> None:
    if not targets:
        raise InputError("there is no target to freeze; give at least one task")
    nameless = [target.text[:40] for target in targets if not target.task_id]
    if nameless:
        raise InputError(f"a target has no task id ({nameless[0]!r}); outcomes could not be joined to it later")
    repeated = [key for key, count in Counter((t.task_id, t.skill) for t in targets).items() if count > 1]
    if repeated:
        raise InputError(f"target {repeated[0][0]!r} is given twice; give each task once per skill")
    recorded = sorted({target.task_id for target in targets} & set(support.task_ids.tolist()))
    if recorded:
        raise InputError(
            f"{names_of('target', recorded)} already had outcomes in the support; freeze tasks that have none"
        )


def _settings(
    support: Support, rule: FrozenRule, threshold: float, estimator: Estimator | None, exclusions: Sequence[Exclusion]
) -> SealedSettings:
    return SealedSettings(
        agent=support.agent,
        suite=support.suite,
        encoder=support.encoder,
        estimator=PAPER_RULE if estimator is None else estimator.name,
        scope=rule.scope,
        k=rule.k,
        weighting=rule.weighting,
        label=rule.label,
        elsewhere=rule.elsewhere,
        threshold=threshold,
        threshold_rule=rule.threshold if isinstance(rule.threshold, str) else None,
        estimator_version=None if estimator is None else version_of(estimator.name),
        excluded=tuple(exclusions),
        **({} if rule.gate is None else {name: getattr(rule.gate, name) for name in GATE_FIELDS}),
    )


def _sealed_prediction(support: Support, target: Target, frozen: FrozenGain) -> SealedPrediction:
    near = frozen.near
    return SealedPrediction(
        task_id=target.task_id,
        skill=target.skill,
        gain=frozen.gain,
        action=frozen.action,
        eligible=near.eligible,
        neighbors=tuple(support.task_ids[near.rows].tolist()),
        weights=tuple(near.weights.tolist()),
    )
