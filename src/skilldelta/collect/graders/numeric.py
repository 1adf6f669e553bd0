"""The numeric grader: a number within a tolerance."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

from skilldelta.collect.suite import SuiteTask

_NUMBER = re.compile(r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class Numeric:
    """The answer as a number, else the last number in it, within an absolute or a relative tolerance, whichever is wider."""

    tolerance: float = 1e-6
    relative: float = 0.0

    async def grade(self, answer: str, task: SuiteTask, workdir: Path | None) -> float:
        wanted, given = read_number(str(task.answer)), read_number(answer)
        if wanted is None or given is None or not math.isfinite(given):
            return 0.0
        return float(abs(given - wanted) <= max(self.tolerance, self.relative * abs(wanted)))


def read_number(answer: str) -> float | None:
    """The number an answer ends on; None when it has none. Commas between digits separate thousands."""
    try:
        return float(answer)
    except ValueError:
        found = _NUMBER.findall(answer)
        return float(found[-1].replace(",", "")) if found else None
