"""What a run took in tokens, seconds and money, and when it was, as the objects near it say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from functools import lru_cache
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
_MOMENTS = (
    *(("started_at", "completed_at"), ("started_at", "finished_at"), ("start_time", "end_time")),
    *(("start_iso", "end_iso"), ("start_ms", "end_ms"), ("start_ts", "end_ts")),
)
# Most objects say nothing of a kind, which one comparison of sets tells.
_SAYS_TIME = frozenset(_TIME_FIELDS)
_HAS_INNER = frozenset(_SPENDING_OBJECTS)
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
        if not (keys := _spending_keys(tuple(fields))):
            continue
        tokens = tokens or _tokens(fields, keys, trust_tokens)
        seconds = seconds or _seconds(fields, keys)
        cost = cost or next((amount for name in keys.cost if (amount := amount_of(fields[name]))), None)
    return Spending(tokens, seconds, cost)


def _with_inner(objects: Iterable[Fields]) -> Iterator[Fields]:
    for fields in objects:
        yield fields
        if _HAS_INNER.isdisjoint(fields):
            continue
        for name in _SPENDING_OBJECTS:
            inner = fields.get(name)
            if isinstance(inner, dict):
                yield inner
                if not _HAS_INNER.isdisjoint(inner):
                    yield from (inner[key] for key in _SPENDING_OBJECTS if isinstance(inner.get(key), dict))


class _SpendingKeys(NamedTuple):
    """Which keys of an object may say what a run took, the most telling first."""

    tokens: tuple[str, ...]
    bare: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]
    seconds: tuple[tuple[str, float], ...]
    """With the number of each in a second."""
    moments: tuple[tuple[str, str], ...]
    cost: tuple[str, ...]


@lru_cache(maxsize=4096)
def _spending_keys(names: tuple[str, ...]) -> _SpendingKeys | None:
    """The keys among these that say something; None where none does. Objects of one kind have the same keys."""
    has = frozenset(names)
    keys = _SpendingKeys(
        tuple(name for name in _TOKEN_FIELDS if name in has),
        tuple(name for name in ("total", "tokens") if name in has),
        tuple(parts for parts in _TOKEN_PARTS if parts[0] in has and parts[1] in has),
        (
            *((name, 1.0) for name in _SECONDS_FIELDS if name in has),
            *((name, 1000.0) for name in _MILLISECONDS_FIELDS if name in has),
            *((name, 1.0) for name in names if name not in _SECONDS_FIELDS and _SECONDS.fullmatch(name)),
        ),
        tuple(pair for pair in _MOMENTS if pair[0] in has and pair[1] in has),
        tuple(name for name in _COST_FIELDS if name in has),
    )
    return keys if any(keys) else None


def _tokens(fields: Fields, keys: _SpendingKeys, trust_tokens: bool) -> float | None:
    for name in keys.tokens:
        if amount := amount_of(fields[name]):
            return amount
    if keys.bare:
        has_parts = any(amount_of(fields.get(part)) is not None for part in ("input", "output", "prompt", "completion"))
        bare = "total" if has_parts else "tokens" if trust_tokens else ""
        if amount := amount_of(fields.get(bare)):
            return amount
    for parts in keys.parts:
        amounts = [amount_of(fields.get(name)) for name in parts]
        if amounts[0] is not None and amounts[1] is not None:
            return sum(amount for amount in amounts if amount is not None) or None
    return None


def _seconds(fields: Fields, keys: _SpendingKeys) -> float | None:
    for name, in_a_second in keys.seconds:
        if amount := amount_of(fields[name]):
            return amount / in_a_second
    for start, end in keys.moments:
        begin, finish = _moment(fields[start]), _moment(fields[end])
        if begin is not None and finish is not None and finish > begin:
            return finish - begin
    return None


def recorded_time(objects: Iterable[Fields]) -> float | None:
    """When the nearest object says that it was made, in seconds since 1970."""
    for fields in objects:
        if _SAYS_TIME.isdisjoint(fields):
            continue
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
