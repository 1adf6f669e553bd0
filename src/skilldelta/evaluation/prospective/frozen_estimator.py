"""Which estimators can be frozen besides the paper's rule, and whether an audit can compute their predictions again.

The paper's rule is defined by its settings alone. Another estimator is defined by its code as well, so its version is
sealed with it: the same version must give the sealed predictions again, another one is not asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from skilldelta.errors import unknown_name
from skilldelta.estimators.base import Estimator
from skilldelta.estimators.family_mean import FamilyMean
from skilldelta.estimators.stack import Stack
from skilldelta.evaluation.prospective.seal import SealedSettings
from skilldelta.version import __version__

PAPER_RULE = "skilldelta"

_OTHERS: Mapping[str, Callable[[], Estimator]] = {"stack": Stack, "family_mean": FamilyMean}
FREEZABLE: tuple[str, ...] = (PAPER_RULE, *_OTHERS)
"""Only what predicts gains: a frozen decision compares a gain with a threshold."""


def frozen_estimator(name: str) -> Estimator | None:
    """The estimator of a name; None is the paper's rule, which its settings make."""
    if name not in FREEZABLE:
        raise unknown_name("estimator", name, FREEZABLE)
    return None if name == PAPER_RULE else _OTHERS[name]()


def why_not_repeated(settings: SealedSettings) -> str:
    """Why sealed predictions cannot be computed again here, in words; empty where they can."""
    if settings.estimator == PAPER_RULE:
        return ""
    said = f"the predictions of {settings.estimator} were not computed again, only their seal was checked"
    if settings.estimator not in _OTHERS:
        return f"{said}: this SkillDelta does not know that estimator"
    if settings.estimator_version != __version__:
        made = settings.estimator_version or "of an unknown version"
        return f"{said}: they were made by SkillDelta {made}, and this is {__version__}"
    return ""
