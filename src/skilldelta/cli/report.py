"""`skilldelta report`: the evaluation of a bank as one HTML file with figures, tables and plain words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.arguments import command_line, created_now, gate_of, panels_of
from skilldelta.cli.evaluate import run_evaluation, settings_of
from skilldelta.cli.output import note, progress, steps, write_json
from skilldelta.cli.reading_options import reading_of, reading_options
from skilldelta.cli.settings import GivenPath, OutputPath
from skilldelta.errors import InputError
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.bank import Bank
    from skilldelta.studies import Evaluated, WrittenReport
    from skilldelta.studies.version_history import VersionGain


@click.command("report")
@click.argument("sources", nargs=-1, type=GivenPath(), metavar="[SOURCE…]")
@settings.evaluation_options
@reading_options
@click.option(
    "--skill",
    metavar="NAME",
    help="The skill, for what the files of a SOURCE do not say; NAME@VERSION is that version.",
)
@click.option("--output", type=OutputPath(), default="report.html", metavar="FILE", help="Where to write the report.")
@click.option("--png", type=OutputPath(folder=True), metavar="DIR", help="Also write the figures as images.")
@settings.json_option
@click.pass_context
@progress("writing the report")
def command(
    ctx: click.Context,
    /,
    sources: tuple[Path, ...],
    bank: str,
    gate: str | None,
    output: Path,
    png: Path | None,
    skill: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Evaluate every panel of the bank and write one HTML file: summary, figures, tables, tasks, and how it was made.

    A SOURCE is a workspace, a log or a table: its runs are evaluated without a bank. A skill of several versions has a table
    of what each of them gained.

    The summary is about the gate that the options describe; --gate also takes the name of another policy of the table.
    The file loads nothing from anywhere; it can be mailed, archived and opened offline.
    """
    from skilldelta.bank import Bank
    from skilldelta.cli.setting_sources import named_gates
    from skilldelta.estimators.registry import policy_entry
    from skilldelta.report.vega import require_plots
    from skilldelta.studies import ArmChoice, read_runs
    from skilldelta.studies.file_panels import file_panels
    from skilldelta.studies.version_history import version_history

    require_plots()  # before minutes of evaluation, not after
    command_words, policy = command_line(ctx), None
    if gate is not None and gate not in named_gates(ctx):
        policy, ctx.params["gate"] = policy_entry(gate).name, None
    defaults, format_ = reading_of(options, sources)
    if skill is not None and not sources:
        raise InputError("--skill says the skill of files; name the files, or leave it out")
    chosen = settings_of({**options, "gate": gate_of(ctx)})
    if sources:
        choice = ArmChoice(agent=options["agent"], skill=skill, suite=options["suite"])
        read = [read_runs(source, format=format_, choice=choice, defaults=defaults) for source in sources]
        for remark in (remark for recorded in read for remark in recorded.notes):
            note(remark)
        evaluated = run_evaluation([panel for recorded in read for panel in file_panels(recorded, skill)], chosen)
        history = [version for recorded in read for version in version_history(recorded)]
        written = write_report_on(evaluated, output, command=command_words, gate=policy, images=png, history=history)
    else:
        with Bank.open(bank, create=False) as opened:
            evaluated = run_evaluation(panels_of(opened, options), chosen)
            history = _history_of(opened, options)
            written = write_report_on(
                evaluated, output, command=command_words, gate=policy, images=png, history=history
            )
    size = written.path.stat().st_size
    if as_json:
        write_json({"report": str(written.path), "bytes": size, "images": [str(image) for image in written.images]})
        return
    images = f" and {plural(len(written.images), 'image')} in {png}" if png else ""
    note(f"wrote {written.path} ({size / 1e6:.1f} MB){images}")


def _history_of(bank: Bank, options: dict[str, Any]) -> list[VersionGain]:
    """The gains of the versions of every skill that has several in the bank."""
    from skilldelta.studies import ArmChoice, bank_runs
    from skilldelta.studies.version_history import in_bank_order, version_history

    versions = Counter(skill.skill_id for skill in bank.skills() if skill.digest)
    several = {skill for skill, count in versions.items() if count > 1}
    if not several:
        return []
    choice = ArmChoice(agent=options["agent"], suite=options["suite"])
    recorded = in_bank_order(bank, bank_runs(bank, choice))
    used = dict.fromkeys(run.skill_id for run in recorded.executions if run.condition == "use")
    history: list[VersionGain] = []
    for skill in used:
        if skill in several:
            with suppress(InputError):  # its versions have no pairs
                history += version_history(recorded, skill)
    return history


def write_report_on(
    evaluated: Evaluated,
    path: Path,
    *,
    command: str,
    gate: str | None = None,
    images: Path | None = None,
    history: Sequence[VersionGain] = (),
) -> WrittenReport:
    """Write the report on an evaluation, with a bar and the present time."""
    from skilldelta.studies import report_on

    created = created_now()
    with steps() as advance:
        return report_on(
            *(evaluated, path),
            command=command,
            created=created,
            gate=gate,
            images=images,
            history=history,
            progress=advance,
        )
