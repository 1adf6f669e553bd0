"""`skilldelta skills`: keep, gate or drop each skill, and which tasks it breaks."""

from __future__ import annotations

import math
import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.arguments import note_left_out, panels_in, settings_in
from skilldelta.cli.output import console, note, percent, plain_minus, progress, signed, span, table, write_json
from skilldelta.cli.reading_options import reading_of, reading_options, typed_reading_options
from skilldelta.cli.settings import GivenPath
from skilldelta.errors import InputError, unknown_name
from skilldelta.nouns import listed, plural
from skilldelta.regular_file import open_regular

if TYPE_CHECKING:
    from skilldelta.bank.importers import Defaults
    from skilldelta.evaluation.skill_verdicts import SkillVerdict
    from skilldelta.studies import JudgedPanel
    from skilldelta.support import Support

_NAMED = 6
_RULINGS = ("keep", "gate", "drop", "no effect", "not enough evidence")
# What --sort orders by; the largest first, names from A to Z.
_ORDERS: dict[str, Callable[[SkillVerdict], Any]] = {
    "verdict": lambda verdict: (_RULINGS.index(verdict.ruling), -verdict.effect.gain, verdict.skill),
    "gain": lambda verdict: (-verdict.effect.gain, verdict.skill),
    "helps": lambda verdict: (-verdict.effect.helps, verdict.skill),
    "tokens": lambda verdict: (-(verdict.points_per_1000_tokens or -math.inf), verdict.skill),
    "tasks": lambda verdict: (-verdict.mean.tasks, verdict.skill),
    "name": lambda verdict: verdict.skill,
}


@click.command("skills")
@click.argument("sources", nargs=-1, type=GivenPath(), metavar="[SOURCE…]")
@settings.panel_options
@reading_options
@click.option(
    "--skill",
    type=settings.NameInBank("skill"),
    metavar="NAME",
    help="Only this skill (of files NAME or NAME@VERSION), with the tasks that it breaks.",
)
@click.option(
    "--sort",
    type=click.Choice(list(_ORDERS)),
    default="verdict",
    help="Order of the skills: by verdict and gain, gain, chance to help, points per 1,000 tokens, tasks, or name.",
)
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="Only the first N skills of each panel.")
@settings.exclude_options
@settings.corrections_option
@settings.interval_options
@settings.document_options
@progress("judging skills")
def command(
    sources: tuple[Path, ...],
    bank: str,
    skill: str | None,
    sort: str,
    top: int | None,
    as_json: bool,
    output: Path | None,
    **options: Any,
) -> None:
    """Keep, gate, drop or no effect: a verdict on each skill, with the tasks that it breaks and what skipping would buy.

    A SOURCE is a workspace, a log, a table or a bank: it needs no bank and no agent's name. Without one, the bank is judged.

    Gains and 95% intervals take in what the other skills show, so that many skills do not make one look good by chance.
    Gate means that the gate beats always using the skill on tasks that it had not seen, or that the skill harms some
    families (exact sign test, false-discovery rate 5% over all families). "Not enough evidence" is a verdict.

    \b
    skilldelta skills my-skill-workspace/
    skilldelta skills results.xlsx --percent
    skilldelta skills --bank skilldelta.bank
    """
    from skilldelta.studies import SkillSettings, judge_skills, judged_to_dict
    from skilldelta.studies.skill_study import summary_line

    if not options["resamples"]:
        raise InputError("--resamples 0 leaves no interval to judge by; give at least 100")
    typed = typed_reading_options(click.get_current_context())
    defaults, format_ = reading_of(options, sources)
    if sources:
        _judge_files(sources, skill, defaults, format_, options, typed, as_json=as_json, output=output)
        return
    panels = panels_in(bank, options)
    note_left_out(panels)
    judged = judge_skills(panels, settings_in(options, SkillSettings))
    if skill is not None:
        judged = _of_skill(judged, skill)
    summary = summary_line(judged)
    judged = tuple(replace(panel, verdicts=tuple(sorted(panel.verdicts, key=_ORDERS[sort])[:top])) for panel in judged)
    if as_json or output:
        write_json({"summary": summary, "panels": [judged_to_dict(panel) for panel in judged]}, output)
        return
    console().print(summary, style="bold")
    for panel in judged:
        _show(panel, with_tasks=skill is not None)


