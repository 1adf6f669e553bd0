"""`skilldelta bank`: what is in the bank; integrity, export, removal."""

from __future__ import annotations

import time
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from skilldelta.cli import settings
from skilldelta.cli.output import (
    answer,
    confirm,
    console,
    note,
    number,
    percent,
    progress,
    shorten,
    signed,
    table,
    write_json,
)
from skilldelta.cli.remote import remote_of, server_option, status_of
from skilldelta.cli.settings import GivenPath, OutputPath
from skilldelta.errors import InputError, unknown_name
from skilldelta.nouns import plural
from skilldelta.redaction import redacted

_COMMANDLINE = ParameterSource.COMMANDLINE

if TYPE_CHECKING:
    from rich.console import Group

    from skilldelta.bank import Bank, BankStatus
    from skilldelta.bank.forget import Foreseen, Forgotten, Removal
    from skilldelta.records import Agent


@click.group("bank")
def command() -> None:
    """What is in the bank; integrity; export; removal."""


@command.command("status")
@settings.bank_option
@server_option
@settings.json_option
@click.pass_context
def status(ctx: click.Context, /, bank: str, server: str | None, as_json: bool) -> None:
    """Counts of everything in the bank, and its panels (agent × suite)."""
    remote = remote_of(ctx, server)
    if remote is not None:
        bank_status = remote.read(partial(status_of, remote.url), remote.ask("/v1/bank"))
    else:
        with _open(bank) as opened:
            bank_status = opened.status()
    if as_json:
        write_json(asdict(bank_status))
    else:
        _show_status(bank_status)


@command.command("list")
@settings.bank_option
@settings.agent_option
@settings.suite_option
@click.option("--skill", type=settings.NameInBank("skill"), metavar="NAME", help="Only pairs of this skill.")
@click.option("--family", help="Only pairs of this family.")
@click.option("--limit", type=click.IntRange(min=1), default=20, help="Rows to show; --json shows all.")
@settings.json_option
def list_pairs(
    bank: str, agent: str | None, suite: str | None, skill: str | None, family: str | None, limit: int, as_json: bool
) -> None:
    """The pairs: each task without and with its skill."""
    with _open(bank) as opened:
        chosen = opened.resolve_agent(agent)
        skill_id = opened.resolve_skill(skill).skill_id if skill else None
        pairing = opened.pairing(agent=chosen, suite=suite, skill_id=skill_id, family=family)
        texts = {(task.suite, task.task_id): task.text for task in opened.tasks()}
    if as_json:
        write_json({"pairs": [{**asdict(pair), "gain": pair.gain} for pair in pairing.pairs]})
        return
    rows = [
        [
            shorten(pair.task_id, 28),
            shorten(texts[pair.suite, pair.task_id], 34),
            shorten(pair.skill_id if pair.family in ("", pair.skill_id) else f"{pair.family} / {pair.skill_id}", 26),
            f"{percent(pair.y0, 0)} → {percent(pair.y1, 0)}",
            signed(pair.gain, 2),
            f"{pair.r0}/{pair.r1}",
        ]
        for pair in pairing.pairs[:limit]
    ]
    columns = ("task", "text", "family / skill", "without → with", "gain", "runs")
    console().print(table(f"{plural(len(pairing.pairs), 'pair')} of {chosen.name}", columns, rows, left=3))
    if len(pairing.pairs) > limit:
        note(f"{len(pairing.pairs) - limit:,} more; raise --limit or use --json")


@command.command("add-skill")
@click.argument("name")
@click.argument("path", type=GivenPath())
@click.option("--new-version", is_flag=True, help="The skill has changed: evidence of earlier texts becomes stale.")
@settings.bank_option
@settings.json_option
def add_skill(name: str, path: Path, new_version: bool, bank: str, as_json: bool) -> None:
    """Store the text of a skill, which the relevance control compares with the tasks.

    PATH is a SKILL.md, or a folder that holds one. What stands below the front matter is the text; scripts, references and
    other files of the folder belong to the version.
    """
    from skilldelta.bank.skill_versions import add_skill_text, read_skill_text
    from skilldelta.skill_folder import files_beside

    text, beside = read_skill_text(path), files_beside(path)
    with _open(bank) as opened:
        added = add_skill_text(opened, name, text, beside=beside, new_version=new_version)
    answer(added.in_words(), asdict(added), as_json=as_json)


