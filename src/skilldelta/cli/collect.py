"""`skilldelta collect`: paired executions of a real agent into the bank."""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
import sys
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import console, note, number, percent, table, write_json
from skilldelta.errors import InputError

if TYPE_CHECKING:
    from skilldelta.collect.agents.base import CollectAgent
    from skilldelta.collect.budget import Prices
    from skilldelta.collect.progress import OnProgress, Standing
    from skilldelta.collect.runner import Result
    from skilldelta.collect.session import Session
    from skilldelta.collect.suite import Suite

KEY_VARIABLE = "SKILLDELTA_API_KEY"


@click.command("collect")
@click.argument("folder", type=click.Path(path_type=Path), metavar="SUITE")
@click.option("--model", envvar="SKILLDELTA_MODEL", metavar="NAME", help="The model to ask for.")
@click.option("--base-url", envvar="SKILLDELTA_BASE_URL", metavar="URL", help="An OpenAI-compatible endpoint.")
@click.option("--key-variable", default=KEY_VARIABLE, show_default=True, help="Environment variable with the key.")
@click.option("--returned-model", default="", metavar="NAME", help="What the endpoint calls the model in its answers.")
@click.option("--solver", metavar="NAME", help="generate or code; default: what the suite says.")
@click.option("--agent", envvar="SKILLDELTA_AGENT", metavar="NAME", help="The agent's name in the bank.")
@click.option("--temperature", type=float, help="Default: what the suite says.")
@click.option("--output-tokens", type=int, help="Most tokens of one reply. Default: what the suite says.")
@click.option("--repetitions", type=int, default=1, show_default=True, help="Runs of each task in each arm.")
@click.option("--repeat-share", type=float, default=1.0, show_default=True, help="Share of tasks with all repetitions.")
@click.option("--family", "families", multiple=True, help="Only this family (repeatable).")
@click.option("--task", "task_ids", multiple=True, help="Only this task (repeatable).")
@click.option("--limit", type=int, metavar="N", help="Only N tasks, spread over the families.")
@click.option("--concurrency", type=click.IntRange(1, 1024), default=4, show_default=True, help="Executions at once.")
@click.option("--max-calls", type=int, help="Cap on calls, over all restarts.")
@click.option("--max-tokens", type=float, help="Cap on tokens, over all restarts.")
@click.option("--max-usd", type=float, help="Cap on dollars, over all restarts; needs --price.")
@click.option("--max-seconds", type=float, help="Cap on the collector's time, over all restarts.")
@click.option("--price", type=(float, float), metavar="IN OUT", help="Dollars per million tokens in and out.")
@click.option("--retries", type=click.IntRange(min=0), default=4, show_default=True, help="Per call without answer.")
@click.option("--timeout", type=float, default=600.0, show_default=True, help="Seconds to wait for one answer.")
@click.option("--sandbox", type=click.Choice(["auto", "bubblewrap", "docker"]), default="auto", show_default=True)
@click.option("--retry-errors", is_flag=True, help="Run again what ended as incomplete or in a grader error.")
@click.option("--accept-changes", is_flag=True, help="Go on although the suite was edited.")
@click.option("--dry-run", is_flag=True, help="Print the plan, its size and its largest cost; call nothing.")
@settings.seed_option
@settings.bank_option
@settings.json_option
def command(folder: Path, dry_run: bool, as_json: bool, **options: Any) -> int:
    """Run an agent on a suite's tasks with and without the skill, and put every execution into the bank.

    Stop and start as you like: what the bank has is not run again.

    \b
    skilldelta collect my-suite --base-url http://127.0.0.1:8000/v1 --model my-model --dry-run
    skilldelta collect my-suite --base-url http://127.0.0.1:8000/v1 --model my-model --max-calls 500
    """
    session = _session(folder, options)
    if dry_run:
        return _print_plan(session, as_json)
    with _display(session, quiet=as_json) as on_progress:
        result, interrupted = asyncio.run(_run(session, on_progress))
    _print_result(session, result, as_json)
    if interrupted:
        return 130
    return 1 if result and result.stopped else 0


