"""`skilldelta collect`: paired executions of a real agent into the bank."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Coroutine
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from skilldelta.cli import settings
from skilldelta.cli.collect_options import collect_options
from skilldelta.cli.output import note, progress
from skilldelta.cli.settings import GivenPath

if TYPE_CHECKING:
    from skilldelta.collect.runner import Result
    from skilldelta.collect.self_judging import JudgeStanding
    from skilldelta.collect.session import Session

T = TypeVar("T")


@click.command("collect")
@click.argument("folder", type=GivenPath(), metavar="SUITE")
@collect_options
@click.option("--aa", is_flag=False, flag_value="skip", type=click.Choice(["skip", "use"]), help="A/A: one arm twice.")
@click.option("--self-judge", is_flag=True, help="Ask the model itself whether it would use each skill; run no task.")
@click.option("--dry-run", is_flag=True, help="Print the plan, its size and its largest cost; run nothing.")
@settings.seed_option
@settings.bank_option
@settings.json_option
def command(folder: Path, dry_run: bool, self_judge: bool, as_json: bool, **options: Any) -> int:
    """Run an agent on a suite's tasks with and without the skill, and put every execution into the bank.

    Stop and start as you like: what the bank has is not run again.

    \b
    skilldelta collect my-suite --base-url http://127.0.0.1:8000/v1 \\
      --model my-model --dry-run
    skilldelta collect my-suite --base-url http://127.0.0.1:8000/v1 \\
      --model my-model --max-calls 500
    skilldelta collect my-suite --model openai/gpt-4o --solver react \\
      --max-usd 5 --price 2.5 10
    skilldelta collect my-suite --command 'my-agent --json' \\
      --answer-field result --tokens-field usage.total
    skilldelta collect my-suite --agent claude-code --max-usd 5
    """
    from skilldelta.cli.collect_plan import print_judge_plan, print_plan
    from skilldelta.cli.collect_session import make_session

    session = make_session(folder, options)
    if dry_run:
        show = print_judge_plan if self_judge else print_plan
        show(session, as_json)
        return 0
    return _judge(session, as_json) if self_judge else _collect(session, as_json)


def _collect(session: Session, as_json: bool) -> int:
    from skilldelta.cli.collect_display import measure_noise, print_result

    result = run_collection(session)
    if result is None:
        return 130
    print_result(session, result, measure_noise(session), as_json)
    return 1 if result.stopped or result.standing.came_to_nothing else 0


def _judge(session: Session, as_json: bool) -> int:
    from skilldelta.cli.collect_display import print_judgements

    standing = run_judging(session)
    if standing is None:
        return 130
    print_judgements(session, standing, as_json)
    return 1 if standing.stopped else 0


def run_collection(session: Session) -> Result | None:
    """Both arms of the tasks, under a bar, and the logs of them; None where a person stopped it."""
    from skilldelta.cli.collect_display import progress as collection_bar
    from skilldelta.collect.session import collect

    with collection_bar() as on_progress:
        result = _until_stopped(collect(session, on_progress))
    _write_logs(session)
    return result


def run_judging(session: Session) -> JudgeStanding | None:
    """A round of self-judgements, under a bar; None where a person stopped it."""
    from skilldelta.collect.self_judging import judge

    with progress("judging") as advance:
        return _until_stopped(judge(session, lambda one: advance(one.before + one.finished, one.planned)))


def _until_stopped(work: Coroutine[Any, Any, T]) -> T | None:
    """Run until done, or None after Ctrl-C or SIGTERM; what is in flight then is run again by the next start."""
    try:
        result = asyncio.run(_unless_stopped(work))
    except KeyboardInterrupt:
        result = None
    if result is None:
        note("stopped; run the same command to go on")
    return result


async def _unless_stopped(work: Coroutine[Any, Any, T]) -> T | None:
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        task.cancel()

    # Windows has no such handlers: Ctrl-C then cancels this coroutine and is raised again by the caller.
    with suppress(NotImplementedError):
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)
    try:
        result = await task
        return None if stopped else result
    except asyncio.CancelledError:
        if not stopped:
            raise
        return None


def _write_logs(session: Session) -> None:
    """The Inspect logs of a collection, as far as it has come; nothing where it never began."""
    from skilldelta.collect.logs import write_logs
    from skilldelta.collect.manifest import MANIFEST_FILE, read_manifest

    if not (session.folder / MANIFEST_FILE).exists():
        return  # stopped before it began
    write_logs(session.folder, read_manifest(session.folder / MANIFEST_FILE), datetime.now(UTC))