@command.command("verify")
@settings.bank_option
@settings.json_option
def verify(bank: str, as_json: bool) -> int:
    """Check integrity, digests and orphan rows; exit code 1 if anything is wrong."""
    with _open(bank) as opened:
        problems = opened.verify()
    if as_json:
        write_json({"bank": redacted(bank), "problems": problems})
    else:
        out = console()
        for problem in problems:
            out.print(problem, soft_wrap=True)
        verdict = plural(len(problems), "problem") if problems else "no problem found"
        out.print(f"{redacted(bank)}: {verdict}", soft_wrap=True)
    return 1 if problems else 0


@command.command("use")
@settings.bank_option
@click.option(
    "--agent", type=settings.NameInBank("agent"), metavar="NAME", help="The agent that is meant where none is named."
)
@click.option(
    "--suite",
    type=settings.NameInBank("suite"),
    metavar="NAME",
    help="The suite that is meant where none is named, and a skill has evidence in several.",
)
@settings.json_option
def use(bank: str, agent: str | None, suite: str | None, as_json: bool) -> None:
    """Choose the agent and the suite that are meant where none is named. Without an option: show them.

    At first these are the first agent and the first suite that arrived.
    """
    from skilldelta.bank.reading import label

    with _open(bank) as opened:
        if agent is None and suite is None:
            chosen = opened.defaults()
        else:
            chosen = opened.use(agent=opened.resolve_agent(agent) if agent else None, suite=suite)
    agent_name = label(chosen.agent) if chosen.agent else "none yet"
    answer(f"agent: {agent_name}, suite: {chosen.suite or 'none yet'}", asdict(chosen), as_json=as_json)


@command.command("upgrade")
@settings.bank_option
@settings.yes_option
@settings.json_option
def upgrade(bank: str, yes: bool, as_json: bool) -> None:
    """Bring a bank of an older schema version to the newest one. Nothing else ever does.

    A file is copied first, to a name beside it that is printed. A bank on a server is not: dump it first. Older versions
    of SkillDelta cannot open an upgraded bank.
    """
    from skilldelta.bank.backup import dump_command, upgrade_bank

    if "://" in bank and not yes:
        copy = f"Keep a copy first, with: {dump_command(bank)}"
        confirm(f"{copy}\nUpgrade {redacted(bank)} now?", otherwise=f"{copy};")
    result = upgrade_bank(bank)
    if result.old_version == result.new_version:
        line = f"{result.location} has schema version {result.new_version}, the newest one; nothing was changed"
    else:
        line = f"{result.location} was upgraded from schema version {result.old_version} to {result.new_version}"
        line += f"; the bank as it was is kept in {result.copy}" if result.copy else ""
    answer(line, {**asdict(result), "copy": result.copy and str(result.copy)}, as_json=as_json)


@command.command("backup")
@settings.bank_option
@click.option("--output", required=True, type=OutputPath(), metavar="FILE", help="The new file to write.")
@settings.json_option
def backup(bank: str, output: Path, as_json: bool) -> None:
    """Copy a bank that may be in use to a new file, as it is at one moment.

    The copy of a SQLite bank is a bank itself. A PostgreSQL bank is copied by pg_dump.
    """
    from skilldelta.bank.backup import backup_bank

    size = backup_bank(bank, output)
    answer(
        f"{redacted(bank)} was copied to {output} ({f'{size / 1e6:,.1f} MB' if size >= 1e5 else f'{size / 1e3:,.0f} kB'})",
        {"bank": redacted(bank), "output": str(output), "size_bytes": size},
        as_json=as_json,
    )


