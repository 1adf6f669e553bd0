"""The budget between Inspect AI and its model providers: every attempt of every call is reserved and settled."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from skilldelta.collect.budget import Amount, Budget, Prices, priced
from skilldelta.collect.execution_errors import CapReachedError

# Room for the role and the template's marks around a message.
_BYTES_PER_MESSAGE = 64


@dataclass(slots=True)
class Calls:
    """The model calls of one execution: where they are booked, and what they came to so far."""

    name: str
    budget: Budget
    seed: int | None
    """The sampling seed to send; None sends none."""
    tokens_in: int = 0
    tokens_out: int = 0
    known: bool = True
    """Whether every answer said its tokens."""
    models: list[str] = field(default_factory=list)
    stop: CapReachedError | None = None
    """A cap that was reached in the middle; Inspect wraps errors of a call, the runner must see this one as it is."""


_calls: ContextVar[Calls] = ContextVar("skilldelta_calls")


@contextmanager
def booking(name: str, budget: Budget, seed: int | None) -> Iterator[Calls]:
    """Book the model calls that are made inside under one name."""
    calls = Calls(name, budget, seed)
    token = _calls.set(calls)
    try:
        yield calls
    finally:
        _calls.reset(token)


def meter(api: Any, prices: Prices | None) -> None:
    """Replace a provider's `generate` by one that asks the budget first and sends the execution's sampling seed, if any."""
    _forbid_hidden_retries(api)
    send = api.generate

    async def metered(*, input: Any, config: Any, **rest: Any) -> Any:
        calls = _calls.get()
        if calls.stop is not None:
            raise calls.stop
        if calls.seed is not None:
            config = config.model_copy(update={"seed": calls.seed})
        size = sum(len(message.text.encode()) + _BYTES_PER_MESSAGE for message in input)
        size += sum(len(tool.model_dump_json()) for tool in rest.get("tools") or ())
        try:
            return await calls.budget.call(
                calls.name,
                priced(size, config.max_tokens or 0, prices),
                lambda: send(input=input, config=config, **rest),
                lambda answer: _book(calls, answer, prices),
                retry=False,
            )
        except CapReachedError as error:
            calls.stop = error
            raise

    api.generate = metered


def _forbid_hidden_retries(api: Any) -> None:
    """Providers' own clients send a failed request again, unseen by the budget; Inspect tries again above it."""
    client: Any = getattr(api, "client", None)
    if isinstance(getattr(client, "max_retries", None), int):
        client.max_retries = 0


def _book(calls: Calls, answer: Any, prices: Prices | None) -> Amount:
    output = answer[0] if isinstance(answer, tuple) else answer
    if isinstance(output, Exception):
        return Amount()
    usage = output.usage
    calls.models.append(output.model or "")
    calls.known = calls.known and usage is not None
    if usage is None:
        return Amount(None, None)
    tokens_in, tokens_out = usage.input_tokens, usage.output_tokens
    calls.tokens_in += tokens_in
    calls.tokens_out += tokens_out
    return priced(tokens_in, tokens_out, prices)