def _session(folder: Path, options: dict[str, Any]) -> Session:
    from skilldelta.collect.budget import Caps, Prices, Retries
    from skilldelta.collect.graders import GraderTools, make_graders
    from skilldelta.collect.plan import Selection
    from skilldelta.collect.session import Session
    from skilldelta.collect.suite import load_suite

    if options["max_usd"] is not None and options["price"] is None:
        raise InputError("--max-usd needs prices; give --price IN OUT in dollars per million tokens")
    suite = load_suite(folder)
    prices = Prices(*options["price"]) if options["price"] else None
    agent = _agent(suite, options, prices)
    tools = GraderTools(sandbox=options["sandbox"])
    make_graders(suite, tools)  # a bad grader is found before anything is paid
    return Session(
        suite=suite,
        agent=agent,
        bank=options["bank"],
        make_graders=lambda budget: make_graders(suite, tools),
        selection=Selection(
            repetitions=options["repetitions"],
            repeat_share=options["repeat_share"],
            families=options["families"],
            task_ids=options["task_ids"],
            limit=options["limit"],
        ),
        seed=options["seed"],
        caps=Caps(options["max_calls"], options["max_tokens"], options["max_usd"], options["max_seconds"]),
        retries=Retries(options["retries"]),
        concurrency=options["concurrency"],
        retry_errors=options["retry_errors"],
        accept_changes=options["accept_changes"],
        invocation={
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "command": shlex.join(["skilldelta", *sys.argv[1:]]),
        },
    )


def _agent(suite: Suite, options: dict[str, Any], prices: Prices | None) -> CollectAgent:
    from skilldelta.collect.agents.chat import CHAT_SOLVERS, ChatAgent, chat_sampling
    from skilldelta.collect.chat import ChatEndpoint
    from skilldelta.collect.sandbox import find_sandbox
    from skilldelta.errors import unknown_name

    chosen = {
        "solver": options["solver"],
        "temperature": options["temperature"],
        "max_tokens": options["output_tokens"],
    }
    wanted = replace(suite.agent, **{key: value for key, value in chosen.items() if value is not None})
    if not options["model"]:
        raise InputError("no model named; give --model NAME, and --base-url URL for an OpenAI-compatible endpoint")
    if not options["base_url"]:
        raise InputError("no endpoint named; give --base-url URL, such as http://127.0.0.1:8000/v1")
    if wanted.solver not in CHAT_SOLVERS:
        raise unknown_name("solver", wanted.solver, CHAT_SOLVERS)
    return ChatAgent(
        name=options["agent"] or options["model"],
        endpoint=ChatEndpoint(
            options["base_url"],
            os.environ.get(options["key_variable"], ""),
            timeout=options["timeout"],
            expected_model=options["returned_model"],
        ),
        sampling=chat_sampling(options["model"], wanted),
        system=wanted.system,
        sandbox=find_sandbox(options["sandbox"]) if wanted.solver == "code" else None,
        prices=prices,
    )


async def _run(session: Session, on_progress: OnProgress) -> tuple[Result | None, bool]:
    """Collect until done or until Ctrl-C; what is in flight then is left out and run again by the next start."""
    from skilldelta.collect.session import collect

    loop = asyncio.get_running_loop()
    work = loop.create_task(collect(session, on_progress))
    interrupted = False

    def stop() -> None:
        nonlocal interrupted
        interrupted = True
        work.cancel()

    for number_ in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number_, stop)
    try:
        return await work, False
    except asyncio.CancelledError:
        if not interrupted:
            raise
        return None, True


