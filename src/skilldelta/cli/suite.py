"""`skilldelta suite`: start a suite of one's own, prepare one of the paper's, and check either."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import console, note, number, progress, table, write_json
from skilldelta.cli.settings import GivenPath, OutputPath
from skilldelta.nouns import listed, plural

if TYPE_CHECKING:
    from skilldelta.collect.gold_check import GoldCheck
    from skilldelta.collect.suite import Suite
    from skilldelta.paper.suites.base import GivenFiles, PaperSuite
    from skilldelta.paper.suites.inventory import Inspection
    from skilldelta.paper.suites.preparation import PreparedFolder

_NAMED = 5


def source_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that name what a suite is prepared from."""
    options = (
        click.option(
            "--from",
            "data",
            multiple=True,
            type=GivenPath(),
            metavar="PATH",
            help="The benchmark's data, or a checkout that has it; and checkouts of the authors (repeatable).",
        ),
        click.option(
            "--skills", type=GivenPath(), metavar="PATH", help="Skill texts: a corpus file or a folder of skills."
        ),
        click.option("--corpora", type=GivenPath(), metavar="FOLDER", help="ToolQA's corpora, for its tools."),
        click.option(
            "--protocol",
            type=click.Choice(["authors", "plain"]),
            help="The authors' wording and exact grades, or our own. Default: authors where --from names its checkout.",
        ),
        click.option(
            "--examples",
            type=click.Choice(["official", "compact"]),
            default="official",
            help="With the authors' protocol of ToolQA: the benchmark's examples, or the one in the authors' runner.",
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def given_files(name: str, sources: Mapping[str, Any]) -> GivenFiles | None:
    """What the source options name for one of the paper's suites; None where they name no data."""
    from skilldelta.errors import InputError
    from skilldelta.paper.suites.authors_protocol import needed_repository
    from skilldelta.paper.suites.base import GivenFiles
    from skilldelta.paper.suites.checkouts import find_checkouts

    paths, protocol = sources["data"], sources["protocol"]
    if not paths:
        if sources["skills"] or sources["corpora"]:
            raise InputError("--skills and --corpora belong to the data that --from names; give all of them")
        return None
    checkouts = tuple(path for path in paths if path.is_dir())
    if protocol is None:
        is_there = needed_repository(name) in find_checkouts(checkouts).folders
        protocol = "authors" if is_there and _has_prompts(name, checkouts) else "plain"
    return GivenFiles(
        _data_path(name, paths), sources["skills"], sources["corpora"], checkouts, protocol, sources["examples"]
    )


def _has_prompts(name: str, folders: Sequence[Path]) -> bool:
    from skilldelta.paper.suites.authors_protocol import needed_repository
    from skilldelta.paper.suites.checkouts import find_checkouts

    folder = find_checkouts(folders).folders[needed_repository(name)]
    return (folder / "src").is_dir() or (folder / "skillopt").is_dir()


def _data_path(name: str, paths: Sequence[Path]) -> Path:
    """The path with the benchmark's data among those given; the first where none is certain."""
    from skilldelta.paper.suites import find_suite

    return next((path for path in paths if find_suite(name).has_data(path)), paths[0])


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
    from skilldelta.paper.suites import paper_suites

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
@source_options
@click.option("--family", "families", multiple=True, help="Only this family (repeatable).")
@click.option(
    "--output", required=True, type=OutputPath(folder=True), metavar="FOLDER", help="The suite folder to write."
)
@settings.json_option
@progress("preparing")
def prepare(name: str, families: tuple[str, ...], output: Path, as_json: bool, **sources: Any) -> None:
    """Make a suite folder of one of the paper's benchmarks from files that you have. `suite list` names them.

    Under the authors' protocol, prompts, examples and skill texts are read from the checkouts that you name.

    \b
    skilldelta suite prepare logicbench --from logicbench.json \\
      --skills corpus.json --output logicbench
    skilldelta suite prepare toolqa --from SR-Agents --from skilldelta \\
      --protocol authors --output toolqa
    """
    from skilldelta.errors import InputError
    from skilldelta.paper.suites import find_suite
    from skilldelta.paper.suites.preparation import prepare as write_suite_folder

    files = given_files(name, sources)
    if files is None:
        raise InputError(f"name the data of {find_suite(name).title} with --from PATH")
    prepared = write_suite_folder(find_suite(name), files, output, families=families)
    if as_json:
        write_json(_prepared_document(prepared))
        return
    show_prepared(prepared)
    console().print(f"Next: skilldelta suite check {output}", soft_wrap=True, markup=False)


@command.command("check")
@click.argument("folder", type=GivenPath())
@click.option("--gold", is_flag=True, help="Also grade known right and wrong answers of every task, in both arms.")
@click.option(
    "--references",
    type=GivenPath(),
    metavar="FILE",
    help="With --gold: reference code as JSONL, such as BigCodeBench.jsonl.gz.",
)
@settings.json_option
def check(folder: Path, gold: bool, references: Path | None, as_json: bool) -> int:
    """Read a suite as `collect` would; the first mistake is one line with file and line number.

    One of the paper's suites is also compared with the paper's counts: exit code 1 if anything differs. With --gold it is
    exit code 1 too if a right answer fails or a wrong one passes: such a suite would measure its grader.
    """
    from skilldelta.paper.suites.inventory import inspect_folder

    inspection = inspect_folder(folder)
    suite = None if inspection and inspection.missing_skills else _load(folder)
    checked = _gold_check(suite, references) if gold and suite is not None else None
    if as_json:
        inspected = {} if inspection is None else _inspection_document(inspection)
        write_json({**_suite_document(suite, folder), **inspected, **_gold_document(checked)})
    else:
        if inspection is not None:
            _show_inspection(inspection)
        if suite is not None:
            _show_suite(suite)
        if checked is not None:
            _show_gold(checked)
    is_faulty = checked is not None and (bool(checked.faults) or not checked.tried)
    return 1 if is_faulty or (inspection is not None and not inspection.is_as_in_the_paper) else 0


def _gold_check(suite: Suite, references: Path | None) -> GoldCheck:
    import asyncio

    from skilldelta.collect.gold_check import check_gold, read_references
    from skilldelta.collect.graders import GraderTools, make_graders

    references_by_task = read_references(references) if references else {}
    graders = make_graders(suite, GraderTools(judge=_no_judge))
    with progress(f"known answers of {plural(len(suite.tasks), 'task')}"):
        return asyncio.run(check_gold(suite, graders, references_by_task))


def _gold_document(checked: GoldCheck | None) -> dict[str, Any]:
    if checked is None:
        return {}
    faults = [asdict(fault) for fault in checked.faults]
    return {"gold": {"answers": checked.tried, "faults": faults, "skipped": list(checked.skipped)}}


def _show_gold(checked: GoldCheck) -> None:
    answers = plural(checked.tried, "known answer")
    if not checked.tried:
        note("no task has a known answer to try; give reference code with --references FILE")
        return
    if not checked.faults:
        console().print(f"{answers} in both arms: every right one passes, every wrong one fails.")
    for fault in checked.faults[:_NAMED]:
        arm = "with" if fault.condition == "use" else "without"
        note(f"{fault.task_id}, {arm} the skill: the {fault.kind} answer was graded otherwise ({fault.remark})")
    if checked.faults:
        note(f"{len(checked.faults)} of {answers} got the wrong grade; do not collect with this suite")
    if checked.skipped:
        note(f"{plural(len(checked.skipped), 'task')} without a known answer, such as {checked.skipped[0]}")


def _load(folder: Path) -> Suite:
    from skilldelta.collect.graders import GraderTools, make_graders
    from skilldelta.collect.suite import load_suite

    suite = load_suite(folder)
    make_graders(suite, GraderTools(judge=_no_judge))
    return suite


async def _no_judge(name: str, messages: object) -> str:
    raise AssertionError("a check calls nobody")


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
    families: dict[str, list[str]] = {}
    for task in suite.tasks:
        families.setdefault(task.family or "–", []).append(task.skill_id)
    rows = []
    for family, skills in families.items():
        several = len(set(skills))
        rows.append([family, skills[0] if several == 1 else f"{several} bundles", number(len(skills))])
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


def show_prepared(prepared: PreparedFolder) -> None:
    """What was written, and what a person should know before collecting."""
    inventory = prepared.inventory
    groups = plural(len(inventory.groups), "family", "families")
    console().print(
        f"{prepared.suite.title}: {plural(inventory.tasks, 'task')} in {groups}, {plural(len(inventory.skills), 'skill')}, "
        f"in {prepared.folder}",
        soft_wrap=True,
        markup=False,
    )
    for task in prepared.left_out[:_NAMED]:
        note(f"left out: {task.task_id}, {task.reason}")
    if len(prepared.left_out) > _NAMED:
        note(f"left out: {len(prepared.left_out) - _NAMED} more, see prepared.json")
    for remark in prepared.notes:
        note(remark)
    if prepared.protocol == "plain":
        note("asked in SkillDelta's own words (--protocol plain): figures are not comparable with the paper's tables")
    _note_missing(prepared.missing_skills)


def _note_missing(names: Sequence[str]) -> None:
    """Skills without a text, and what to do about them."""
    if names:
        note(
            f"no text for {plural(len(names), 'skill')} ({listed(names, _NAMED)}): "
            "prepare again with --skills PATH, or write skills/NAME/SKILL.md; collect needs them"
        )


def _show_inspection(inspection: Inspection) -> None:
    """The inventory beside the paper's, figure by figure."""
    rows = [
        [figure.what, figure.paper, figure.here, "" if figure.is_equal else "differs"] for figure in inspection.figures
    ]
    console().print(table(f"{inspection.suite.title} beside the paper", ("", "paper", "here", ""), rows))
    if inspection.differences:
        note(f"{plural(len(inspection.differences), 'figure differs', 'figures differ')} from the paper's inventory")
    _note_missing(inspection.missing_skills)


def _inspection_document(inspection: Inspection) -> dict[str, Any]:
    return {
        "benchmark": inspection.suite.name,
        "paper": [
            {"what": figure.what, "paper": figure.paper, "here": figure.here, "equal": figure.is_equal}
            for figure in inspection.figures
        ],
        "differences": [figure.what for figure in inspection.differences],
        "missing_skills": list(inspection.missing_skills),
    }


def _prepared_document(prepared: PreparedFolder) -> dict[str, Any]:
    inventory = prepared.inventory
    return {
        "suite": prepared.suite.name,
        "folder": str(prepared.folder),
        "tasks": inventory.tasks,
        "families": dict(inventory.groups),
        "skills": list(inventory.skills),
        "bundles": inventory.bundles,
        "edges": inventory.edges,
        "missing_skills": list(prepared.missing_skills),
        "left_out": [asdict(task) for task in prepared.left_out],
        "notes": list(prepared.notes),
        "protocol": prepared.protocol,
    }
