"""What `skilldelta collect` shows: the plan, the live standing, the result."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilldelta.cli.collect_session import without_secrets
from skilldelta.cli.output import console, note, number, percent, signed, table, write_json
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.collect.budget import Amount
    from skilldelta.collect.noise import NoiseFloor
    from skilldelta.collect.plan import Planned
    from skilldelta.collect.progress import OnProgress, Standing
    from skilldelta.collect.runner import Result
    from skilldelta.collect.session import Session

ARMS = {"skip": "without skill", "use": "with skill"}
_LINE_EVERY = 30.0


def print_plan(session: Session, as_json: bool) -> None:
    """The executions, how many, and the most they can cost."""
    from skilldelta.collect.agents.base import Attempt
    from skilldelta.collect.budget import Amount
    from skilldelta.collect.plan import make_plan

    plan = make_plan(session.suite, session.selection, seed=session.seed)
    skills = session.suite.skills
    most = Amount.total(
        session.agent.largest(
            Attempt(one, skills[one.task.skill_id].text if one.condition == "use" else "", session.seed)
        )
        for one in plan
    )
    tasks = len({one.task.task_id for one in plan})
    identity = session.agent.identity
    had, mean_tokens = _in_bank(session, plan)
    if as_json:
        rows = [{"task_id": one.task.task_id, "condition": one.condition, "repetition": one.repetition} for one in plan]
        write_json(
            {
                "suite": session.suite.name,
                "agent": {"name": identity.name, "fingerprint": identity.fingerprint},
                "tasks": tasks,
                "executions": len(plan),
                "in_bank": had,
                "expected_tokens": None if mean_tokens is None else mean_tokens * (len(plan) - had),
                "largest": {"tokens": most.tokens, "usd": most.usd},
                "plan": rows,
            }
        )
        return
    families: dict[str, list[int]] = {}
    for one in plan:
        families.setdefault(one.task.family or "–", [0, 0])[one.condition == "use"] += 1
    rows_ = [[name, number(skip), number(use)] for name, (skip, use) in families.items()]
    console().print(table(f"Plan of {session.suite.name}", ("family", *ARMS.values()), rows_))
    console().print(
        f"{plural(len(plan), 'execution')} of {plural(tasks, 'task')} by {identity.name}, {largest_in_words(most)}."
    )
    if mean_tokens is not None:
        left = len(plan) - had
        console().print(f"In the bank: {had:,}. The other {left:,}: about {plural(mean_tokens * left, 'token')}.")
    console().print("Nothing was called.")


def largest_in_words(most: Amount) -> str:
    """An upper bound for people; a bound that is not known is said to be none."""
    tokens = "no known bound on tokens" if most.tokens is None else f"at most {plural(most.tokens, 'token')}"
    return tokens if most.usd is None else f"{tokens} and ${most.usd:,.2f}"


def _in_bank(session: Session, plan: Sequence[Planned]) -> tuple[int, float | None]:
    """How many of the planned executions the bank has, and the tokens they took on average."""
    from skilldelta.bank import Bank

    if "://" not in session.bank and not Path(session.bank).exists():
        return 0, None
    keys = {planned.key for planned in plan}
    had, tokens = 0, []
    with Bank.open(session.bank, readonly=True) as bank:
        for one in bank.executions(agent=session.agent.identity, suite=session.suite.name):
            key = (one.task_id, one.condition, one.skill_id, one.skill_digest, one.repetition)
            if key in keys and one.status == "completed":
                had += 1
                tokens += [one.tokens] if one.tokens is not None else []
    return had, sum(tokens) / len(tokens) if tokens else None


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


def print_result(session: Session, result: Result, noise: NoiseFloor | None, as_json: bool) -> None:
    """What this start did, and what was spent over all starts."""
    standing = result.standing
    if as_json:
        write_json({**_document(session, result), "noise": asdict(noise) if noise else None})
    else:
        rows = [
            [ARMS[name], number(arm.counted), percent(arm.success), number(arm.mean_tokens)]
            for name, arm in standing.arms.items()
        ]
        console().print(f"{session.suite.name}: {standing.finished:,} run now, in the bank before: {standing.before:,}")
        if standing.finished:
            console().print(table("", ("arm", "counted", "success", "tokens each"), rows))
        spend = standing.spend
        usd = f", ${spend.usd:,.2f}" if spend.usd else ""
        console().print(f"Spent over all starts: {plural(spend.calls, 'call')}, {plural(spend.tokens, 'token')}{usd}.")
        if noise is not None and noise.tasks:
            console().print(
                f"A/A, {ARMS[noise.condition]} twice on {plural(noise.tasks, 'task')}: difference {signed(noise.difference)}, "
                f"changed outcomes {percent(noise.flip_rate)}. A gain below this is noise."
            )
        console().print(f"Logs: {session.folder}", soft_wrap=True)
    if standing.errors:
        errors = ", ".join(f"{count} {status}" for status, count in standing.errors.items())
        note(f"not counted: {errors}; the last one: {standing.last_error}")
    if result.stopped:
        note(f"stopped with {plural(standing.left, 'execution')} left: {result.stopped}")


def measure_noise(session: Session) -> NoiseFloor | None:
    """What an A/A run came to; None where the run was none."""
    from skilldelta.bank import Bank
    from skilldelta.collect.noise import noise_floor

    condition = session.selection.same_condition
    if condition is None:
        return None
    with Bank.open(session.bank, readonly=True) as bank:
        return noise_floor(bank.executions(agent=session.agent.identity, suite=session.suite.name), condition)


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
    parts.append(plural(standing.spend.tokens, "token"))
    if standing.spend.usd:
        parts.append(f"${standing.spend.usd:,.2f}")
    if standing.errors:
        parts.append(plural(sum(standing.errors.values()), "error"))
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
        "bank": without_secrets(session.bank),
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
