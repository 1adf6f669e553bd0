"""Percentile bootstrap with scores and actions held fixed: how much a result depends on which tasks there were.

Five designs, each vectorised over draws: tasks for ranking and policy value; the same draws paired between two policies
for differences; tasks or whole families for the advantage over random, its rate recomputed; tasks within families for the
decomposition; task groups for policies with a test split. The intervals leave out refitting, the choice of settings and
new execution noise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skilldelta.arrays import Floats
from skilldelta.evaluation.decomposition import DecompositionOfDraws
from skilldelta.evaluation.metrics import AurocOfDraws
from skilldelta.evaluation.panel_policy import COLUMNS, Outcomes, PanelPolicy, Totals, columns
from skilldelta.evaluation.resampling.draws import Design, count_draws
from skilldelta.evaluation.results import Range

LEVEL = 0.95

Tick = Callable[[int], None]
"""Told how many more draws are done."""

Samples = Mapping[str, Floats]
"""Metric name to its value in every draw."""

_METRICS = (
    "success",
    "success_gain",
    "success_vs_always_on",
    "use_rate",
    "token_saving",
    "advantage_vs_random",
    "balanced_accuracy",
    "gain_mae",
    "gain_mse",
)


def percentile_range(samples: Floats, *, level: float = LEVEL) -> Range:
    """The middle `level` of the draws; draws without a value (a class not drawn, no tokens) are left out."""
    known = samples[np.isfinite(samples)]
    if not len(known):
        return Range(None, None)
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return Range(float(low), float(high))


def resample_policies(
    policies: Sequence[PanelPolicy],
    outcomes: Outcomes,
    design: Design,
    *,
    draws: int,
    rng: np.random.Generator,
    tick: Tick | None = None,
) -> dict[str, dict[str, Floats]]:
    """Every metric of every policy in every draw; policies share the draws, so that differences are paired.

    All policies are evaluated on the same rows, those of `outcomes`.
    """
    table = np.column_stack([columns(policy, outcomes) for policy in policies])
    areas = {
        policy.name: AurocOfDraws(policy.scores[policy.rows], outcomes.positive)
        for policy in policies
        if policy.scores is not None
    }
    sums = np.empty((draws, table.shape[1]))
    auroc = {name: np.empty(draws) for name in areas}
    done = 0
    for counts in count_draws(design, draws, rng):
        part = slice(done, done + len(counts))
        sums[part] = counts.astype(np.float64) @ table
        for name, area in areas.items():
            auroc[name][part] = area(counts)
        done += len(counts)
        if tick:
            tick(len(counts))
    return {
        policy.name: _samples(Totals.from_sums(sums[:, i * COLUMNS : (i + 1) * COLUMNS]), auroc.get(policy.name))
        for i, policy in enumerate(policies)
    }


def resample_components(
    policies: Sequence[PanelPolicy],
    outcomes: Outcomes,
    design: Design,
    *,
    draws: int,
    rng: np.random.Generator,
    tick: Tick | None = None,
) -> dict[str, dict[str, Floats]]:
    """Within-group and between-group parts of every policy in every draw, and their sum."""
    identity = DecompositionOfDraws([p.actions[p.rows] for p in policies], outcomes.gains, outcomes.families)
    within, between = np.empty((len(policies), draws)), np.empty((len(policies), draws))
    done = 0
    for counts in count_draws(design, draws, rng):
        part = slice(done, done + len(counts))
        found = identity(counts)
        within[:, part], between[:, part] = found.within_group, found.between_group
        done += len(counts)
        if tick:
            tick(len(counts))
    return {
        policy.name: {
            "within_group": within[i],
            "between_group": between[i],
            "advantage_vs_random": within[i] + between[i],
        }
        for i, policy in enumerate(policies)
    }


@dataclass(frozen=True, slots=True)
class Difference:
    """A metric of one policy minus the same metric of another, on the same draws."""

    metric: str
    policy: str
    other: str

    def of(self, samples: Mapping[str, Samples]) -> Floats:
        """(draws,) the paired difference."""
        return samples[self.policy][self.metric] - samples[self.other][self.metric]


def _samples(totals: Totals, auroc: Floats | None) -> dict[str, Floats]:
    found: dict[str, Floats] = {name: getattr(totals, name) for name in _METRICS}
    found["tokens"] = totals.mean_tokens
    if auroc is not None:
        found["auroc"] = auroc
    return found