@command.command("restore")
@click.argument("source", metavar="BACKUP", type=GivenPath())
@settings.bank_option
@settings.yes_option
@settings.json_option
def restore(source: Path, bank: str, yes: bool, as_json: bool) -> None:
    """Put a backup in the place of the bank, or where there is none.

    A file that is replaced is kept beside the bank, under a name that is printed. On a server it is replaced for good.
    """
    from skilldelta.bank.backup import restore_bank

    if not yes and ("://" in bank or Path(bank).expanduser().exists()):
        question = f"This puts {source} in the place of {redacted(bank)}.\nReplace the bank?"
        confirm(question, otherwise=f"this would replace {redacted(bank)};")
    result = restore_bank(source, bank)
    replaced = f"; the bank that was there is kept in {result.replaced}" if result.replaced else ""
    line = f"{source} was restored to {result.location} (schema version {result.schema_version}){replaced}"
    answer(line, {**asdict(result), "replaced": result.replaced and str(result.replaced)}, as_json=as_json)


@command.command("export")
@settings.panel_options
@click.option(
    "--format",
    "format_",
    type=click.Choice(["jsonl", "npz", "decisions"]),
    default="jsonl",
    help="jsonl: executions; npz: the arrays of one panel; decisions: the decision log.",
)
@click.option("--output", required=True, type=OutputPath(), metavar="FILE", help="The file to write.")
def export(bank: str, format_: str, output: Path, **options: Any) -> None:
    """Write executions as runs.jsonl, one panel's arrays with vectors as NPZ, or decisions with their outcomes as JSONL."""
    from skilldelta.bank.export import export_decisions, export_panel, export_runs
    from skilldelta.cli.arguments import choice_of, chosen_encoder, known_suite
    from skilldelta.studies.loaded_panel import only_records

    with _open(bank) as opened:
        if format_ == "decisions":
            count = export_decisions(opened, output)
            note(f"{plural(count, 'decision')} written to {output}")
            return
        if format_ == "npz":
            panel = only_records(opened, choice_of(options))
            with progress("encoding") as advance:
                count = export_panel(
                    opened,
                    output,
                    chosen_encoder(opened, options),
                    agent=panel.agent,
                    suite=panel.suite,
                    progress=advance,
                )
            note(f"{plural(count, 'pair')} written to {output}")
            return
        agent = opened.resolve_agent(options["agent"]) if options["agent"] else None
        count = export_runs(opened, output, agent=agent, suite=known_suite(opened, options["suite"]))
    note(f"{plural(count, 'execution')} written to {output}")


@command.command("forget")
@settings.bank_option
@settings.agent_option
@settings.suite_option
@click.option("--skill", type=settings.NameInBank("skill"), metavar="NAME", help="Forget this skill's executions.")
@click.option("--task-id", help="Forget this task.")
@click.option("--before", metavar="DATE", help="Forget what was recorded before this date, like 2026-01-31.")
@click.option(
    "--decisions", is_flag=True, help="Forget decisions of the log with their outcomes, instead of executions."
)
@click.option(
    "--older-than", type=click.FloatRange(0), metavar="DAYS", help="With --decisions: only those of this age."
)
@settings.yes_option
@settings.json_option
def forget(bank: str, decisions: bool, older_than: float | None, yes: bool, as_json: bool, **options: Any) -> None:
    """Remove the executions that fit every given filter. This cannot be undone; export first.

    With --decisions, the decision log loses what was decided before a date, or is older than some days, or everything.
    """
    if older_than is not None and not decisions:
        raise InputError("--older-than belongs to --decisions; executions are forgotten by --before DATE")
    before = _moment(options["before"]) if options["before"] else None
    if decisions:
        of_command = click.get_current_context().get_parameter_source
        others = [name for name in ("agent", "suite", "skill", "task_id") if of_command(name) is _COMMANDLINE]
        if others or (before is not None and older_than is not None):
            raise InputError("--decisions goes with --before DATE or --older-than DAYS, and with no other filter")
        _forget_decisions(bank, before if older_than is None else time.time() - older_than * 86_400, yes, as_json)
        return
    from skilldelta.bank import forget

    with _open(bank) as opened:
        removal = _removal(opened, before, options)
        affected = _counted(opened.foreseen(removal))
        if affected and not yes:
            _agree(affected)
        gone = opened.remove(removal) if affected else forget.Forgotten()
    removed = f"{_counted(gone)} removed" if affected else "nothing in the bank fits these filters; nothing was removed"
    answer(removed, asdict(gone), as_json=as_json)


