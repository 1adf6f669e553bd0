"""How a collection stands: both arms' success, errors, spend, time left; over everything, and in this start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from skilldelta.collect.ledger import Spend
from skilldelta.pairing import is_counted
from skilldelta.records import CONDITIONS, Condition, Execution


@dataclass(slots=True)
class ArmTally:
    """The counted executions of one arm."""

    counted: int = 0
    successes: float = 0.0
    tokens: float = 0.0
    metered: int = 0
    """Executions whose tokens are known."""

    @property
    def success(self) -> float | None:
        """Mean success; None before the first counted execution."""
        return self.successes / self.counted if self.counted else None

    @property
    def mean_tokens(self) -> float | None:
        """Tokens per counted execution; None unless every one of them metered."""
        return self.tokens / self.counted if self.counted and self.metered == self.counted else None

    def add(self, execution: Execution) -> None:
        self.counted += 1
        self.successes += execution.success or 0.0
        if execution.tokens is not None:
            self.metered += 1
            self.tokens += execution.tokens


@dataclass(slots=True)
class Tally:
    """Executions by arm, the third one where it was run, and those that came to nothing by status."""

    arms: dict[Condition, ArmTally] = field(default_factory=lambda: {arm: ArmTally() for arm in CONDITIONS})
    errors: dict[str, int] = field(default_factory=dict)

    @property
    def counted(self) -> int:
        return sum(arm.counted for arm in self.arms.values())

    def add(self, execution: Execution) -> None:
        if is_counted(execution):
            self.arms.setdefault(execution.condition, ArmTally()).add(execution)
        else:
            self.errors[execution.status] = self.errors.get(execution.status, 0) + 1


@dataclass(slots=True)
class CollectionProgress:
    """Counts that grow while a collection runs; its size does not depend on the number of executions."""

    planned: int
    before: int
    """Planned executions that the bank had already."""
    whole: Tally = field(default_factory=Tally)
    """Everything planned that the bank has, whichever start put it there."""
    now: Tally = field(default_factory=Tally)
    """This start alone."""
    finished: int = 0
    spend: Spend = field(default_factory=Spend)
    """Over all starts."""
    seconds: float = 0.0
    """Since this start."""
    waiting: tuple[int, float] = (0, 0.0)
    """How many calls wait for their answers, and the seconds for which the oldest has waited."""

    @property
    def left(self) -> int:
        return self.planned - self.before - self.finished

    @property
    def seconds_left(self) -> float | None:
        """At the rate of this start; None before the first execution."""
        return self.left * self.seconds / self.finished if self.finished else None

    @property
    def came_to_nothing(self) -> bool:
        """Whether every execution failed: all of this start's, or all that the bank has."""
        ran, failed = self.finished > 0, bool(self.whole.errors)
        return (ran and not self.now.counted) or (failed and not self.whole.counted)

    def add(self, execution: Execution) -> None:
        """Count one finished execution."""
        self.finished += 1
        self.now.add(execution)
        self.whole.add(execution)


OnProgress = Callable[[CollectionProgress], None]
