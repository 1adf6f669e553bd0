"""Timing on a machine that others use too: the best of several rounds, and rivals in turns."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

Work = Callable[[], object]


class Seconds(NamedTuple):
    """By the clock, and of the processor (all threads)."""

    wall: float
    cpu: float


def timed(work: Work) -> Seconds:
    """Of one call."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Seconds(time.perf_counter() - wall, time.process_time() - cpu)


def best(work: Work, *, rounds: int = 7, calls: int = 1) -> float:
    """Seconds per call by the clock, in the best of some rounds."""
    return min(timed(lambda: [work() for _ in range(calls)]).wall / calls for _ in range(rounds))


def in_turns(*rivals: Work, rounds: int) -> list[Seconds]:
    """The best of each; they take turns, so that a busy moment slows all of them."""
    times = [[timed(work) for work in rivals] for _ in range(rounds)]
    return [Seconds(min(one.wall for one in each), min(one.cpu for one in each)) for each in zip(*times, strict=True)]


def medians_in_turns(*rivals: Work, rounds: int) -> list[float]:
    """Seconds by the clock in the middle round of each, for what a person waits for."""
    times = [[timed(work).wall for work in rivals] for _ in range(rounds)]
    return [statistics.median(each) for each in zip(*times, strict=True)]


def launch(command: Sequence[str]) -> Work:
    """A fresh process that must succeed."""
    return lambda: subprocess.run(command, capture_output=True, check=True)
