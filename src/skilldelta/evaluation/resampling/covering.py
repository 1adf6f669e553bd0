"""Which intervals stand beside a result: those that hold their truth about as often as they promise.

Rules that average their neighbours' outcomes get intervals that refit (`jackknife`). Policies that no outcome of the panel
touches keep the bootstrap with fixed actions. What neither way covers has no interval; `docs/limits.md` has the
measured coverage. The bootstrap with everything fixed, as the paper has it, stays available as conditional intervals.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.evaluation.resampling.jackknife import normal_range, standard_error
from skilldelta.evaluation.results import PolicyResult, Range

Replicates = Mapping[str, Floats]
"""Metric to (rounds, parts)."""

_NOT_COVERED: Mapping[str, tuple[str, ...]] = {
    # A mean over the family cannot choose within it: what is measured there is left over from leaving one out.
    "family_mean": ("within_group",),
    # Its rate is SkillDelta's own, which varies with the outcomes.
    "random_matched": ("use_rate", "tokens", "token_saving"),
    # It learns from all outcomes, and nothing short of fitting it many times would show how much they move it.
    "stack": ("use_rate", "tokens", "token_saving", "within_group", "between_group"),
}
_PAIRED = ("_vs_skilldelta", "_vs_self_judge")


def covering_intervals(
    result: PolicyResult, conditional: Mapping[str, Range], refitted: Replicates | None
) -> dict[str, Range]:
    """The intervals of one policy: refitted where there are replicates, else conditional ones that cover."""
    found = {name: one for name, one in conditional.items() if not name.endswith(_PAIRED)}
    if refitted is not None:
        by_family = {name: one for name, one in found.items() if name.endswith("_by_family")}
        found = {metric: _refitted(result, metric, values) for metric, values in refitted.items()} | by_family
    dropped = _NOT_COVERED.get(result.name, ())
    return {name: one for name, one in found.items() if one.low is not None and name not in dropped}


def _refitted(result: PolicyResult, metric: str, replicates: Floats) -> Range:
    value = getattr(result, metric)
    if value is None or not np.isfinite(replicates).all():
        return Range(None, None)
    return normal_range(metric, value, standard_error(replicates))
