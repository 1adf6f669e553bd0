"""What `skilldelta collect` shows: the plan, the live standing, the result."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from skilldelta.cli.output import console, note, number, percent, signed, table, write_json

if TYPE_CHECKING:
    from skilldelta.collect.progress import OnProgress, Standing
    from skilldelta.collect.runner import Result
    from skilldelta.collect.self_judge import JudgeStanding
    from skilldelta.collect.session import Session

ARMS = {"skip": "without skill", "use": "with skill"}
_LINE_EVERY = 30.0


def print_plan(session: Session, as_json: bool) -> None:
    """The executions, how many, and the most they can cost."""
    from skilldelta.collect.agents.base import Attempt
    from skilldelta.collect.plan import make_plan

    plan = make_plan(session.suite, session.selection, seed=session.seed)
    skills = session.suite.skills
    most = [
        session.agent.largest(
            Attempt(one, skills[one.task.skill_id].text if one.condition == "use" else "", session.seed)
        )
        for one in plan
    ]
    tokens, usd = sum(one.tokens for one in most), sum(one.usd for one in most)
    tasks = len({one.task.task_id for one in plan})
    identity = session.agent.identity
    if as_json:
        rows = [{"task_id": one.task.task_id, "condition": one.condition, "repetition": one.repetition} for one in plan]
        write_json(
            {
                "suite": session.suite.name,
                "agent": {"name": identity.name, "fingerprint": identity.fingerprint},
                "tasks": tasks,
                "executions": len(plan),
                "largest": {"tokens": tokens, "usd": usd},
                "plan": rows,
            }
        )
        return
    families: dict[str, list[int]] = {}
    for one in plan:
        families.setdefault(one.task.family or "–", [0, 0])[one.condition == "use"] += 1
    rows_ = [[name, number(skip), number(use)] for name, (skip, use) in families.items()]
    console().print(table(f"Plan of {session.suite.name}", ("family", *ARMS.values()), rows_))
    cost = f" and ${usd:,.2f}" if usd else ""
    size = f", at most {tokens:,.0f} tokens{cost}" if tokens else ""
    console().print(f"{len(plan):,} executions of {tasks:,} tasks by {identity.name}{size}. Nothing was called.")


@contextmanager
def progress(*, quiet: bool) -> Iterator[OnProgress]:
    """A live bar on a terminal, a line now and then in a log, nothing with --json."""
    if quiet:
        yield lambda standing: None
    elif sys.stderr.isatty():
        with _bar() as advance:
            yield advance
    else:
        yield _lines()


def print_result(session: Session, result: Result, as_json: bool) -> None:
    """What this start did, and what was spent over all starts."""
    standing = result.standing
    if as_json:
        write_json(_document(session, result))
    else:
        rows = [
            [ARMS[name], number(arm.counted), percent(arm.success), number(arm.mean_tokens)]
            for name, arm in standing.arms.items()
        ]
        console().print(f"{session.suite.name}: {standing.finished:,} run now, {standing.before:,} were in the bank")
        console().print(table("", ("arm", "counted", "success", "tokens each"), rows))
        spend = standing.spend
        usd = f", ${spend.usd:,.2f}" if spend.usd else ""
        console().print(f"Spent over all starts: {spend.calls:,} calls, {spend.tokens:,.0f} tokens{usd}.")
        console().print(f"Logs: {session.folder}", soft_wrap=True)
    if standing.errors:
        errors = ", ".join(f"{count} {status}" for status, count in standing.errors.items())
        note(f"not counted: {errors}; the last one: {standing.last_error}")
    if result.stopped:
        note(f"stopped with {standing.left:,} executions left: {result.stopped}")


def print_noise(session: Session, as_json: bool) -> None:
    """The A/A difference, beside which a gain has to be read."""
    from skilldelta.bank import Bank
    from skilldelta.collect.noise import noise_floor

    condition = session.selection.same_condition
    assert condition is not None
    with Bank.open(session.bank, readonly=True) as bank:
        executions = bank.executions(agent=session.agent.identity, suite=session.suite.name)
        floor = noise_floor(executions, condition)
    if not as_json and floor.tasks:
        console().print(
            f"A/A, {ARMS[condition]} twice on {floor.tasks:,} tasks: difference {signed(floor.difference)}, "
            f"changed outcomes {percent(floor.flip_rate)}. A gain below this is noise."
        )


def print_judgements(session: Session, standing: JudgeStanding, as_json: bool) -> None:
    """How a round of self-judgements came out."""
    document: dict[str, Any] = {
        "bank": session.bank,
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
            f"{standing.finished:,} judgements now, {standing.before:,} were in the bank: use {standing.use:,}, "
            f"no-use {standing.finished - standing.use:,} ({standing.unclear:,} without a clear label); "
            f"{standing.tokens:,.0f} tokens of routing cost."
        )
    if standing.errors:
        note(f"{standing.errors} got no answer, the last one: {standing.last_error}")
    if standing.stopped:
        note(f"stopped: {standing.stopped}")


def print_interrupted() -> None:
    """After Ctrl-C."""
    note("stopped; run the same command to go on")


def _lines() -> OnProgress:
    shown = 0.0

    def advance(standing: Standing) -> None:
        nonlocal shown
        if standing.seconds - shown >= _LINE_EVERY or standing.left == 0:
            shown = standing.seconds
            note(f"{standing.before + standing.finished}/{standing.planned} {_in_words(standing)}")

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
    parts = [f"{ARMS[name]} {percent(arm.success)}" for name, arm in standing.arms.items()]
    parts.append(f"{standing.spend.tokens:,.0f} tokens")
    if standing.spend.usd:
        parts.append(f"${standing.spend.usd:,.2f}")
    if standing.errors:
        parts.append(f"{sum(standing.errors.values())} errors")
    if left is not None:
        parts.append(f"{_duration(left)} left")
    return " · ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _document(session: Session, result: Result) -> dict[str, Any]:
    standing, identity = result.standing, session.agent.identity
    return {
        "bank": session.bank,
        "folder": str(session.folder),
        "suite": session.suite.name,
        "agent": {"name": identity.name, "fingerprint": identity.fingerprint},
        "planned": standing.planned,
        "before": standing.before,
        "finished": standing.finished,
        "left": standing.left,
        "stopped": result.stopped or None,
        "arms": {
            name: {"counted": arm.counted, "success": arm.success, "tokens": arm.mean_tokens}
            for name, arm in standing.arms.items()
        },
        "errors": standing.errors,
        "spend": {
            "calls": standing.spend.calls,
            "tokens": standing.spend.tokens,
            "usd": standing.spend.usd,
            "seconds": standing.spend.seconds,
            "unsettled": standing.spend.unsettled,
        },
    }
