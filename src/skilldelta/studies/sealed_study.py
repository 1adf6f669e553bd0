"""A prospective study: predictions sealed before their outcomes exist, and what they were worth afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from skilldelta.encoders import Encoder
from skilldelta.errors import InputError, unknown_name
from skilldelta.estimators.base import Target
from skilldelta.evaluation.amendments import Exclusion
from skilldelta.evaluation.prospective.auditing import AuditResult, Reexecution, audit, reexecution, split_outcomes
from skilldelta.evaluation.prospective.freezing import freeze
from skilldelta.evaluation.prospective.frozen_rule import HISTORICAL, PAPER_RULE, FrozenRule, frozen_estimator
from skilldelta.evaluation.prospective.seal import SealedPanel
from skilldelta.evaluation.results import MARGIN
from skilldelta.studies.loaded_panel import LoadedPanel
from skilldelta.studies.record_lists import TargetTask
from skilldelta.support import Support

_MAIN = FrozenRule()


@dataclass(frozen=True, slots=True)
class Audited:
    """Sealed predictions after their outcomes came in."""

    result: AuditResult
    reexecuted: Reexecution | None
    """The sealed actions on a second batch of outcomes, where there is one."""


def historical_rule(name: str, estimator: str = PAPER_RULE) -> FrozenRule:
    """The frozen settings of one of the paper's panels, which are settings of the paper's rule alone."""
    if name not in HISTORICAL:
        raise unknown_name("settings", name, HISTORICAL)
    if estimator != PAPER_RULE:
        raise InputError(f"--settings are settings of the paper's rule, not of {estimator}; leave out one of the two")
    return HISTORICAL[name]


def freeze_targets(
    panel: LoadedPanel,
    targets: Sequence[TargetTask],
    *,
    created: str,
    rule: FrozenRule = _MAIN,
    estimator: str = PAPER_RULE,
    exclusions: Sequence[Exclusion] = (),
) -> SealedPanel:
    """Predict every target from a panel as it is now, and seal settings, support and predictions with hashes.

    `skilldelta.evaluation.prospective.seal.write_sealed` keeps the result in a file.

    Parameters:
        panel: Pairs of one agent on one suite, from `load_panel` or `load_panels`.
        targets: Tasks without outcomes, from `read_targets`.
        created: The date that is sealed.
        rule: Settings and threshold, or the rule by which the threshold is chosen.
        estimator: Who predicts the gain.
        exclusions: Tasks of the panel, or targets, that are left out.

    Returns:
        The sealed panel.

    Examples:
        >>> targets = [TargetTask("new-1", "convert four miles to feet", "units-skill", "units")]
        >>> [made.action for made in freeze_targets(panel, targets, created="2026-01-31").predictions]
        ['use']
    """
    return freeze(
        _as_sealed(panel, panel.recorded),
        _encoded(targets, panel.encoder),
        rule=rule,
        created=created,
        estimator=frozen_estimator(estimator),
        exclusions=exclusions,
    )


def audit_sealed(
    sealed: SealedPanel,
    panel: LoadedPanel,
    *,
    reexecuted: LoadedPanel | None = None,
    published_seal: str | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    margin: float = MARGIN,
) -> Audited:
    """Evaluate sealed predictions on the outcomes that a panel has since got.

    Evidence is compared as it is recorded; outcomes count as corrected.

    Parameters:
        sealed: From a sealed file.
        panel: The same panel, with the outcomes of the targets.
        reexecuted: A panel in which the targets were run again.
        published_seal: The seal as it was published.
        resamples: Bootstrap draws; 0 leaves intervals out.
        seed: Seed of everything random.
        margin: Differences of success below this count as none in the verdict.

    Returns:
        What the predictions were worth.

    Raises:
        SealBrokenError: The sealed file, the support or the settings changed; the message names every change.

    Examples:
        >>> audit_sealed(sealed, panel_with_outcomes, resamples=0).result.evaluated
        1
    """
    support, _ = split_outcomes(sealed, _as_sealed(panel, panel.recorded))
    _, outcomes = split_outcomes(sealed, _as_sealed(panel, panel.support))
    rng = np.random.default_rng(seed)
    second = None
    if reexecuted is not None:
        _, again = split_outcomes(sealed, _as_sealed(reexecuted, reexecuted.support))
        second = reexecution(sealed, outcomes, again, resamples=resamples, rng=rng)
    result = audit(
        sealed,
        support,
        outcomes,
        published_seal=published_seal,
        resamples=resamples,
        rng=rng,
        margin=margin,
        corrected=panel.corrected,
    )
    return Audited(result, second)


def _as_sealed(panel: LoadedPanel, support: Support) -> Support:
    """With the agent's bare name, whatever other agents a bank has: that is what a seal names."""
    return replace(support, agent=panel.agent.name)


def _encoded(targets: Sequence[TargetTask], encoder: Encoder) -> list[Target]:
    vectors = encoder.encode([target.text for target in targets])
    return [
        Target(vectors[i], text=one.text, family=one.family, skill=one.skill, task_id=one.task_id)
        for i, one in enumerate(targets)
    ]
