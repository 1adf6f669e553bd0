"""`skilldelta suite`: start a suite of one's own, prepare one of the paper's, and check either."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import console, number, progress, table, write_json
from skilldelta.cli.settings import GivenPath, OutputPath
from skilldelta.cli.suite_display import inspection_document, prepared_document, show_inspection, show_prepared

if TYPE_CHECKING:
    from skilldelta.collect.suite import Suite
    from skilldelta.suites.base import PaperSuite


@click.group("suite")
def command() -> None:
    """Suites of your own and the paper's five: a folder with suite.yaml, tasks.jsonl and skills/NAME/SKILL.md."""


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


@command.command("list")
@settings.json_option
def list_suites(as_json: bool) -> None:
    """The paper's five suites: tasks and skills, licence, and where to get the data. Nothing is downloaded."""
    from skilldelta.suites import paper_suites

    suites = paper_suites()
    if as_json:
        write_json({"suites": [_listed(suite) for suite in suites]})
        return
    rows = [[one.name, one.title, number(one.counts.tasks), number(one.counts.skills)] for one in suites]
    console().print(table("The paper's suites", ("name", "benchmark", "tasks", "skills"), rows, left=2))
    for one in suites:
        console().print(one.name, style="bold")
        for line in (one.licence, one.origin, f"skilldelta suite prepare {one.name} {one.needs} --output FOLDER"):
            console().remark(line)


@command.command("prepare")
@click.argument("name")
@click.option("--from", "data", required=True, type=GivenPath(), metavar="PATH", help="The benchmark's data, on disk.")
@click.option("--skills", type=GivenPath(), metavar="PATH", help="Skill texts: a corpus file or a folder of skills.")
@click.option("--corpora", type=GivenPath(), metavar="FOLDER", help="ToolQA's corpora, for its tools.")
@click.option("--family", "families", multiple=True, help="Only this family (repeatable).")
@click.option(
    "--output", required=True, type=OutputPath(folder=True), metavar="FOLDER", help="The suite folder to write."
)
@settings.json_option
@progress("preparing")
def prepare(
    name: str,
    data: Path,
    skills: Path | None,
    corpora: Path | None,
    families: tuple[str, ...],
    output: Path,
    as_json: bool,
) -> None:
    """Make a suite folder of one of the paper's benchmarks from files that you have. `suite list` names them.

    \b
    skilldelta suite prepare logicbench --from logicbench.json \\
      --skills corpus.json --output logicbench
    """
    from skilldelta.suites import find_suite
    from skilldelta.suites.base import GivenFiles
    from skilldelta.suites.preparation import prepare as write_suite_folder

    prepared = write_suite_folder(find_suite(name), GivenFiles(data, skills, corpora), output, families=families)
    if as_json:
        write_json(prepared_document(prepared))
        return
    show_prepared(prepared)
    console().print(f"Next: skilldelta suite check {output}", soft_wrap=True, markup=False)


@command.command("check")
@click.argument("folder", type=GivenPath())
@settings.json_option
def check(folder: Path, as_json: bool) -> int:
    """Read a suite as `collect` would; the first mistake is one line with file and line number.

    One of the paper's suites is also compared with the paper's counts: exit code 1 if anything differs.
    """
    from skilldelta.suites.inspection import inspect_folder

    found = inspect_folder(folder)
    suite = None if found and found.missing_skills else _load(folder)
    if as_json:
        write_json({**_suite_document(suite, folder), **({} if found is None else inspection_document(found))})
    else:
        if found is not None:
            show_inspection(found)
        if suite is not None:
            _show_suite(suite)
    return 0 if found is None or found.is_as_in_the_paper else 1


def _load(folder: Path) -> Suite:
    from skilldelta.collect.graders import GraderTools, make_graders
    from skilldelta.collect.suite import load_suite

    async def no_judge(name: str, messages: object) -> str:
        raise AssertionError("a check calls nobody")

    suite = load_suite(folder)
    make_graders(suite, GraderTools(judge=no_judge))
    return suite


def _suite_document(suite: Suite | None, folder: Path) -> dict[str, Any]:
    if suite is None:
        return {"suite": folder.resolve().name}
    return {
        "suite": suite.name,
        "tasks": len(suite.tasks),
        "families": dict(Counter(task.family or "–" for task in suite.tasks)),
        "skills": {skill_id: skill.digest for skill_id, skill in suite.skills.items()},
    }


def _show_suite(suite: Suite) -> None:
    families = Counter(task.family or "–" for task in suite.tasks)
    skills: dict[str, set[str]] = {}
    for task in suite.tasks:
        skills.setdefault(task.family or "–", set()).add(task.skill_id)
    rows = [
        [
            family,
            next(iter(skills[family])) if len(skills[family]) == 1 else f"{len(skills[family])} bundles",
            number(count),
        ]
        for family, count in families.items()
    ]
    console().print(table(f"{suite.name}: ready to collect", ("family", "skill", "tasks"), rows, left=2))


def _listed(suite: PaperSuite) -> dict[str, Any]:
    return {
        "name": suite.name,
        "title": suite.title,
        "tasks": suite.counts.tasks,
        "skills": suite.counts.skills,
        "licence": suite.licence,
        "origin": suite.origin,
        "needs": suite.needs,
        "repetitions": suite.preset.repetitions,
        "temperature": suite.preset.agent.temperature,
    }
