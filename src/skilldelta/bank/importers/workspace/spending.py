"""What a run took in tokens, seconds and money, and when it was, as the objects near it say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from skilldelta.bank.importers.tools.plain_values import amount_of
from skilldelta.bank.importers.workspace.assertions import Fields

_TIME_FIELDS = (
    *("started_at", "start_time", "start_iso", "start_ms", "start_ts", "eval_start_utc", "run_at", "timestamp"),
    *("created_at", "completed_at", "finished_at", "end_time", "generated_at", "eval_date", "date", "run_date"),
)
_TOKEN_FIELDS = ("total_tokens", "tokens_total", "token_count", "tokens_used", "n_tokens")
_TOKEN_PARTS = (
    ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
    ("prompt_tokens", "completion_tokens"),
    ("tokens_in", "tokens_out"),
    ("input", "output"),
)
_SECONDS_FIELDS = (
    *(
        "total_duration_seconds",
        "duration_seconds",
        "time_seconds",
        "elapsed_seconds",
        "wall_clock_seconds",
        "total_seconds",
    ),
    *("executor_duration_seconds", "elapsed_s", "duration_s", "wall_time_seconds", "runtime_seconds", "seconds"),
)
# Of the run, not of its grader.
_SECONDS = re.compile(
    r"(?:total_|run_|agent_)?(?:wall|wall_clock|elapsed|duration|time|run_?time|latency)(?:_time)?_(?:s|secs?|seconds)"
)
_MILLISECONDS_FIELDS = ("duration_ms", "elapsed_ms", "total_duration_ms", "wall_time_ms", "latency_ms", "time_ms")
_COST_FIELDS = ("total_cost_usd", "cost_usd")
_SPENDING_OBJECTS = (
    "timing",
    "execution_metrics",
    "token_counts",
    "tokens",
    "token_usage",
    "usage",
    "metrics",
    "result",
)
_EARLIEST, _LATEST = 1_400_000_000, 4_000_000_000


class Spending(NamedTuple):
    """What a run took."""

    tokens: float | None = None
    seconds: float | None = None
    cost_usd: float | None = None


def spending(objects: Iterable[Fields], *, trust_tokens: bool = True) -> Spending:
    """What the nearest object says for each; `trust_tokens` is for files whose bare `tokens` are no characters."""
    tokens = seconds = cost = None
    for fields in _with_inner(objects):
        tokens = tokens or _tokens(fields, trust_tokens)
        seconds = seconds or _seconds(fields)
        cost = cost or next((amount for name in _COST_FIELDS if (amount := amount_of(fields.get(name)))), None)
    return Spending(tokens, seconds, cost)


def _with_inner(objects: Iterable[Fields]) -> Iterator[Fields]:
    for fields in objects:
        yield fields
        for name in _SPENDING_OBJECTS:
            inner = fields.get(name)
            if isinstance(inner, dict):
                yield inner
                yield from (inner[key] for key in _SPENDING_OBJECTS if isinstance(inner.get(key), dict))


def _tokens(fields: Fields, trust_tokens: bool) -> float | None:
    has_parts = any(amount_of(fields.get(part)) is not None for part in ("input", "output", "prompt", "completion"))
    names = (*_TOKEN_FIELDS, *(("total",) if has_parts else ("tokens",) if trust_tokens else ()))
    for name in names:
        if amount := amount_of(fields.get(name)):
            return amount
    for parts in _TOKEN_PARTS:
        amounts = [amount_of(fields.get(name)) for name in parts]
        if amounts[0] is not None and amounts[1] is not None:
            return sum(amount for amount in amounts if amount is not None) or None
    return None


def _seconds(fields: Fields) -> float | None:
    for name in _SECONDS_FIELDS:
        if amount := amount_of(fields.get(name)):
            return amount
    for name in _MILLISECONDS_FIELDS:
        if amount := amount_of(fields.get(name)):
            return amount / 1000
    for name, value in fields.items():
        if _SECONDS.fullmatch(name) and (amount := amount_of(value)):
            return amount
    if not any(name.startswith(("start", "eval_start")) for name in fields):
        return None
    for start, end in (
        *(
            ("started_at", "completed_at"),
            ("started_at", "finished_at"),
            ("start_time", "end_time"),
            ("start_iso", "end_iso"),
        ),
        *(("start_ms", "end_ms"), ("start_ts", "end_ts")),
    ):
        begin, finish = _moment(fields.get(start)), _moment(fields.get(end))
        if begin is not None and finish is not None and finish > begin:
            return finish - begin
    return None


def recorded_time(objects: Iterable[Fields]) -> float | None:
    """When the nearest object says that it was made, in seconds since 1970."""
    for fields in objects:
        for name in _TIME_FIELDS:
            if name in fields and (moment := _moment(fields[name])) is not None:
                return moment
    return None


def _moment(value: Any) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        seconds = value / 1000 if value > 10_000_000_000 else float(value)
        return seconds if _EARLIEST < seconds < _LATEST else None
    if not isinstance(value, str) or not 8 <= len(value) <= 40:
        return None
    try:
        moment = datetime.fromisoformat(value.strip().replace("Z", "+00:00"))
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
