"""`skilldelta collect`: paired executions of a real agent into the bank."""

from __future__ import annotations

from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from skilldelta.cli import settings
from skilldelta.cli.output import note, progress
from skilldelta.cli.settings import GivenPath, together
from skilldelta.errors import InputError

if TYPE_CHECKING:
    from skilldelta.collect.runner import Result
    from skilldelta.collect.self_judging import JudgeProgress
    from skilldelta.collect.session import Session

T = TypeVar("T")
_text_option = partial(click.option, default="", show_default=False)

collect_options = together(  # `study` has them, too, so that what runs in one runs in the other
    click.option(
        "--model", envvar="SKILLDELTA_MODEL", metavar="NAME", help="The model; provider/name without --base-url."
    ),
    _text_option("--base-url", envvar="SKILLDELTA_BASE_URL", metavar="URL", help="An OpenAI-compatible endpoint."),
    click.option("--key-variable", default="SKILLDELTA_API_KEY", help="Environment variable with its key."),
    _text_option("--returned-model", metavar="NAME", help="What the endpoint calls the model in its answers."),
    click.option("--solver", metavar="NAME", help="generate, code, an Inspect solver or agent, or file.py@name."),
    click.option(
        "--solver-arg", "solver_args", multiple=True, metavar="KEY=VALUE", help="For the solver (repeatable)."
    ),
    click.option("--tool-sandbox", metavar="NAME", help="Inspect's sandbox for tools, such as docker."),
    click.option("--command", "command_line", metavar="TEXT", help="A command-line agent instead of a model."),
    click.option(
        "--task-as",
        type=click.Choice(["stdin", "argument"]),
        default="stdin",
        help="How a command gets the task.",
    ),
    click.option("--skill-as", default="text", metavar="HOW", help="text, file:PATH or 'args:… {skill}'."),
    click.option("--answer-field", metavar="PATH", help="The command prints JSON with the answer here."),
    click.option(
        "--tokens-field", "token_fields", multiple=True, metavar="PATH", help="Tokens in it (repeatable, added up)."
    ),
    _text_option("--cost-field", metavar="PATH", help="Dollars in it."),
    _text_option("--model-field", metavar="PATH", help="The model's name in it, checked against --model."),
    click.option(
        "--pass-env",
        "passed_variables",
        multiple=True,
        metavar="NAME",
        help="A variable the command gets (repeatable).",
    ),
    _text_option("--agent-version", metavar="TEXT", help="The command's version; default: what it says."),
    click.option(
        "--harness",
        metavar="NAME",
        help="A harness to run instead: claude-code, codex, gemini, opencode, pi, dsh, or one that a package adds.",
    ),
    click.option("--agent", envvar="SKILLDELTA_AGENT", metavar="NAME", help="The agent's name in the bank."),
    click.option(
        "--permission",
        type=click.Choice(["default", "edits", "full"]),
        default="default",
        help="What a harness may do without asking: its default, edit files of its working copy, or everything.",
    ),
    click.option(
        "--agent-home",
        type=GivenPath(file_okay=False),
        metavar="FOLDER",
        help="Copied as a harness's home for every run: its settings and login.",
    ),
    click.option("--temperature", type=float, help="Default: what the suite says."),
    click.option("--output-tokens", type=int, help="Most tokens of one reply. Default: what the suite says."),
    click.option("--reasoning-effort", metavar="WORD", help="Sent to the model as it is, such as low or high."),
    click.option(
        "--thinking/--no-thinking", default=None, help="Switch thinking on or off. Default: what the suite says."
    ),
    click.option("--extra-body", metavar="JSON", help="Further fields of every request, as a JSON object."),
    click.option("--send-seed", is_flag=True, help="Send each repetition's seed with its requests."),
    click.option(
        "--both-grades", is_flag=True, help="Note the grade of a grader's other mode, exact or lenient, as well."
    ),
    click.option("--judge-model", metavar="NAME", help="The model of the judge grader."),
    _text_option("--judge-base-url", metavar="URL", help="Its endpoint, when it is not one of Inspect's."),
    click.option(
        "--repetitions",
        type=click.IntRange(1, 1000),
        help="Runs of each task in each arm. Default: what the suite says, else 1.",
    ),
    click.option("--repeat-share", type=float, default=1.0, help="Share of tasks with all repetitions."),
    click.option("--family", "families", multiple=True, help="Only this family (repeatable)."),
    click.option("--task", "task_ids", multiple=True, help="Only this task (repeatable)."),
    click.option("--limit", type=int, metavar="N", help="Only N tasks, spread over the families."),
    click.option("--concurrency", type=click.IntRange(1, 1024), default=4, help="Executions at once."),
    click.option("--max-calls", type=int, help="Cap on calls, over all restarts."),
    click.option("--max-tokens", type=float, help="Cap on tokens, over all restarts."),
    click.option("--max-usd", type=float, help="Cap on dollars, over all restarts; needs --price or --cost-field."),
    click.option("--max-seconds", type=float, help="Cap on the collector's time, over all restarts."),
    click.option("--price", type=(float, float), metavar="IN OUT", help="Dollars per million tokens in and out."),
    click.option("--retries", type=click.IntRange(min=0), default=4, help="Retries of a call without an answer."),
    click.option("--timeout", type=float, default=600.0, help="Seconds to wait for one answer."),
    click.option(
        "--sandbox",
        type=click.Choice(["auto", "bubblewrap", "docker"]),
        default="auto",
        help="What runs code written by a model.",
    ),
    click.option("--retry-errors", is_flag=True, help="Run again what ended as incomplete or in a grader error."),
    click.option("--accept-changes", is_flag=True, help="Go on although the suite was edited."),
)


