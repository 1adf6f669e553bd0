"""Whether a gain fell: small cases by hand, and the promises under looking after every execution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from skilldelta.errors import InputError
from skilldelta.evaluation.drift import (
    FEWEST_PAIRS,
    GainRow,
    always_valid_half_width,
    drift_of_skills,
    fall_e_value,
)


def rows(gain: float, count: int, family: str = "f") -> list[GainRow]:
    return [GainRow(family, gain)] * count


def verdicts(before: Mapping[str, Sequence[GainRow]], after: Mapping[str, Sequence[GainRow]]) -> dict[str, str]:
    return {drift.skill: drift.verdict for drift in drift_of_skills(before, after)}


def test_a_gain_that_is_gone_stopped_helping_and_one_that_stayed_still_helps() -> None:
    before = {"gone": rows(1.0, 40), "stays": rows(1.0, 40), "half": rows(1.0, 200)}
    after = {"gone": rows(0.0, 40), "stays": rows(1.0, 40), "half": rows(0.4, 200)}
    assert verdicts(before, after) == {"gone": "stopped helping", "half": "helps less", "stays": "still helps"}


def test_too_few_new_pairs_call_nothing() -> None:
    assert verdicts({"s": rows(1.0, 40)}, {"s": rows(-1.0, FEWEST_PAIRS - 1)}) == {"s": "not enough evidence"}


def test_a_skill_that_never_helped_cannot_stop() -> None:
    before = {"harmed": rows(-1.0, 40), "flat": rows(0.0, 40)}
    after = {"harmed": rows(-1.0, 40), "flat": rows(1.0, 40)}
    assert verdicts(before, after) == {"flat": "helps now", "harmed": "did not help before"}


def test_another_mixture_of_families_is_no_fall() -> None:
    # The skill helps easy tasks only, before and after; the newer agent ran the hard ones.
    before = {"s": [*rows(1.0, 50, "easy"), *rows(0.0, 50, "hard")]}
    after = {"s": [*rows(1.0, 10, "easy"), *rows(0.0, 60, "hard")]}
    (drift,) = drift_of_skills(before, after)
    assert drift.change == pytest.approx(0.0)
    assert drift.e_value < 1


def test_families_that_only_one_side_ran_say_nothing() -> None:
    (drift,) = drift_of_skills({"s": rows(1.0, 40, "a")}, {"s": rows(-1.0, 40, "b")})
    assert (drift.after, drift.verdict) == (None, "not enough evidence")
    assert drift.more_pairs is not None


def test_many_skills_ask_for_more_evidence_of_each() -> None:
    before = {"s": [*rows(1.0, 30), *rows(0.0, 30)]}
    after = {"s": [*rows(1.0, 3), *rows(0.0, 27)]}
    crowd = {f"same {i}": before["s"] for i in range(60)}
    alone = verdicts(before, after)["s"]
    among_many = verdicts({**before, **crowd}, {**after, **crowd})["s"]
    assert alone in {"stopped helping", "helps less"}
    assert among_many not in {"stopped helping", "helps less"}


def test_the_number_of_pairs_that_settle_it_falls_as_they_arrive() -> None:
    before = {"s": rows(0.6, 300)}
    needed = [drift_of_skills(before, {"s": after})[0].more_pairs for after in ([], rows(0.2, 5))]
    assert needed[0] is not None
    assert needed[1] is not None
    assert needed[1] < needed[0]


def test_no_older_pair_is_refused() -> None:
    with pytest.raises(InputError, match="the older side has no pair"):
        drift_of_skills({"s": []}, {"s": rows(1.0, 9)})


def test_an_e_value_is_the_average_likelihood_ratio_over_falls() -> None:
    fall, variance = 0.2, 0.01
    falls = np.random.default_rng(0).uniform(0, 0.4, 400_000)
    ratios = np.exp((fall * falls - falls**2 / 2) / variance)
    assert fall_e_value(fall, variance, 0.4) == pytest.approx(float(ratios.mean()), rel=0.02)


def simulated(rng: np.random.Generator, count: int, without: float, gain: float, families: int) -> list[GainRow]:
    """Pairs of one execution per arm; families differ in how hard they are and in what the skill gains."""
    family = rng.integers(families, size=count)
    spread = np.linspace(-1, 1, families) if families > 1 else np.zeros(1)
    hard, more = 0.15 * spread, 0.1 * spread
    base = np.clip(without + hard[family], 0.02, 0.98)
    with_skill = np.clip(base + gain + more[family], 0, 1)
    gains = (rng.random(count) < with_skill).astype(float) - (rng.random(count) < base)
    return [GainRow(f"f{f}", float(g)) for f, g in zip(family, gains, strict=True)]


def first_call(before: list[GainRow], after: list[GainRow]) -> int | None:
    """The pairs after which a fall is called first, looking after every one."""
    for pairs in range(FEWEST_PAIRS, len(after) + 1):
        (drift,) = drift_of_skills({"s": before}, {"s": after[:pairs]})
        if drift.e_value >= 20:
            return pairs
    return None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("without", "gain", "families", "older"),
    [(0.4, 0.4, 1, 300), (0.4, 0.4, 3, 120), (0.1, 0.15, 2, 60), (0.5, 0.2, 1, 30)],
)
def test_a_gain_that_stayed_is_seldom_called_fallen_however_often_one_looks(
    without: float, gain: float, families: int, older: int
) -> None:
    rng = np.random.default_rng(older)
    calls = [
        first_call(simulated(rng, older, without, gain, families), simulated(rng, 120, without, gain, families))
        for _ in range(300)
    ]
    # 5% and two standard errors of 300 draws.
    assert sum(call is not None for call in calls) / len(calls) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 300)


@pytest.mark.slow
def test_a_fall_by_three_tenths_is_found_within_one_and_a_half_times_what_knowing_both_gains_takes() -> None:
    # The sequential test that knows both gains takes about 50 executions, 25 pairs, at 90% power.
    rng = np.random.default_rng(7)
    calls = [first_call(simulated(rng, 1000, 0.4, 0.4, 1), simulated(rng, 75, 0.4, 0.1, 1)) for _ in range(200)]
    assert sum(call is not None for call in calls) / len(calls) >= 0.9
    assert 2 * np.mean([call or 75 for call in calls]) <= 1.5 * 50


@pytest.mark.slow
def test_intervals_hold_at_every_look() -> None:
    rng = np.random.default_rng(3)
    misses = 0
    for _ in range(600):
        gains = np.array([row.gain for row in simulated(rng, 150, 0.4, 0.2, 1)])
        counts = np.arange(FEWEST_PAIRS, len(gains) + 1)
        means = np.cumsum(gains)[FEWEST_PAIRS - 1 :] / counts
        variances = np.array([(gains[:n].var() * n + 4 * 0.5) / (n + 3) / n for n in counts])
        halves = np.array([always_valid_half_width(float(variance)) for variance in variances])
        misses += bool((np.abs(means - 0.2) > halves).any())
    assert misses / 600 <= 0.05
