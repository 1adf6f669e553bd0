"""`skilldelta history`: what each version of a skill gained, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import console, note, plain_minus, progress, signed, span, table, write_json
from skilldelta.cli.reading_options import reading_of, reading_options
from skilldelta.cli.settings import GivenPath
from skilldelta.errors import InputError

if TYPE_CHECKING:
    from skilldelta.studies.version_history import VersionGain


@click.command("history")
@click.argument("skill", required=False)
@click.argument("sources", nargs=-1, type=GivenPath(), metavar="[SOURCE…]")
@settings.bank_option
@reading_options
@settings.agent_option
@settings.resamples_option
@settings.seed_option
@settings.document_options
@progress("reading versions")
def command(
    skill: str | None,
    sources: tuple[Path, ...],
    bank: str,
    agent: str | None,
    resamples: int,
    seed: int,
    as_json: bool,
    output: Path | None,
    **options: Any,
) -> None:
    """The gain of every version of a skill, oldest first, with its interval and the change from the version before.

    The versions come from the bank, or from workspaces and other result files that are named: their iterations are
    versions of the skill. Runs without the skill serve every version.

    \b
    skilldelta history my-skill
    skilldelta history my-skill my-skill-workspace/
    skilldelta history my-skill-workspace/
    """
    if skill is not None and not sources and (path := Path(skill)).exists():
        skill, sources = None, (path,)
    history = (
        _of_files(skill, sources, agent, resamples, seed, options)
        if sources
        else _of_bank(skill, bank, agent, resamples, seed)
    )
    if as_json or output:
        from skilldelta.studies.version_history import history_to_dict

        write_json(history_to_dict(history), output)
        return
    show_history(history)


def _of_files(
    skill: str | None, sources: tuple[Path, ...], agent: str | None, resamples: int, seed: int, options: dict[str, Any]
) -> Sequence[VersionGain]:
    from skilldelta.studies import ArmChoice, read_runs
    from skilldelta.studies.version_history import version_history

    defaults, format_ = reading_of(options, sources)
    history: list[VersionGain] = []
    for source in sources:
        recorded = read_runs(source, format=format_, choice=ArmChoice(agent=agent, skill=skill), defaults=defaults)
        for remark in recorded.notes:
            note(remark)
        history += version_history(recorded, skill, resamples=resamples, seed=seed)
    return history


def _of_bank(skill: str | None, bank: str, agent: str | None, resamples: int, seed: int) -> Sequence[VersionGain]:
    from skilldelta.bank import Bank
    from skilldelta.studies.version_history import bank_history

    with Bank.open(bank, create=False) as opened:
        if skill is None:
            names = sorted({one.skill_id for one in opened.skills()})
            if len(names) != 1:
                raise InputError(
                    f"the bank has {len(names)} skills ({', '.join(names[:6])}); name one: skilldelta history NAME"
                )
            skill = names[0]
        return bank_history(opened, skill, agent=agent, resamples=resamples, seed=seed)


def show_history(history: Sequence[VersionGain]) -> None:
    """A table for each agent and skill."""
    out = console()
    for agent, skill in dict.fromkeys((one.agent, one.skill) for one in history):
        own = [one for one in history if (one.agent, one.skill) == (agent, skill)]
        rows = []
        for one in own:
            change = "" if one.change is None else f"{signed(100 * one.change.mean, 1)} ({one.change.tasks})"
            version = one.version[:24] or "not recorded"
            mark = " (newest)" if one.is_newest and len(own) > 1 else ""
            counts = (str(one.mean.tasks), str(one.helped), str(one.harmed))
            rows.append([version + mark, signed(100 * one.mean.mean, 1), span(one.mean.interval), *counts, change])
        titles = ("version", "gain", "95%", "tasks", "helped", "harmed", "change (tasks)")
        out.print(table(f"{skill}, run by {agent}", titles, rows, left=1))
        if any(one.is_newest is None for one in own):
            out.remark(
                plain_minus("No recorded time says which version is the newest; say --newest VERSION."), style="yellow"
            )
    out.remark(
        "Gains are in points, oldest version first; a change is over the tasks that were run before.", style="dim"
    )
