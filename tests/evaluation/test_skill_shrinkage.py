"""Many skills judged together: intervals that hold, and few skills that look good by chance."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.evaluation.skill_shrinkage import skill_effects
from skilldelta.support import Support


def _library(rng: np.random.Generator, true_gains: list[float], tasks: int) -> Support:
    """One run of each arm per task; success rates without the skill lie between 0.3 and 0.7."""
    gains = np.repeat(true_gains, tasks)
    rates = rng.uniform(0.3, 0.7, len(gains))
    return Support.from_arrays(
        task_ids=[f"t{i}" for i in range(len(gains))],
        families=["f"] * len(gains),
        skills=[f"s{i // tasks}" for i in range(len(gains))],
        vectors=np.ones((len(gains), 2)),
        y0=(rng.random(len(gains)) < rates).astype(float),
        y1=(rng.random(len(gains)) < rates + gains).astype(float),
    )


def test_a_skill_alone_keeps_nearly_its_own_mean_and_one_of_many_is_pulled_to_the_others(
    rng: np.random.Generator,
) -> None:
    support = _library(rng, [0.3] + [0.0] * 40, 30)
    alone = skill_effects(support.rows(support.skills == "s0"))["s0"]
    among = skill_effects(support)["s0"]
    own_mean = float(support.gains[support.skills == "s0"].mean())
    assert abs(alone.gain - own_mean) < 0.12
    assert 0 < among.gain < alone.gain


def test_repeated_runs_weigh_more_than_single_ones() -> None:
    def effect(runs: int) -> float:
        support = Support.from_arrays(
            task_ids=[f"t{i}" for i in range(8)],
            families=["f"] * 8,
            skills=["s"] * 8,
            vectors=np.ones((8, 2)),
            y0=[0.0] * 8,
            y1=[0.0] * 4 + [1.0] * 4,
            r0=[runs] * 8,
            r1=[runs] * 8,
        )
        return skill_effects(support)["s"].helps

    assert effect(4) > effect(1)


@pytest.mark.parametrize("effective", [0, 20, 60])
def test_intervals_hold_and_few_skills_are_kept_or_dropped_wrongly(effective: int) -> None:
    covered = kept = wrong = skills = 0
    for seed in range(6):
        rng = np.random.default_rng([seed, effective])
        true = [0.0] * (60 - effective) + rng.normal(0.05, 0.12, effective).clip(-0.28, 0.28).tolist()
        for effect, gain in zip(skill_effects(_library(rng, true, 10)).values(), true, strict=True):
            covered += effect.low <= gain <= effect.high
            kept += effect.low > 0 or effect.high < 0
            wrong += (effect.low > 0 and gain <= 0) or (effect.high < 0 and gain >= 0)
            skills += 1
    assert covered / skills >= 0.9
    assert wrong <= max(2, 0.1 * kept)
