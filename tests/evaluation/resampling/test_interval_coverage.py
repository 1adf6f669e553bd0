"""The promise of a 95% interval: on panels drawn from a known population it holds the truth about 95 times in 100.

Scores and actions are fixed here, as the bootstrap has it. Refitted scores are the subject of `test_refitted`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from skilldelta.arrays import Floats
from skilldelta.evaluation.panel_policy import Outcomes, PanelPolicy, policy_result
from skilldelta.evaluation.resampling.bootstrap import (
    Design,
    Inventory,
    percentile_range,
    resample_components,
    resample_policies,
)
from skilldelta.support import Support

pytestmark = pytest.mark.slow

PANELS = 1_000
DRAWS = 600


@dataclass(frozen=True)
class Population:
    """Tasks whose gain leans on a visible score; families differ in both, and a new family brings its own lean."""

    families: int
    tasks: int  # of a family
    family_spread: float

    def panel(self, rng: np.random.Generator, leans: Floats) -> tuple[Support, PanelPolicy]:
        n = self.families * self.tasks
        lean = np.repeat(leans, self.tasks)
        score = rng.normal(lean, 1.0)
        gain_rate = 0.5 + 0.15 * np.tanh(score)
        tokens0 = rng.gamma(4.0, 100.0, n)
        support = Support.from_arrays(
            task_ids=[f"t{i}" for i in range(n)],
            families=np.repeat([f"f{i}" for i in range(self.families)], self.tasks),
            vectors=np.ones((n, 1)),
            y0=rng.random(n) < 0.45,
            y1=rng.random(n) < gain_rate,
            tokens0=tokens0,
            tokens1=tokens0 + rng.gamma(3.0, 100.0, n),
        )
        return support, PanelPolicy("fixed", score > 0.1, np.arange(n), np.round(score, 1), 0.1, False)

    def leans(self, rng: np.random.Generator) -> Floats:
        return rng.normal(0.0, self.family_spread, self.families)


METRICS = ("auroc", "success_gain", "advantage_vs_random", "balanced_accuracy", "token_saving", "success", "use_rate")


def test_intervals_over_tasks_cover_the_population(rng: np.random.Generator) -> None:
    population = Population(families=1, tasks=250, family_spread=0.0)
    truth = _truth(population, rng, np.zeros(1), tasks=1_000_000)
    hits = dict.fromkeys(METRICS, 0)
    for _ in range(PANELS):
        support, policy = population.panel(rng, np.zeros(1))
        outcomes = Outcomes.of(support, policy.rows)
        design = Design.tasks(outcomes.task_ids, Inventory.of([support]))
        _count(hits, truth, resample_policies([policy], outcomes, design, draws=DRAWS, rng=rng)["fixed"])
    _covers(hits)


def test_intervals_over_whole_families_cover_a_population_of_families(rng: np.random.Generator) -> None:
    population = Population(families=80, tasks=8, family_spread=0.8)
    many = Population(families=200_000, tasks=8, family_spread=0.8)
    truth = _truth(many, rng, many.leans(rng), tasks=8)
    hits = dict.fromkeys(METRICS, 0)
    narrow = 0
    for number in range(PANELS):
        support, policy = population.panel(rng, population.leans(rng))
        outcomes = Outcomes.of(support, policy.rows)
        inventory = Inventory.of([support])
        design = Design.families(outcomes.families, inventory)
        _count(hits, truth, resample_policies([policy], outcomes, design, draws=DRAWS, rng=rng)["fixed"])
        if number < 200:  # tasks taken for independent would promise too much here
            by_task = Design.tasks(outcomes.task_ids, inventory)
            found = resample_policies([policy], outcomes, by_task, draws=DRAWS, rng=rng)["fixed"]["use_rate"]
            narrow += _holds(found, truth["use_rate"])
    _covers(hits)
    assert narrow / 200 < 0.9


def test_intervals_within_families_cover_the_parts_of_the_advantage(rng: np.random.Generator) -> None:
    population = Population(families=5, tasks=80, family_spread=0.8)
    leans = np.array([-1.2, -0.5, 0.0, 0.6, 1.1])
    truth = _truth(population, rng, leans, tasks=200_000)
    hits = dict.fromkeys(("within_group", "between_group", "advantage_vs_random"), 0)
    for _ in range(PANELS):
        support, policy = population.panel(rng, leans)
        outcomes = Outcomes.of(support, policy.rows)
        design = Design.tasks_within_families(outcomes.task_ids, Inventory.of([support]))
        _count(hits, truth, resample_components([policy], outcomes, design, draws=DRAWS, rng=rng)["fixed"])
    _covers(hits)


def test_the_paired_difference_of_two_policies_covers_the_population(rng: np.random.Generator) -> None:
    population = Population(families=1, tasks=250, family_spread=0.0)
    leans = np.zeros(1)
    big, policy = replace(population, tasks=1_000_000).panel(rng, leans)
    on = PanelPolicy.constant("always_on", 1.0, len(big))
    truth = policy_result(policy, big, {}).success - policy_result(on, big, {}).success
    hits = 0
    for _ in range(PANELS):
        support, policy = population.panel(rng, leans)
        on = PanelPolicy.constant("always_on", 1.0, len(support))
        outcomes = Outcomes.of(support, policy.rows)
        design = Design.tasks(outcomes.task_ids, Inventory.of([support]))
        found = resample_policies([policy, on], outcomes, design, draws=DRAWS, rng=rng)
        hits += _holds(found["fixed"]["success"] - found["always_on"]["success"], truth)
    _covers({"success difference": hits})


def _truth(population: Population, rng: np.random.Generator, leans: Floats, *, tasks: int) -> dict[str, float]:
    support, policy = replace(population, tasks=tasks).panel(rng, leans)
    result = policy_result(policy, support, {})
    return {name: getattr(result, name) for name in (*METRICS, "within_group", "between_group")}


def _count(hits: dict[str, int], truth: dict[str, float], samples: dict[str, Floats]) -> None:
    for metric in hits:
        hits[metric] += _holds(samples[metric], truth[metric])


def _holds(samples: Floats, truth: float) -> bool:
    found = percentile_range(samples)
    return found.low is not None and found.high is not None and found.low <= truth <= found.high


def _covers(hits: dict[str, int]) -> None:
    shares = {metric: count / PANELS for metric, count in hits.items()}
    assert all(0.92 <= share <= 0.98 for share in shares.values()), shares
