"""What `skilldelta collect` shows while it runs, and when it ends, with --self-judge and without."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from skilldelta.cli.collect_plan import ARMS
from skilldelta.cli.output import console, note, number, percent, signed, table, write_json
from skilldelta.nouns import plural
from skilldelta.redaction import redacted

if TYPE_CHECKING:
    from rich.console import Group

    from skilldelta.collect.ledger import Spend
    from skilldelta.collect.runner import Result
    from skilldelta.collect.self_judging import JudgeStanding
    from skilldelta.collect.session import Session
    from skilldelta.collect.standing import OnProgress, Standing, Tally
    from skilldelta.noise_floor import SameConditionDifference

_LINE_EVERY = 30.0
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
    standing = result.standing
    reasons = _reasons(session) if standing.whole.errors else Counter()
    if as_json:
        write_json({**_document(session, result, reasons), "noise": asdict(noise) if noise else None})
    else:
        _show(session, standing, noise)
    if standing.whole.errors:
        _note_errors(standing, reasons)
    if result.stopped:
        note(f"stopped with {plural(standing.left, 'execution')} left: {result.stopped}")


def print_judgements(session: Session, standing: JudgeStanding, as_json: bool) -> None:
    """How a round of self-judgements came out."""
    document: dict[str, Any] = {
        "bank": redacted(session.bank),
        "suite": session.suite.name,
        "planned": standing.planned,
        "before": standing.before,
        "finished": standing.finished,
        "use": standing.use,
        "unclear": standing.unclear,
        "errors": standing.errors,
        "tokens": standing.tokens,
        "stopped": standing.stopped or None,
    }
    if as_json:
        write_json(document)
    else:
        console().print(
            f"{plural(standing.finished, 'judgement')} now, in the bank before: {standing.before:,}; use {standing.use:,}, "
            f"no-use {standing.finished - standing.use:,} ({standing.unclear:,} without a clear label); "
            f"{'unknown tokens' if standing.tokens is None else plural(standing.tokens, 'token')} of routing cost."
        )
    if standing.errors:
        note(f"{standing.errors} got no answer, the last one: {standing.last_error}")
    if standing.stopped:
        note(f"stopped: {standing.stopped}")


def _show(session: Session, standing: Standing, noise: SameConditionDifference | None) -> None:
    out = console()
    out.print(
        f"{session.suite.name}: {standing.before + standing.finished:,} of {plural(standing.planned, 'execution')} in the "
        f"bank, {standing.finished:,} run now.",
        markup=False,
    )
    if standing.whole.counted:
        out.print(_arms_table(standing))
    out.print(f"Spent over all starts: {_spend_in_words(standing.spend)}.")
    if noise is not None and noise.tasks:
        out.print(
            f"A/A, {ARMS[noise.condition]} twice on {plural(noise.tasks, 'task')}: difference {signed(noise.difference)}, "
            f"changed outcomes {percent(noise.flip_rate)}. A gain below this is noise."
        )
    out.print(f"Logs: {session.folder}", soft_wrap=True, markup=False)


def _arms_table(standing: Standing) -> Group:
    """Columns of this start only where an earlier one put something into the bank."""
    columns = ["arm", "counted", "success", "tokens each"]
    resumed = standing.before and standing.finished
    if resumed:
        columns += ["counted now", "success now"]
    rows = []
    for name, arm in standing.whole.arms.items():
        now = standing.now.arms[name]
        row = [ARMS[name], number(arm.counted), percent(arm.success), number(arm.mean_tokens)]
        rows.append([*row, number(now.counted), percent(now.success)] if resumed else row)
    return table("", columns, rows)


def _spend_in_words(spend: Spend) -> str:
    parts = [plural(spend.calls, "call")]
    if spend.tokens_unknown == 0:
        parts.append(plural(spend.tokens, "token"))
    elif spend.tokens:
        parts.append(
            f"{plural(spend.tokens, 'token')} and those of {plural(spend.tokens_unknown, 'call')} that did not tell"
        )
    else:
        parts.append("tokens unknown")
    if spend.usd:
        unknown = f" and {plural(spend.usd_unknown, 'call')} of unknown price" if spend.usd_unknown else ""
        parts.append(f"${spend.usd:,.2f}{unknown}")
    return ", ".join(parts)


def _reasons(session: Session) -> Counter[str]:
    from skilldelta.collect.plan import make_plan
    from skilldelta.collect.transcript import count_reasons

    plan = make_plan(session.suite, session.selection, seed=session.seed)
    return count_reasons(session.folder, {planned.name for planned in plan})


def _note_errors(standing: Standing, reasons: Counter[str]) -> None:
    """How many came to nothing, why, and how they are run again."""
    errors = standing.whole.errors
    counts = ", ".join(f"{count} {status.replace('_', ' ')}" for status, count in errors.items())
    note(f"not counted: {counts}" + ("; no execution has a result" if not standing.whole.counted else ""))
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

    def advance(standing: Standing) -> None:
        nonlocal shown_at, shown_done, ended
        done, waited = standing.before + standing.finished, standing.seconds - shown_at
        moved = waited >= _LINE_EVERY / 6 and done - shown_done >= standing.planned / 20
        if waited >= _LINE_EVERY or moved or (standing.left == 0 and not ended):
            shown_at, shown_done, ended = standing.seconds, done, standing.left == 0
            note(f"{done}/{standing.planned} {_in_words(standing)}")

    return advance


@contextmanager
def _bar() -> Iterator[OnProgress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (BarColumn(bar_width=24), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        shown = bar.add_task("starting", total=None)

        def advance(standing: Standing) -> None:
            done = standing.before + standing.finished
            bar.update(shown, total=standing.planned, completed=done, description=_in_words(standing))

        yield advance


def _in_words(standing: Standing) -> str:
    left = standing.seconds_left
    parts = [f"{ARMS[name]} {percent(arm.success)}" for name, arm in standing.whole.arms.items()]
    if standing.spend.tokens or not standing.spend.tokens_unknown:
        parts.append(plural(standing.spend.tokens, "token"))
    if standing.spend.usd:
        parts.append(f"${standing.spend.usd:,.2f}")
    if standing.whole.errors:
        parts.append(plural(sum(standing.whole.errors.values()), "error"))
    if left is not None:
        parts.append(f"{_duration(left)} left")
    return " · ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _document(session: Session, result: Result, reasons: Counter[str]) -> dict[str, Any]:
    standing, identity = result.standing, session.agent.identity
    spend = standing.spend
    return {
        "bank": redacted(session.bank),
        "folder": str(session.folder),
        "suite": session.suite.name,
        "agent": {"name": identity.name, "fingerprint": identity.fingerprint},
        "planned": standing.planned,
        "before": standing.before,
        "finished": standing.finished,
        "left": standing.left,
        "stopped": result.stopped or None,
        "arms": _arms_document(standing.whole),
        "errors": standing.whole.errors,
        "reasons": [{"reason": reason, "count": count} for reason, count in reasons.most_common()],
        "now": {"arms": _arms_document(standing.now), "errors": standing.now.errors},
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
