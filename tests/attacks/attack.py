"""What an attack is: many tries at one thing, each of which is survived or not."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Surface = Literal[
    "HTTP", "tokens", "MCP", "texts", "hooks", "files", "install", "commands", "graders", "sandbox", "bank", "secrets", "dashboard"
]  # fmt: skip

# Yields, for each try, what went wrong, or an empty text where it was survived; returns a figure to note, or nothing.
Tries = Generator[str, None, str]
# Given an empty folder and how many tries are wanted.
Run = Callable[[Path, int], Tries]

# Seconds after which no further try of an attack begins, unless it is told otherwise.
SHARE = 75.0


@dataclass(frozen=True)
class Attack:
    """One row of the table."""

    surface: Surface
    title: str
    run: Run
    tries: int
    few: int
    """How many tries are enough for the test suite; 0 leaves the attack to `make attack`."""
    at_once: bool
    """Whether all tries are made before the first one is known, so that nothing is gained by stopping between them."""
    needs: Callable[[], str]
    """Why it cannot run on this machine; empty where it can."""

    @property
    def name(self) -> str:
        """As it is given on the command line."""
        return self.run.__name__


@dataclass
class Tally:
    """What became of the tries."""

    tries: int = 0
    survived: int = 0
    failures: list[str] = field(default_factory=list)
    """The first few, in words."""
    figure: str = ""
    skipped: str = ""


ATTACKS: dict[str, Attack] = {}


def anywhere() -> str:
    """Of an attack that needs nothing special."""
    return ""


def attack(
    surface: Surface, title: str, *, tries: int, few: int, at_once: bool = False, needs: Callable[[], str] = anywhere
) -> Callable[[Run], Run]:
    """Register a function as an attack."""

    def register(run: Run) -> Run:
        ATTACKS[run.__name__] = Attack(surface, title, run, tries, few, at_once, needs)
        return run

    return register


def tally(chosen: Attack, folder: Path, tries: int, *, seconds: float = SHARE) -> Tally:
    """Run an attack, with that many tries or as many as there is time for."""
    result = Tally(skipped=chosen.needs())
    if result.skipped:
        return result
    end = time.monotonic() + seconds
    running = chosen.run(folder, tries)
    try:
        while True:
            problem = next(running)
            result.tries += 1
            if problem:
                result.failures = [*result.failures, problem][:5]
            else:
                result.survived += 1
            if time.monotonic() > end and not chosen.at_once:
                running.close()
                break
    except StopIteration as stop:
        result.figure = stop.value or ""
    return result