def _removal(opened: Bank, before: float | None, options: dict[str, Any]) -> Removal:
    """What the filters name; a name that the bank does not have is refused."""
    from skilldelta.bank.forget import Removal
    from skilldelta.cli.arguments import known_suite

    agent, skill, task_id = options["agent"], options["skill"], options["task_id"]
    suite = known_suite(opened, options["suite"])
    if task_id and all(task.task_id != task_id for task in opened.tasks()):
        raise unknown_name("task", task_id, (task.task_id for task in opened.tasks()))
    return Removal(
        agent=opened.resolve_agent(agent) if agent else None,
        suite=suite,
        skill_id=opened.resolve_skill(skill).skill_id if skill else None,
        task_id=task_id,
        before=before,
    )


def _forget_decisions(bank: str, before: float | None, yes: bool, as_json: bool) -> None:
    with _open(bank) as opened:
        affected = opened.count_decisions(before)
        if affected and not yes:
            _agree(plural(affected, "decision"))
        gone = opened.forget_decisions(before) if affected else 0
    removed = f"{plural(gone, 'decision')} removed" if affected else "the log has no such decision; nothing was removed"
    answer(removed, {"decisions": gone}, as_json=as_json)


def _agree(affected: str) -> None:
    question = f"This removes {affected}. It cannot be undone.\nRemove them for good?"
    confirm(question, otherwise=f"this would remove {affected};")


def _counted(rows: Foreseen | Forgotten) -> str:
    """What there is to remove, in words; empty where there is nothing."""
    return ", ".join(plural(count, name.removesuffix("s")) for name, count in asdict(rows).items() if count)


def _open(bank: str) -> Bank:
    from skilldelta.bank import Bank

    return Bank.open(bank, create=False)


def _moment(date: str) -> float:
    try:
        return datetime.fromisoformat(date).timestamp()
    except ValueError:
        raise InputError(f"{date!r} is not a date; write it like 2026-01-31") from None


def _show_status(status: BankStatus) -> None:
    from skilldelta.bank.migrations import LATEST
    from skilldelta.studies.loaded_panel import label_of

    out = console()
    executions = sum(status.executions.values())
    size = f"{status.size_bytes / 1e6:,.1f} MB, schema {status.schema_version}"
    out.print(f"{status.location}  {status.backend}, {size}", style="bold", soft_wrap=True)
    out.print(
        f"{plural(executions, 'execution')} of {plural(status.tasks, 'task')} by {plural(status.agents, 'agent')}, "
        f"{plural(status.skills, 'skill')} in {plural(status.skill_versions, 'version')}, "
        f"{plural(status.decisions, 'decision')}"
    )
    if status.schema_version < LATEST:
        note(f"schema version {status.schema_version} can only be read; write to it after: skilldelta bank upgrade")
    uncounted = {name: count for name, count in status.executions.items() if name != "completed" and count}
    if uncounted:
        out.print("not counted: " + ", ".join(f"{count:,} {name}" for name, count in uncounted.items()))
    for encoder, count in status.vectors.items():
        out.print(f"{plural(count, 'vector')} of {encoder}")
    if status.learned.states:
        states = plural(status.learned.states, "learned state")
        out.print(f"{states} kept for the next prediction, {status.learned.size_bytes / 1e6:,.1f} MB")
    agents = list(dict.fromkeys(panel.agent for panel in status.panels))
    columns = ("agent", "suite", "pairs", "lack an arm", "stale", "executions")
    rows = []
    for panel in status.panels:
        counts = (panel.pairs, panel.unpaired, panel.stale, panel.executions)
        rows.append([label_of(panel.agent, agents), panel.suite, *map(number, counts)])
    if rows:
        out.print(table("Panels", columns, rows, left=2))
        out.print(_coverage_table(status, agents))


def _coverage_table(status: BankStatus, agents: list[Agent]) -> Group:
    """Group sizes, groups of one task, which have no support, and bundles: the paper's structure of a panel."""
    from skilldelta.studies.loaded_panel import label_of

    columns = ("agent", "suite", "groups", "smallest", "median", "largest", "singletons", "skills", "bundles", "edges")
    rows = []
    for panel in status.panels:
        figures = [f"{getattr(panel.coverage, name):,g}" for name in columns[2:]]
        rows.append([label_of(panel.agent, agents), panel.suite, *figures])
    return table("Groups of tasks", columns, rows, left=2)
