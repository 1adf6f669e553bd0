"""What can go wrong with one execution, by what it means for the bank and for the rest of the run."""

from __future__ import annotations

from skilldelta.errors import InputError, SkillDeltaError


class TransportError(SkillDeltaError):
    """No answer of the agent arrived: retried within limits, then recorded as transport_error and never counted.

    `may_be_paid`: the request may have reached the endpoint, so the budget books the most it can have cost.
    """

    def __init__(self, message: str, *, retry_after: float | None = None, may_be_paid: bool = False) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.may_be_paid = may_be_paid


class IncompleteError(SkillDeltaError):
    """This one execution cannot be finished (a prompt too long, a limit hit): recorded as incomplete, never counted."""

    def __init__(self, message: str, *, may_be_paid: bool = True) -> None:
        super().__init__(message)
        self.may_be_paid = may_be_paid


class GraderError(SkillDeltaError):
    """The grader crashed: recorded as grader_error, never as a failure of the agent."""


class StopCollectionError(InputError):
    """The whole collection must stop: a refused key, another model than asked. Nothing of this execution is recorded."""

    def __init__(self, message: str, *, may_be_paid: bool = False) -> None:
        super().__init__(message)
        self.may_be_paid = may_be_paid


class CapReachedError(SkillDeltaError):
    """A cap leaves no room for another call. What was collected stays; a raised cap continues from here."""
