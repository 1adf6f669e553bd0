"""`skilldelta study`: one of the paper's suites from data files to tables, in one go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from skilldelta.cli import settings
from skilldelta.cli.collect import collect_options
from skilldelta.cli.settings import OutputPath
from skilldelta.cli.suite import given_files, source_options


@click.command("study")
@click.argument("name")
@source_options
@click.option(
    "--output",
    required=True,
    type=OutputPath(folder=True),
    metavar="FOLDER",
    help="The study's folder; it goes on there.",
)
@click.option("--self-judge/--no-self-judge", default=True, help="Ask the model itself, as the paper does.")
@click.option("--prospective", is_flag=True, help="Record a part, seal predictions for the rest, collect it, audit.")
@click.option(
    "--known",
    type=click.IntRange(1),
    metavar="N",
    help="With --prospective: tasks of each group to record first. Default: the paper's number, else two fifths.",
)
@click.option(
    "--split",
    metavar="FILE",
    help="With --prospective: known and target tasks as JSON, or `published` for the authors' own. Panels form a chain.",
)
@click.option("--beside-paper", is_flag=True, help="Put the paper's printed figures beside yours in the tables.")
@click.option(
    "--headline-runs",
    multiple=True,
    metavar="[NAME=]N",
    help="Count only the first N runs of each arm in the tables, of a suite or an agent (repeatable); evidence curves use all.",
)
@collect_options
@settings.encoder_options
@click.option("--ridge-encoder", metavar="NAME", help="Another encoder for the Ridge controls alone.")
@click.option("--ridge-encoder-url", metavar="URL", help="Its endpoint.")
@click.option("--ridge-encoder-model", metavar="NAME", help="Its model.")
@click.option("--ridge-agent", metavar="NAME", help="Only for this agent's panels.")
@settings.control_options
@settings.resamples_option
@settings.seed_option
@click.option("--dry-run", is_flag=True, help="Print the plan, its size and its largest cost; run nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before the first call.")
@settings.json_option
def command(name: str, output: Path, dry_run: bool, **options: Any) -> int:
    """Prepare one of the paper's suites, collect both arms, evaluate, and end with the paper's tables for your agent.

    The plan and its largest cost come first. Stop and start as you like: what the folder has is not made or paid again.
    Another suite or agent in the same folder adds a panel to the tables.

    \b
    skilldelta study logicbench --from logicbench.json --skills corpus.json \\
      --base-url http://127.0.0.1:8000/v1 --model my-model \\
      --output my-study --dry-run
    """
    from skilldelta.cli.study_phases import StudyRun
    from skilldelta.paper.study_folder import StudyFolder
    from skilldelta.paper.suites import find_suite

    files = given_files(name, options)
    run = StudyRun(find_suite(name), StudyFolder(output), files, {**options, "aa": None})
    return run.show_plan() if dry_run else run.go()
