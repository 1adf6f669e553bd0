"""`skilldelta collect`: paired executions of a real agent into the bank."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.collect_options import collect_options
from skilldelta.cli.collect_running import until_stopped, write_session_logs
from skilldelta.cli.settings import GivenPath

if TYPE_CHECKING:
    from skilldelta.collect.session import Session


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
    from skilldelta.cli.collect_judging import print_judge_plan
    from skilldelta.cli.collect_plan import print_plan
    from skilldelta.cli.collect_session import make_session

    session = make_session(folder, options)
    if dry_run:
        show = print_judge_plan if self_judge else print_plan
        show(session, as_json)
        return 0
    return _judge(session, as_json) if self_judge else _collect(session, as_json)


def _collect(session: Session, as_json: bool) -> int:
    from skilldelta.cli.collect_display import measure_noise, print_interrupted, print_result, progress
    from skilldelta.collect.session import collect

    with progress() as on_progress:
        result = until_stopped(collect(session, on_progress))
    write_session_logs(session)
    if result is None:
        print_interrupted()
        return 130
    print_result(session, result, measure_noise(session), as_json)
    return 1 if result.stopped or result.standing.came_to_nothing else 0


def _judge(session: Session, as_json: bool) -> int:
    from skilldelta.cli.collect_display import print_interrupted
    from skilldelta.cli.collect_judging import print_judgements
    from skilldelta.cli.output import progress
    from skilldelta.collect.self_judging import judge

    with progress("judging") as advance:
        standing = until_stopped(judge(session, lambda one: advance(one.before + one.finished, one.planned)))
    if standing is None:
        print_interrupted()
        return 130
    print_judgements(session, standing, as_json)
    return 1 if standing.stopped else 0
