"""Intervals that refit, for `evaluate --refit-intervals`: policies are scored anew without each group of tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from skilldelta.cli.output import note
from skilldelta.cli.progress import progress
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from skilldelta.evaluation.results import PanelResult, Range
    from skilldelta.evaluation.roster import Rules
    from skilldelta.records import Judgement

    Ranges = Mapping[str, Mapping[str, Range]]


def refitted(
    panel: PanelResult, rules: Rules, judgements: Sequence[Judgement] | None, rng: np.random.Generator
) -> Ranges:
    """By policy and metric; nothing for a panel of one task, which leaves none to score from."""
    from skilldelta.evaluation.resampling.refitted import GROUPS, refitted_ranges

    groups = min(GROUPS, panel.tasks)
    name = f"{panel.agent} on {panel.suite}"
    if groups < 2:
        note(f"{name}: one task cannot be refitted without itself; collect more")
        return {}
    note(f"{name}: refitting scores every policy {plural(groups + 1, 'time')}; large panels take long")
    with progress("refitting") as advance:
        return refitted_ranges(
            panel.support,
            list(panel.policies),
            rng=rng,
            rules=rules,
            judgements=judgements,
            groups=groups,
            progress=advance,
        )


def with_refitted(panel: PanelResult, ranges: Ranges) -> PanelResult:
    """The panel as it is shown to people: refitted intervals in place of those with fixed scores, and a note."""
    if not ranges:
        return panel
    policies = {
        name: replace(policy, intervals={**policy.intervals, **ranges.get(name, {})})
        for name, policy in panel.policies.items()
    }
    remark = "95%: refitted, with the scores made anew without each group of tasks; on the wide side"
    return replace(panel, policies=policies, notes=(remark, *panel.notes))
