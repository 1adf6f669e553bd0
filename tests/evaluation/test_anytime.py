"""The promises of watching a mean, on simulated truth: false alarms over all looks, power, coverage."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.arrays import Floats
from skilldelta.evaluation.anytime import mean_interval, watch

STREAMS = 400
LOOKS = 400


def outcomes(rng: np.random.Generator, bias: float, number: int = LOOKS) -> Floats:
    """Outcomes minus predictions, where tasks differ and every prediction is off by the same bias."""
    predicted = rng.beta(2, 2, number) * 0.8 + 0.1
    happened = rng.random(number) < np.clip(predicted + bias, 0, 1)
    return happened - predicted


@pytest.mark.parametrize("bias", [0.0, 0.05, -0.05])
def test_a_false_alarm_is_as_rare_as_stated_although_somebody_looks_after_every_outcome(
    bias: float, rng: np.random.Generator
) -> None:
    alarms = [watch(outcomes(rng, bias), margin=0.05).alarm is not None for _ in range(STREAMS)]
    assert np.mean(alarms) <= 0.05


def test_predictions_that_are_right_on_average_over_tasks_raise_no_more_alarms(rng: np.random.Generator) -> None:
    """Every task has an error of its own, which averages out."""
    alarms = []
    for _ in range(STREAMS):
        truth = rng.beta(1, 1, LOOKS)
        predicted = np.clip(truth + rng.uniform(-0.3, 0.3, LOOKS), 0, 1)
        shift = (predicted - truth).mean()
        alarms.append(watch((rng.random(LOOKS) < truth) - predicted + shift, margin=0.05).alarm is not None)
    assert np.mean(alarms) <= 0.05


@pytest.mark.parametrize(("bias", "within"), [(-0.3, 60), (-0.2, 150), (0.2, 150), (-0.15, 400)])
def test_predictions_that_are_off_are_noticed(bias: float, within: int, rng: np.random.Generator) -> None:
    watches = [watch(outcomes(rng, bias), margin=0.05) for _ in range(100)]
    in_time = [one.alarm is not None and one.alarm < within for one in watches]
    assert np.mean(in_time) >= 0.8
    assert {one.direction for one in watches if one.alarm is not None} == {1 if bias > 0 else -1}


@pytest.mark.parametrize("bias", [0.0, -0.2])
def test_the_interval_has_the_true_mean_at_all_looks_together(bias: float, rng: np.random.Generator) -> None:
    def truth_of(stream: np.random.Generator) -> tuple[Floats, float]:
        predicted = stream.random(LOOKS) * 0.4 + 0.4
        return (stream.random(LOOKS) < predicted + bias) - predicted, bias

    streams = [truth_of(rng) for _ in range(200)]
    covered = [one.low <= mean <= one.high for differences, mean in streams for one in [watch(differences)]]
    assert np.mean(covered) >= 0.95


def test_an_alarm_means_that_the_interval_left_the_margin(rng: np.random.Generator) -> None:
    for bias in (-0.3, -0.1, 0.0, 0.3):
        one = watch(outcomes(rng, bias), margin=0.05)
        assert (one.alarm is not None) == (one.low > 0.05 or one.high < -0.05)


def test_nothing_is_known_before_the_first_outcome() -> None:
    nothing = watch(np.array([]), margin=0.05)
    assert (nothing.low, nothing.high, nothing.alarm, nothing.direction) == (-1, 1, None, 0)


@pytest.mark.parametrize("number", [5, 20, 100])
def test_the_interval_of_a_mean_covers_it(number: int, rng: np.random.Generator) -> None:
    """Outcomes that are solved or failed, and graded ones in between."""
    for truth in (0.1, 0.5, 0.9):
        shares = rng.binomial(4, truth, (600, number)) / 4
        flags = (rng.random((600, number)) < truth).astype(float)
        for kind in (shares, flags):
            intervals = [mean_interval(row) for row in kind]
            assert np.mean([low <= truth <= high for low, high in intervals]) >= 0.93
