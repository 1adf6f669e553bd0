"""How a collection stands: both arms' running success, errors, spend, time left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from skilldelta.collect.ledger import Spend
from skilldelta.pairing import is_counted
from skilldelta.records import CONDITIONS, Condition, Execution


@dataclass(slots=True)
class ArmTally:
    """One arm so far, in this run of the collector."""

    counted: int = 0
    successes: float = 0.0
    tokens: float = 0.0

    @property
    def success(self) -> float | None:
        """Running success; None before the first counted execution."""
        return self.successes / self.counted if self.counted else None

    @property
    def mean_tokens(self) -> float | None:
        """Tokens per counted execution."""
        return self.tokens / self.counted if self.counted else None


@dataclass(slots=True)
class Standing:
    """Counts that grow while a collection runs; its size does not depend on the number of executions."""

    planned: int
    before: int
    """Planned executions that the bank had already."""
    finished: int = 0
    arms: dict[Condition, ArmTally] = field(default_factory=lambda: {arm: ArmTally() for arm in CONDITIONS})
    errors: dict[str, int] = field(default_factory=dict)
    last_error: str = ""
    spend: Spend = field(default_factory=Spend)
    seconds: float = 0.0
    """Since this start."""

    @property
    def left(self) -> int:
        return self.planned - self.before - self.finished

    @property
    def seconds_left(self) -> float | None:
        """At the rate of this start; None before the first execution."""
        return self.left * self.seconds / self.finished if self.finished else None

    def add(self, execution: Execution, error: str) -> None:
        """Count one finished execution."""
        self.finished += 1
        if is_counted(execution):
            arm = self.arms[execution.condition]
            arm.counted += 1
            arm.successes += execution.success or 0.0
            arm.tokens += execution.tokens or 0.0
        else:
            self.errors[execution.status] = self.errors.get(execution.status, 0) + 1
            self.last_error = error


OnProgress = Callable[[Standing], None]
