"""`skilldelta report`: the evaluation of a bank as one HTML file with figures, tables and plain words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.arguments import command_line, created_now, gate_of, panels_of
from skilldelta.cli.evaluate import run_evaluation, settings_of
from skilldelta.cli.output import note, progress, steps, write_json
from skilldelta.cli.settings import OutputPath
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.studies import Evaluated, WrittenReport


@click.command("report")
@settings.evaluation_options
@click.option("--output", type=OutputPath(), default="report.html", metavar="FILE", help="Where to write the report.")
@click.option("--png", type=OutputPath(folder=True), metavar="DIR", help="Also write the figures as images.")
@settings.json_option
@click.pass_context
@progress("writing the report")
def command(
    ctx: click.Context, /, bank: str, gate: str | None, output: Path, png: Path | None, as_json: bool, **options: Any
) -> None:
    """Evaluate every panel of the bank and write one HTML file: summary, figures, tables, tasks, and how it was made.

    The summary is about the gate that the options describe; --gate also takes the name of another policy of the table.
    The file loads nothing from anywhere; it can be mailed, archived and opened offline.
    """
    from skilldelta.bank import Bank
    from skilldelta.cli.setting_sources import named_gates
    from skilldelta.estimators.registry import policy_entry
    from skilldelta.report.vega import require_plots

    require_plots()  # before minutes of evaluation, not after
    command_words, policy = command_line(ctx), None
    if gate is not None and gate not in named_gates(ctx):
        policy, ctx.params["gate"] = policy_entry(gate).name, None
    with Bank.open(bank, create=False) as opened:
        evaluated = run_evaluation(panels_of(opened, options), settings_of({**options, "gate": gate_of(ctx)}))
        written = write_report_on(evaluated, output, command=command_words, gate=policy, images=png)
    size = written.path.stat().st_size
    if as_json:
        write_json({"report": str(written.path), "bytes": size, "images": [str(image) for image in written.images]})
        return
    images = f" and {plural(len(written.images), 'image')} in {png}" if png else ""
    note(f"wrote {written.path} ({size / 1e6:.1f} MB){images}")


def write_report_on(
    evaluated: Evaluated, path: Path, *, command: str, gate: str | None = None, images: Path | None = None
) -> WrittenReport:
    """Write the report on an evaluation, with a bar and the present time."""
    from skilldelta.studies import report_on

    created = created_now()
    with steps() as advance:
        return report_on(evaluated, path, command=command, created=created, gate=gate, images=images, progress=advance)