@click.command("collect")
@click.argument("folder", type=GivenPath(), metavar="SUITE")
@collect_options
@click.option("--aa", is_flag=False, flag_value="skip", type=click.Choice(["skip", "use"]), help="A/A: one arm twice.")
@click.option(
    "--listed", is_flag=True, help="With --harness: a third arm, in which it lists the skill and the model chooses."
)
@click.option("--self-judge", is_flag=True, help="Ask the model itself whether it would use each skill; run no task.")
@click.option(
    "--next",
    "budget",
    type=click.IntRange(1),
    metavar="N",
    help="Only the N executions that most improve the gate's decisions, as `skilldelta plan` chooses them.",
)
@click.option("--dry-run", is_flag=True, help="Print the plan, its size and its largest cost; run nothing.")
@settings.seed_option
@settings.bank_option
@settings.json_option
def command(folder: Path, dry_run: bool, self_judge: bool, budget: int | None, as_json: bool, **options: Any) -> int:
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
    skilldelta collect my-suite --harness claude-code --listed --max-usd 5
    """
    from skilldelta.cli.collect_plan import print_judge_plan, print_plan
    from skilldelta.cli.collect_session import make_session

    session = make_session(folder, options)
    if budget is not None:
        import asyncio

        from skilldelta.cli.collect_plan import assume_version

        # The version of a command is part of which executions are its own; a dry run does not start it.
        if dry_run:
            assume_version(session)
        else:
            asyncio.run(session.agent.identify())
        session = _next_only(session, budget, options)
    if dry_run:
        show = print_judge_plan if self_judge else print_plan
        show(session, as_json)
        return 0
    return _judge(session, as_json) if self_judge else _collect(session, as_json)


def _next_only(session: Session, budget: int, options: dict[str, Any]) -> Session:
    """The session over the tasks that a plan with this budget chooses, each once in the arms that it lacks."""
    from skilldelta.cli.plan import plan_for

    for name in ("families", "task_ids", "limit", "aa"):
        if options[name]:
            flag = {"families": "--family", "task_ids": "--task"}.get(name, f"--{name}")
            raise InputError(f"--next chooses the tasks itself; leave out {flag} or --next")
    identity = session.agent.identity
    plan = plan_for(session.suite, session.bank, None, None, budget, identity=identity, with_repetitions=False)
    if not plan.task_ids:
        raise InputError(
            f"nothing is left to run next: every task of {session.suite.name} has both arms; "
            "more runs of each: --repetitions 2 without --next"
        )
    return replace(session, selection=replace(session.selection, task_ids=plan.task_ids, repetitions=1))


def _collect(session: Session, as_json: bool) -> int:
    from skilldelta.cli.collect_display import measure_noise, print_result

    result = run_collection(session)
    if result is None:
        return 130
    print_result(session, result, measure_noise(session), as_json)
    return 1 if result.stopped or result.progress.came_to_nothing else 0


def _judge(session: Session, as_json: bool) -> int:
    from skilldelta.cli.collect_display import print_judgements

    progress = run_judging(session)
    if progress is None:
        return 130
    print_judgements(session, progress, as_json)
    return 1 if progress.stopped else 0


def run_collection(session: Session) -> Result | None:
    """Both arms of the tasks, under a bar, and the logs of them; None where a person stopped it."""
    from skilldelta.cli.collect_display import progress as collection_bar
    from skilldelta.collect.logs import write_logs
    from skilldelta.collect.manifest import MANIFEST_FILE, read_manifest
    from skilldelta.collect.session import collect

    with collection_bar() as on_progress:
        result = _until_stopped(collect(session, on_progress))
    manifest = session.folder / MANIFEST_FILE
    if manifest.exists():  # else it was stopped before it began
        write_logs(session.folder, read_manifest(manifest), datetime.now(UTC))
    return result


def run_judging(session: Session) -> JudgeProgress | None:
    """A round of self-judgements, under a bar; None where a person stopped it."""
    from skilldelta.collect.self_judging import judge

    with progress("judging") as advance:
        return _until_stopped(judge(session, lambda one: advance(one.before + one.finished, one.planned)))


def _until_stopped(work: Coroutine[Any, Any, T]) -> T | None:
    """Run until done, or None after Ctrl-C or SIGTERM; what is in flight then is run again by the next start."""
    import asyncio

    try:
        result = asyncio.run(_unless_stopped(work))
    except KeyboardInterrupt:
        result = None
    if result is None:
        note("stopped; run the same command to go on")
    return result


async def _unless_stopped(work: Coroutine[Any, Any, T]) -> T | None:
    import asyncio
    import signal

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