def _judge_files(
    sources: tuple[Path, ...],
    skill: str | None,
    defaults: Defaults,
    format_: str,
    options: dict[str, Any],
    typed: str,
    *,
    as_json: bool,
    output: Path | None,
) -> None:
    """One screen per source: the verdict on each skill, what it costs, what it harms, and what to type next."""
    from skilldelta.studies import ArmChoice, SkillSettings, judge_skills, judged_to_dict, read_runs
    from skilldelta.studies.compared_side import RecordedRuns, bank_runs
    from skilldelta.studies.file_panels import file_panels
    from skilldelta.studies.version_history import version_history

    documents = []
    for source in sources:
        choice = ArmChoice(agent=options["agent"], skill=skill, suite=options["suite"])
        if is_bank(source):
            from skilldelta.bank import Bank

            with Bank.open(str(source), create=False) as bank:
                recorded: RecordedRuns = bank_runs(bank, choice)
        else:
            recorded = read_runs(source, format=format_, choice=choice, defaults=defaults)
        for remark in recorded.notes:
            note(remark)
        if recorded.unsure_newest and not (skill and "@" in skill):
            from skilldelta.cli.history import show_history
            from skilldelta.studies.version_history import history_to_dict

            history = version_history(recorded, seed=options["seed"], resamples=options["resamples"])
            if as_json or output:
                documents.append({"source": str(source), **history_to_dict(history)})
            else:
                show_history(history)
            continue
        judged = judge_skills(file_panels(recorded, skill), settings_in(options, SkillSettings))
        if skill is not None:
            judged = _of_skill(judged, skill.partition("@")[0])
        if as_json or output:
            documents += [{"source": str(source), **judged_to_dict(panel)} for panel in judged]
            continue
        for panel in judged:
            _show_screen(panel, source, typed)
    if as_json or output:
        write_json({"panels": documents}, output)


def is_bank(path: Path) -> bool:
    """Whether a file is a bank."""
    try:
        with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as file:  # a pipe would wait for a writer
            return file.read(15) == b"SQLite format 3"
    except OSError:
        return False


def _show_screen(judged: JudgedPanel, source: Path, typed: str) -> None:
    from skilldelta.report.skill_list import certainty_words, cost_words, harm_words, skill_reason
    from skilldelta.studies.compared_side import UNNAMED

    out, support = console(), judged.panel.support
    for verdict in judged.verdicts:
        mean = verdict.mean
        recorded = f"{signed(100 * mean.mean, 1)} points over {plural(mean.tasks, 'task')}"
        expected = f"{signed(100 * verdict.effect.gain, 1)} to expect of new tasks (95%: {span(verdict.interval)})"
        who = f" ({judged.panel.agent.name})" if judged.panel.agent.name != UNNAMED else ""
        out.print(f"{verdict.skill}{who}: {verdict.ruling}, {certainty_words(verdict)}", style="bold")
        out.remark(plain_minus(f"gain {recorded}, {expected}; {skill_reason(verdict)}"))
        out.remark(
            plain_minus(
                f"{verdict.helped} helped, {verdict.harmed} harmed; {cost_words(judged.panel.support, verdict)}"
            )
        )
        for line in harm_words(support, verdict, _NAMED):
            out.remark(plain_minus(line), indent=4)
        out.remark(f"next: {_next_command(verdict, source, typed)}", style="dim")
        out.print("")


def _next_command(verdict: SkillVerdict, source: Path, typed: str) -> str:
    path = f"{shlex.quote(str(source))}{typed}"
    if verdict.ruling == "not enough evidence":
        return f"skilldelta compare {path} --skill {shlex.quote(verdict.skill)} shows every task; run more tasks in both arms to settle it"
    if verdict.ruling == "gate":
        return (
            f"skilldelta import {path} --agent NAME, then skilldelta predict --skill {shlex.quote(verdict.skill)} TEXT"
        )
    return f"skilldelta check {path} --skill {shlex.quote(verdict.skill)} holds it in CI"


