"""Which estimators can be frozen besides the paper's rule, and whether an audit can compute their predictions again.

The paper's rule is defined by its settings alone. Another estimator is defined by its code as well, so its version is
sealed with it: the same version must give the sealed predictions again, another one is not asked.
"""

from __future__ import annotations

from skilldelta.errors import unknown_name
from skilldelta.estimators.base import Estimator
from skilldelta.evaluation.policy_table import freezable, policies
from skilldelta.evaluation.prospective.seal import SealedSettings
from skilldelta.evaluation.roster import Rules
from skilldelta.version import __version__

PAPER_RULE = "skilldelta"


def frozen_estimator(name: str) -> Estimator | None:
    """The estimator of a name; None is the paper's rule, which its settings make."""
    if name not in freezable():
        raise unknown_name("estimator", name, freezable())
    make = policies()[name].estimator
    return None if name == PAPER_RULE or make is None else make(Rules(), ())


def version_of(name: str) -> str:
    """The version of an estimator's code; SkillDelta's where the table does not have it."""
    return policies()[name].version if name in policies() else __version__


def why_not_repeated(settings: SealedSettings) -> str:
    """Why sealed predictions cannot be computed again here, in words; empty where they can."""
    if settings.estimator == PAPER_RULE:
        return ""
    said = f"the predictions of {settings.estimator} were not computed again, only their seal was checked"
    if settings.estimator not in freezable():
        return f"{said}: this SkillDelta does not know that estimator"
    entry = policies()[settings.estimator]
    if settings.estimator_version != entry.version:
        made = settings.estimator_version or "of an unknown version"
        return f"{said}: they were made by {'' if entry.is_installed else 'SkillDelta '}{made}, and this is {entry.version}"
    return ""
