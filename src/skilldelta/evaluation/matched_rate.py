"""Matched-rate random activation, as its exact expectation instead of simulated coin flips.

Using the skill on each task with the same probability p has the expected success off + p * mean gain. The advantage of a
policy is its success minus that, at its own use rate: (1/N) sum (a_i - p) D_i.
"""

from __future__ import annotations

from typing import TypeVar

from skilldelta.arrays import Floats

Number = TypeVar("Number", float, Floats)


def advantage(used_gain: Number, gain: Number, use_rate: Number) -> Number:
    """A policy's success minus that of random activation at its own rate; `used_gain` is the mean of a_i D_i."""
    return used_gain - use_rate * gain