def _of_skill(judged: Sequence[JudgedPanel], skill: str) -> tuple[JudgedPanel, ...]:
    """The panels that judge the skill, without their other verdicts."""
    narrowed = [replace(panel, verdicts=tuple(v for v in panel.verdicts if v.skill == skill)) for panel in judged]
    present = tuple(panel for panel in narrowed if panel.verdicts)
    if not present:
        raise unknown_name("skill", skill, {str(name) for panel in judged for name in panel.panel.support.skills})
    return present


def _show(judged: JudgedPanel, *, with_tasks: bool) -> None:
    from skilldelta.report.skill_list import skill_sentence
    from skilldelta.studies.status_quo_study import status_quo, status_quo_words

    out, support = console(), judged.panel.support
    title = f"{judged.panel.title}: {plural(len(judged.verdicts), 'skill')}"
    rows = [_row(verdict) for verdict in judged.verdicts]
    columns = ("skill", "verdict", "points", "95%", "helps", "per 1k", "tasks", "helped", "harmed")
    out.print(table(title, columns, rows, left=2))
    for verdict in judged.verdicts:
        out.remark(plain_minus(f"{verdict.skill}: {skill_sentence(verdict)}"))
        measured = status_quo(judged.panel, verdict.skill, seed=judged.settings.seed, draws=judged.settings.resamples)
        for line in status_quo_words(measured) if measured is not None else ():
            out.remark(plain_minus(line), indent=4)
        if verdict.harmed:
            for line in _harm_lines(support, verdict, with_tasks=with_tasks):
                out.remark(plain_minus(line), indent=4, style="dim")
    out.remark(
        "Points: change of success in percentage points, with its 95% interval, after the other skills had their say. Helps: "
        "the chance that the true change is above zero. Per 1k: points per 1,000 tokens that the skill adds. Families: exact "
        "sign test, false-discovery rate 5% over all families. Held out: each task is decided by other tasks only.",
        style="dim",
    )
    out.print("")


def _row(one: SkillVerdict) -> list[str]:
    verdict = "not enough" if one.ruling == "not enough evidence" else one.ruling
    # What a token buys is noise until the gain is known.
    price = one.points_per_1000_tokens if one.ruling in ("keep", "gate", "drop") else None
    counts = (str(one.mean.tasks), str(one.helped), str(one.harmed))
    return [
        one.skill,
        verdict,
        signed(100 * one.effect.gain, 1),
        span(one.interval),
        percent(one.effect.helps, 0),
        "–" if price is None else signed(price, 1),
        *counts,
    ]


def _harm_lines(support: Support, verdict: SkillVerdict, *, with_tasks: bool) -> list[str]:
    """What a skill breaks and what skipping would buy; with its tasks by name where one skill was asked for."""
    from skilldelta.report.skill_list import skipping_words

    tasks = verdict.mean.tasks
    lines = [
        f"held out, a rule by family {skipping_words(verdict.skip_by_family, tasks)}; "
        f"one by nearest tasks {skipping_words(verdict.skip_by_neighbors, tasks)}"
    ]
    if not with_tasks:
        return lines
    for family in verdict.families:
        broken = [str(support.task_ids[row]) for row in family.rows if support.gains[row] < 0]
        if broken:
            name = family.family or "no family"
            gain = f"{signed(100 * family.gain, 1)} points over {plural(family.tasks, 'task')}"
            lines.append(f"{name} ({family.effect}, {gain}): {listed(broken, _NAMED)}")
    for number, group in enumerate(verdict.groups, start=1):
        ids = [str(support.task_ids[row]) for row in group.rows]
        nearby = "no other task" if group.nearby_gain is None else f"{signed(100 * group.nearby_gain, 1)} points"
        lines.append(f"group {number} of alike tasks, nearby {nearby}: {listed(ids, _NAMED)}")
    return lines
