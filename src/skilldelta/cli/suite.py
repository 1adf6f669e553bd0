"""`skilldelta suite`: start a suite of one's own, and check one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from skilldelta.cli import settings
from skilldelta.cli.given_values import GivenPath
from skilldelta.cli.output import console, number, table, write_json


@click.group("suite")
def command() -> None:
    """Suites of your own: a folder with suite.yaml, tasks.jsonl and skills/NAME/SKILL.md."""


@command.command("init")
@click.argument("folder", type=GivenPath())
@click.option(
    "--from-skill", type=GivenPath(), metavar="PATH", help="A skill folder with evals/evals.json: its evals as a suite."
)
def init(folder: Path, from_skill: Path | None) -> None:
    """Write a small working suite into FOLDER, to be changed into your own."""
    from skilldelta.collect.skill_evals import write_suite_of_skill
    from skilldelta.collect.starter import write_starter

    for path in write_suite_of_skill(from_skill, folder) if from_skill else write_starter(folder):
        console().print(str(path), soft_wrap=True)
    console().print(f"Next: skilldelta suite check {folder}", soft_wrap=True)


@command.command("check")
@click.argument("folder", type=GivenPath())
@settings.json_option
def check(folder: Path, as_json: bool) -> None:
    """Read a suite as `collect` would; the first mistake is one line with file and line number."""
    from skilldelta.collect.graders import GraderTools, make_graders
    from skilldelta.collect.suite import load_suite

    async def no_judge(name: str, messages: object) -> str:
        raise AssertionError("a check calls nobody")

    suite = load_suite(folder)
    make_graders(suite, GraderTools(judge=no_judge))
    families = Counter(task.family or "–" for task in suite.tasks)
    if as_json:
        write_json(
            {
                "suite": suite.name,
                "tasks": len(suite.tasks),
                "families": dict(families),
                "skills": {skill_id: skill.digest for skill_id, skill in suite.skills.items()},
            }
        )
        return
    skills = {task.family or "–": task.skill_id for task in suite.tasks}
    rows = [[family, skills[family], number(count)] for family, count in families.items()]
    console().print(table(f"{suite.name}: fine", ("family", "skill", "tasks"), rows, left=2))
