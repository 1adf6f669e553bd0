"""`skilldelta compare`: two runs task by task, from any result files or from a bank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from skilldelta.cli import settings
from skilldelta.cli.arguments import command_line, created_now, settings_in
from skilldelta.cli.output import console, file_labels, note, plain_minus, progress, signed, table, write_json
from skilldelta.cli.reading_options import reading_of, reading_options
from skilldelta.cli.settings import GivenPath, OutputPath
from skilldelta.cli.step_summary import step_summary_option, write_markdown
from skilldelta.errors import InputError, unknown_name
from skilldelta.redaction import redacted

if TYPE_CHECKING:
    from skilldelta.evaluation.paired_comparison import TaskDifference
    from skilldelta.records import Condition
    from skilldelta.report.comparison_words import ComparisonReport
    from skilldelta.studies import ArmChoice, ComparedSide, RecordedRuns


@click.command("compare")
@click.argument("sides", nargs=-1, type=GivenPath(), metavar="[A [B]]")
@settings.bank_option
@click.option("--agent", envvar="SKILLDELTA_AGENT", metavar="NAME", help="The agent; needed where there are several.")
@click.option(
    "--skill", metavar="NAME[@DIGEST]", help="The skill, or one version of it; needed where a task has several."
)
@settings.suite_option
@click.option(
    "--condition",
    type=click.Choice(["use", "skip"]),
    help="Which arm of A and B is compared: with the skill (the default where both are there) or without.",
)
@reading_options
@click.option(
    "--allow-changed-tasks", is_flag=True, help="Pair tasks of the same id though their texts differ between A and B."
)
@settings.margin_option
@click.option(
    "--level",
    type=click.FloatRange(0.5, 0.9999),
    default=0.95,
    help="How sure an interval is to hold the truth.",
)
@settings.resamples_option
@settings.seed_option
@click.option("--show", type=click.IntRange(min=0), default=10, help="Tasks to list each way; --json has all.")
@click.option("--markdown", type=OutputPath(), metavar="FILE", help="Also write Markdown, for a pull request.")
@click.option("--html", type=OutputPath(), metavar="FILE", help="Also write one HTML page.")
@step_summary_option
@settings.document_options
@click.pass_context
@progress("comparing")
def command(ctx: click.Context, /, sides: tuple[Path, ...], as_json: bool, output: Path | None, **options: Any) -> None:
    """B against A, task by task: the difference, its interval, exact tests, tokens and cost, the tasks that flipped.

    A and B are result files or folders of any format that import reads, or, in a bank, two agents, two skills, or two
    versions of a skill as NAME@DIGEST. With one source, or with a bank alone, the run with the skill (B) is compared
    with the one without (A). Files need no bank.

    \b
    skilldelta compare without.jsonl with.jsonl --markdown comment.md
    skilldelta compare pairs.jsonl --html comparison.html
    skilldelta compare --bank skilldelta.bank small-model large-model
    """
    from skilldelta.studies import ComparisonSettings, compare_sides, compared_to_dict, comparison_report

    if len(sides) > 2:
        raise InputError(f"compare takes two sides, got {len(sides)}: {', '.join(map(str, sides[:4]))}")
    names = [str(side) for side in sides]
    options["said"], options["format_"] = reading_of(options, sides)
    a, b = _sides(ctx, names, options)
    for remark in dict.fromkeys((*a.notes, *b.notes)):
        note(remark)
    compared = compare_sides(a, b, settings_in(options, ComparisonSettings))
    report = comparison_report(compared, command=command_line(ctx, names), created=created_now())
    _write(report, options)
    if as_json or output:
        write_json(compared_to_dict(compared), output)
        return
    _show(report, options["show"])


def _sides(ctx: click.Context, sides: Sequence[str], options: dict[str, Any]) -> tuple[ComparedSide, ComparedSide]:
    from skilldelta.studies import ArmChoice, both_arms, one_side, read_runs

    choice = ArmChoice(options["agent"], options["skill"], options["suite"], options["condition"])
    is_file = [_is_file(side) for side in sides]
    if not sides or not any(is_file):
        return _bank_sides(ctx, sides, choice, options["bank"])
    if not all(is_file):
        raise InputError(f"{sides[is_file.index(False)]}: there is no such file; check the path")
    if options["condition"] and len(sides) == 1:
        raise InputError("--condition chooses the arm of two sides; with one source both arms are compared")
    paths = [Path(side) for side in sides]
    if len(paths) == 1:
        return both_arms(_both_in(paths[0], options, choice), choice)
    labels = file_labels(paths)
    arms: tuple[Condition, Condition] = ("skip", "use")
    found = [
        one_side(
            read_runs(path, format=options["format_"], choice=choice, stands_for=arm, defaults=options["said"]),
            choice,
            label=label,
        )
        for path, label, arm in zip(paths, labels, arms, strict=True)
    ]
    return found[0], found[1]


def _both_in(path: Path, options: dict[str, Any], choice: ArmChoice) -> RecordedRuns:
    """One source that should hold both arms; where its runs do not say theirs, the other file is what is missing."""
    from skilldelta.bank.importers import UnsaidError
    from skilldelta.studies import read_runs

    try:
        return read_runs(path, format=options["format_"], choice=choice, defaults=options["said"])
    except UnsaidError as error:
        options_to_add = " ".join(question.option for question in error.questions[:4])
        raise InputError(
            f"{path}: its runs do not say whether the skill was used; say {options_to_add}, or name the file of the other arm, too"
        ) from None
    except InputError:
        # A table of one arm reads well once its arm is known; any other fault is raised again.
        read_runs(path, format=options["format_"], choice=choice, stands_for="use", defaults=options["said"])
        raise InputError(
            f"{path}: its runs do not say whether the skill was used; name the file of the other arm, too"
        ) from None


def _is_file(side: str) -> bool:
    try:
        return Path(side).exists()
    except (OSError, ValueError):  # a name that is too long, or holds a null character
        return False


def _bank_sides(
    ctx: click.Context, sides: Sequence[str], choice: ArmChoice, location: str
) -> tuple[ComparedSide, ComparedSide]:
    """Both arms of a bank, or two agents, skills or versions of it by name."""
    from skilldelta.bank import Bank
    from skilldelta.studies import bank_runs, both_arms, one_side

    if len(sides) == 1:
        raise InputError(f"{sides[0]}: there is no such file; check the path, or name two sides of a bank")
    if sides and ctx.get_parameter_source("bank") is ParameterSource.DEFAULT and not _is_file(location):
        raise InputError(f"{sides[0]}: there is no such file; check the path, or say --bank to compare names of a bank")
    with Bank.open(location, create=False) as bank:
        if not sides:
            return both_arms(_named(bank_runs(bank, choice), location), choice)
        choices = [_named_choice(bank, side, choice) for side in sides]
        found = [
            one_side(_named(bank_runs(bank, own), location), own, label=side)
            for side, own in zip(sides, choices, strict=True)
        ]
    return found[0], found[1]


def _named(recorded: RecordedRuns, location: str) -> RecordedRuns:
    return replace(recorded, label=redacted(location).rpartition("/")[2])


def _named_choice(bank: Any, name: str, choice: ArmChoice) -> ArmChoice:
    """The choice with the agent, the skill or the version that a side names."""
    agents = {label for agent in bank.agents() for label in (agent.name, f"{agent.name}@{agent.fingerprint}")}
    skills = {skill.skill_id for skill in bank.skills()}
    if name in skills or name.partition("@")[0] in skills:
        return replace(choice, skill=name)
    if name in agents or name.partition("@")[0] in agents:
        return replace(choice, agent=name)
    raise unknown_name("agent or skill", name, {*skills, *(agent.name for agent in bank.agents())})


def _write(report: ComparisonReport, options: dict[str, Any]) -> None:
    from skilldelta.report.comparison_words import comparison_markdown

    if options["html"]:
        from skilldelta.report.comparison_page import write_comparison

        write_comparison(report, options["html"])
        note(f"wrote {options['html']}")
    write_markdown(options, lambda: comparison_markdown(report))


def _show(report: ComparisonReport, most: int) -> None:
    from skilldelta.report.comparison_words import comparison_facts, comparison_headline

    out, comparison = console(), report.comparison
    out.print(f"A: {report.a}\nB: {report.b}\n")
    width = max(len(fact.title) for fact in comparison_facts(report))
    for fact in comparison_facts(report):
        out.hanging(f"{fact.title:<{width}}", plain_minus(fact.text))
    out.print("")
    if most and (worse := comparison.flipped("worse")):
        out.print(_tasks("Worse with B", worse, most))
    if most and (better := comparison.flipped("better")):
        out.print(_tasks("Better with B", better, most))
    for warning in report.warnings:
        out.print(f"warning: {warning}", style="yellow")
    out.print(plain_minus(comparison_headline(comparison).text), style="bold")


def _tasks(title: str, tasks: Sequence[TaskDifference], most: int) -> Any:
    from skilldelta.report.numbers import outcome_words

    names = _short([task.task_id for task in tasks[:most]])
    rows = [
        [
            name,
            outcome_words(task.a, task.runs_a, task.passed_a),
            outcome_words(task.b, task.runs_b, task.passed_b),
            signed(100 * task.delta, 0),
            "flipped" if task.is_flipped else "",
        ]
        for name, task in zip(names, tasks, strict=False)
    ]
    counted = f"{title}: {len(tasks)}" + (f", {most} shown" if len(tasks) > most else "")
    return table(counted, ("task", "A", "B", "points", ""), rows)


def _short(names: Sequence[str]) -> list[str]:
    """Task ids without the folders that all of them have: what tells them apart is at their end."""
    first, last = min(names, default=""), max(names, default="")
    shared = next((i for i, (letter, other) in enumerate(zip(first, last, strict=False)) if letter != other), 0)
    start = first.rfind("/", 0, shared) + 1
    return [f"…/{name[start:]}" for name in names] if start > len("…/") else list(names)
