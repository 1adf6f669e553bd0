"""`skilldelta study`: one of the paper's suites from data files to tables, in one go."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.collect import collect_options
from skilldelta.cli.settings import GivenPath, OutputPath

if TYPE_CHECKING:
    from skilldelta.suites.base import GivenFiles


@click.command("study")
@click.argument("name")
@click.option(
    "--from", "data", type=GivenPath(), metavar="PATH", help="The benchmark's data, on disk. Needed once per study."
)
@click.option("--skills", type=GivenPath(), metavar="PATH", help="Skill texts: a corpus file or a folder of skills.")
@click.option("--corpora", type=GivenPath(), metavar="FOLDER", help="ToolQA's corpora, for its tools.")
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
@collect_options
@settings.encoder_options
@settings.resamples_option
@settings.seed_option
@click.option("--dry-run", is_flag=True, help="Print the plan, its size and its largest cost; run nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before the first call.")
@settings.json_option
def command(
    name: str, data: Path | None, skills: Path | None, corpora: Path | None, output: Path, dry_run: bool, **options: Any
) -> int:
    """Prepare one of the paper's suites, collect both arms, evaluate, and end with the paper's tables for your agent.

    The plan and its largest cost come first. Stop and start as you like: what the folder has is not made or paid again.
    Another suite or agent in the same folder adds a panel to the tables.

    \b
    skilldelta study logicbench --from logicbench.json --skills corpus.json \\
      --base-url http://127.0.0.1:8000/v1 --model my-model \\
      --output my-study --dry-run
    """
    from skilldelta.cli.study_phases import StudyRun
    from skilldelta.studies.study_folder import StudyFolder
    from skilldelta.suites import find_suite

    given = _given(data, skills, corpora)
    run = StudyRun(find_suite(name), StudyFolder(output), given, {**options, "aa": None})
    return run.show_plan() if dry_run else run.go()


def _given(data: Path | None, skills: Path | None, corpora: Path | None) -> GivenFiles | None:
    from skilldelta.errors import InputError
    from skilldelta.suites.base import GivenFiles

    if data is None and (skills or corpora):
        raise InputError("--skills and --corpora belong to the data that --from names; give all of them")
    return None if data is None else GivenFiles(data, skills, corpora)
