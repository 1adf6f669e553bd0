"""What `skilldelta collect` shows while it runs, and when it ends, with --self-judge and without."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from skilldelta.cli.collect_plan import ARMS, largest_in_words, largest_left
from skilldelta.cli.output import console, note, number, percent, signed, table, write_json
from skilldelta.nouns import plural
from skilldelta.redaction import redacted

if TYPE_CHECKING:
    from rich.console import Group

    from skilldelta.collect.collection_progress import CollectionProgress, OnProgress, Tally
    from skilldelta.collect.ledger import Spend
    from skilldelta.collect.runner import Result
    from skilldelta.collect.self_judging import JudgeProgress
    from skilldelta.collect.session import Session
    from skilldelta.noise_floor import SameConditionDifference

_LINE_EVERY = 30.0
# Seconds after which an answer is noticed to be missing.
_LONG_WAIT = 20.0
# Reasons of failed executions that are named; the others are counted.
_MOST_REASONS = 5


@contextmanager
def progress() -> Iterator[OnProgress]:
    """On stderr: a live bar on a terminal, a line now and then in a log."""
    if sys.stderr.isatty():
        with _bar() as advance:
            yield advance
    else:
        yield _lines()


def print_result(session: Session, result: Result, noise: SameConditionDifference | None, as_json: bool) -> None:
    """The whole collection with this start beside it, what was spent over all starts, and what came to nothing."""
    progress = result.progress
    reasons = _reasons(session) if progress.whole.errors else Counter()
    if as_json:
        write_json({**_document(session, result, reasons), "noise": asdict(noise) if noise else None})
    else:
        _show(session, progress, noise)
    if progress.whole.errors:
        _note_errors(progress, reasons)
    if result.stopped:
        note(f"stopped with {plural(progress.left, 'execution')} left: {result.stopped}")


def print_judgements(session: Session, progress: JudgeProgress, as_json: bool) -> None:
    """How a round of self-judgements came out."""
    document: dict[str, Any] = {
        "bank": redacted(session.bank),
        "suite": session.suite.name,
        "planned": progress.planned,
        "before": progress.before,
        "finished": progress.finished,
        "use": progress.use,
        "unclear": progress.unclear,
        "errors": progress.errors,
        "tokens": progress.tokens,
        "stopped": progress.stopped or None,
    }
    if as_json:
        write_json(document)
    else:
        console().print(
            f"{plural(progress.finished, 'judgement')} now, in the bank before: {progress.before:,}; use {progress.use:,}, "
            f"no-use {progress.finished - progress.use:,} ({progress.unclear:,} without a clear label); "
            f"{'unknown tokens' if progress.tokens is None else plural(progress.tokens, 'token')} of routing cost."
        )
    if progress.errors:
        note(f"{progress.errors} got no answer, the last one: {progress.last_error}")
    if progress.stopped:
        note(f"stopped: {progress.stopped}")


def _show(session: Session, progress: CollectionProgress, noise: SameConditionDifference | None) -> None:
    out = console()
    out.print(
        f"{session.suite.name}: {progress.before + progress.finished:,} of {plural(progress.planned, 'execution')} in the "
        f"bank, {progress.finished:,} run now.",
        markup=False,
    )
    if progress.whole.counted:
        out.print(_arms_table(progress))
    out.print(f"Spent over all starts: {_spend_in_words(progress.spend)}.")
    if progress.left:
        out.print(f"The other {plural(progress.left, 'execution')}: {largest_in_words(largest_left(session))}.")
    if empty := _empty_answers(session):
        out.print(
            f"{plural(empty, 'answer is', 'answers are')} empty, and counted as a failure; the transcript has them."
        )
    if noise is not None and noise.tasks:
        out.print(
            f"A/A, {ARMS[noise.condition]} twice on {plural(noise.tasks, 'task')}: difference {signed(noise.difference)}, "
            f"changed outcomes {percent(noise.flip_rate)}. A gain below this is noise."
        )
    out.print(f"Logs: {session.folder}", soft_wrap=True, markup=False)


def _arms_table(progress: CollectionProgress) -> Group:
    """Columns of this start only where an earlier one put something into the bank."""
    columns = ["arm", "counted", "success", "tokens each"]
    resumed = progress.before and progress.finished
    if resumed:
        columns += ["counted now", "success now"]
    rows = []
    for name, arm in progress.whole.arms.items():
        now = progress.now.arms.get(name)
        row = [ARMS[name], number(arm.counted), percent(arm.success), number(arm.mean_tokens)]
        rows.append(
            [*row, number(now.counted if now else 0), percent(now.success if now else None)] if resumed else row
        )
    return table("", columns, rows)


def _spend_in_words(spend: Spend) -> str:
    parts = [plural(spend.calls, "call")]
    if spend.tokens_unknown == 0:
        parts.append(plural(spend.tokens, "token"))
    elif spend.tokens:
        told = plural(spend.calls - spend.tokens_unknown - spend.unsettled, "call")
        parts.append(
            f"{plural(spend.tokens, 'token')} of {told} and those of {plural(spend.tokens_unknown, 'call')} that did not tell"
        )
    else:
        parts.append("tokens unknown")
    if spend.usd:
        unknown = f" and {plural(spend.usd_unknown, 'call')} of unknown price" if spend.usd_unknown else ""
        parts.append(f"${spend.usd:,.2f}{unknown}")
    return ", ".join(parts)


def _reasons(session: Session) -> Counter[str]:
    from skilldelta.collect.transcript import count_reasons

    return count_reasons(session.folder, _samples(session))


def _empty_answers(session: Session) -> int:
    from skilldelta.collect.transcript import count_empty_answers

    return count_empty_answers(session.folder, _samples(session))


def _samples(session: Session) -> set[str]:
    from skilldelta.collect.plan import make_plan

    return {planned.name for planned in make_plan(session.suite, session.selection, seed=session.seed)}


def _note_errors(progress: CollectionProgress, reasons: Counter[str]) -> None:
    """How many came to nothing, why, and how they are run again."""
    errors = progress.whole.errors
    counts = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in errors.items())
    note(f"not counted: {counts}" + ("; no execution has a result" if not progress.whole.counted else ""))
    for reason, count in reasons.most_common(_MOST_REASONS):
        note(f"  {count} × {reason}")
    if len(reasons) > _MOST_REASONS:
        note(f"  and {plural(len(reasons) - _MOST_REASONS, 'other reason')}")
    if set(errors) - {"transport_error"}:
        note("run them again with --retry-errors, once the cause is fixed")
    if "transport_error" in errors:
        note("the same command tries transport errors again")


def measure_noise(session: Session) -> SameConditionDifference | None:
    """What an A/A run came to; None where the run was none."""
    from skilldelta.bank import Bank
    from skilldelta.noise_floor import same_condition_difference

    condition = session.selection.same_condition
    if condition is None:
        return None
    with Bank.open(session.bank, readonly=True) as bank:
        return same_condition_difference(
            bank.executions(agent=session.agent.identity, suite=session.suite.name), condition
        )


def _lines() -> OnProgress:
    """For a log: a line every half minute, or sooner when a twentieth of the plan is done."""
    shown_at, shown_done, ended = 0.0, 0, False

    def advance(progress: CollectionProgress) -> None:
        nonlocal shown_at, shown_done, ended
        done, waited = progress.before + progress.finished, progress.seconds - shown_at
        moved = waited >= _LINE_EVERY / 6 and done - shown_done >= progress.planned / 20
        if waited >= _LINE_EVERY or moved or (progress.left == 0 and not ended):
            shown_at, shown_done, ended = progress.seconds, done, progress.left == 0
            note(f"{done}/{progress.planned} {_in_words(progress)}")

    return advance


@contextmanager
def _bar() -> Iterator[OnProgress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (BarColumn(bar_width=24), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def advance(progress: CollectionProgress) -> None:
            done = progress.before + progress.finished
            bar.update(task, total=progress.planned, completed=done, description=_in_words(progress))

        yield advance


def _in_words(progress: CollectionProgress) -> str:
    left = progress.seconds_left
    parts = [f"{ARMS[name]} {percent(arm.success)}" for name, arm in progress.whole.arms.items()]
    if progress.spend.tokens or not progress.spend.tokens_unknown:
        parts.append(plural(progress.spend.tokens, "token"))
    if progress.spend.usd:
        parts.append(f"${progress.spend.usd:,.2f}")
    if progress.whole.errors:
        parts.append(plural(sum(progress.whole.errors.values()), "error"))
    if left is not None:
        parts.append(f"{_duration(left)} left")
    calls, waited = progress.waiting
    if calls and waited >= _LONG_WAIT:
        parts.append(f"{plural(calls, 'call waits', 'calls wait')} since {_duration(waited)}")
    return " · ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _document(session: Session, result: Result, reasons: Counter[str]) -> dict[str, Any]:
    progress, identity = result.progress, session.agent.identity
    spend = progress.spend
    return {
        "bank": redacted(session.bank),
        "folder": str(session.folder),
        "suite": session.suite.name,
        "agent": {"name": identity.name, "fingerprint": identity.fingerprint},
        "planned": progress.planned,
        "before": progress.before,
        "finished": progress.finished,
        "left": progress.left,
        "stopped": result.stopped or None,
        "arms": _arms_document(progress.whole),
        "errors": progress.whole.errors,
        "empty_answers": _empty_answers(session),
        "reasons": [{"reason": reason, "count": count} for reason, count in reasons.most_common()],
        "now": {"arms": _arms_document(progress.now), "errors": progress.now.errors},
        "spend": {
            "calls": spend.calls,
            "tokens": spend.total_tokens,
            "usd": spend.total_usd,
            "known_tokens": spend.tokens,
            "known_usd": spend.usd,
            "calls_without_tokens": spend.tokens_unknown,
            "calls_without_price": spend.usd_unknown,
            "seconds": spend.seconds,
            "unsettled": spend.unsettled,
        },
    }


def _arms_document(tally: Tally) -> dict[str, Any]:
    return {
        name: {"counted": arm.counted, "success": arm.success, "tokens": arm.mean_tokens}
        for name, arm in tally.arms.items()
    }