def _print_plan(session: Session, as_json: bool) -> int:
    from skilldelta.collect.agents.base import Attempt
    from skilldelta.collect.plan import make_plan

    plan = make_plan(session.suite, session.selection, seed=session.seed)
    most = [
        session.agent.largest(
            Attempt(one, session.suite.skills[one.task.skill_id].text if one.condition == "use" else "", session.seed)
        )
        for one in plan
    ]
    document = {
        "suite": session.suite.name,
        "agent": {"name": session.agent.identity.name, "fingerprint": session.agent.identity.fingerprint},
        "tasks": len({one.task.task_id for one in plan}),
        "executions": len(plan),
        "largest": {"tokens": sum(one.tokens for one in most), "usd": sum(one.usd for one in most)},
        "plan": [
            {"task_id": one.task.task_id, "condition": one.condition, "repetition": one.repetition} for one in plan
        ],
    }
    if as_json:
        write_json(document)
        return 0
    families: dict[str, list[int]] = {}
    for one in plan:
        families.setdefault(one.task.family or "–", [0, 0])[one.condition == "use"] += 1
    rows = [[name, number(skip), number(use)] for name, (skip, use) in families.items()]
    console().print(table(f"Plan of {session.suite.name}", ("family", "without skill", "with skill"), rows))
    cost = f", at most ${document['largest']['usd']:,.2f}" if document["largest"]["usd"] else ""  # type: ignore[index]
    console().print(
        f"{len(plan):,} executions of {document['tasks']:,} tasks by {session.agent.identity.name}, "
        f"at most {document['largest']['tokens']:,.0f} tokens{cost}. Nothing was called."  # type: ignore[index]
    )
    return 0


def _display(session: Session, *, quiet: bool) -> AbstractContextManager[OnProgress]:
    if quiet:
        return _silent()
    return _bar() if sys.stderr.isatty() else _lines()


@contextmanager
def _silent() -> Any:
    yield lambda standing: None


@contextmanager
def _lines() -> Any:
    """For logs: a line now and then."""
    shown = 0.0

    def advance(standing: Standing) -> None:
        nonlocal shown
        if standing.seconds - shown >= 30 or standing.left == 0:
            shown = standing.seconds
            done = standing.before + standing.finished
            note(f"{done}/{standing.planned} {_standing_line(standing)}")

    yield advance


@contextmanager
def _bar() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (BarColumn(bar_width=24), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        shown = bar.add_task("starting", total=None)

        def advance(standing: Standing) -> None:
            done = standing.before + standing.finished
            bar.update(shown, total=standing.planned, completed=done, description=_standing_line(standing))

        yield advance


def _standing_line(standing: Standing) -> str:
    left = standing.seconds_left
    parts = [
        f"without {percent(standing.arms['skip'].success)}",
        f"with {percent(standing.arms['use'].success)}",
        f"{standing.spend.tokens:,.0f} tokens",
    ]
    if standing.spend.usd:
        parts.append(f"${standing.spend.usd:,.2f}")
    if standing.errors:
        parts.append(f"{sum(standing.errors.values())} errors")
    parts.append(f"{_duration(left)} left" if left is not None else "")
    return " · ".join(part for part in parts if part)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def _print_result(session: Session, result: Result | None, as_json: bool) -> None:
    if result is None:
        note("stopped; run the same command to go on")
        return
    standing = result.standing
    if as_json:
        write_json(
            {
                "bank": session.bank,
                "folder": str(session.folder),
                "suite": session.suite.name,
                "agent": {"name": session.agent.identity.name, "fingerprint": session.agent.identity.fingerprint},
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
        )
    else:
        rows = [
            [
                {"skip": "without skill", "use": "with skill"}[name],
                number(arm.counted),
                percent(arm.success),
                number(arm.mean_tokens),
            ]
            for name, arm in standing.arms.items()
        ]
        title = f"{session.suite.name}: {standing.finished:,} executions run, {standing.before:,} were in the bank"
        console().print(table(title, ("arm", "counted", "success", "tokens each"), rows))
        spend = standing.spend
        usd = f", ${spend.usd:,.2f}" if spend.usd else ""
        console().print(
            f"Spent over all starts: {spend.calls:,} calls, {spend.tokens:,.0f} tokens{usd}. Logs: {session.folder}"
        )
    if standing.errors:
        errors = ", ".join(f"{count} {status}" for status, count in standing.errors.items())
        note(f"not counted: {errors}; the last one: {standing.last_error}")
    if result.stopped:
        note(f"stopped with {standing.left:,} executions left: {result.stopped}")
