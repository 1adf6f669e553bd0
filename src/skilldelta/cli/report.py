"""`skilldelta report`: the evaluation of a bank as one HTML file with figures, tables and plain words."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from skilldelta.cli import settings
from skilldelta.cli.evaluate import evaluate_bank
from skilldelta.cli.output import note, progress, write_json

if TYPE_CHECKING:
    from skilldelta.evaluation.results import PanelResult
    from skilldelta.report import PanelReport

Panel = tuple[str, str]
"""A panel's agent and suite."""


@click.command("report")
@settings.bank_option
@settings.agent_option
@settings.suite_option
@settings.encoder_options
@click.option("--paper", is_flag=True, help="The paper's settings: family, k=6, cosine weights, threshold 0.")
@settings.rule_options
@settings.threshold_option
@settings.seed_option
@settings.resamples_option
@click.option("--gate", metavar="POLICY", help="The policy that the summary is about: stack, skilldelta or a control.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default="report.html",
    show_default=True,
    metavar="FILE",
)
@click.option(
    "--png", type=click.Path(file_okay=False, path_type=Path), metavar="DIR", help="Also write the figures as images."
)
@settings.json_option
@click.pass_context
def command(
    ctx: click.Context, /, bank: str, gate: str | None, output: Path, png: Path | None, as_json: bool, **options: Any
) -> None:
    """Evaluate every panel of the bank and write one HTML file: summary, figures, tables, tasks, and how it was made.

    The file loads nothing from anywhere; it can be mailed, archived and opened offline.
    """
    from skilldelta.report import require_plots, write_images

    require_plots()  # before minutes of evaluation, not after
    panels = report_panels(evaluate_bank(bank, options), seed=options["seed"], notes=_left_out(bank, options))
    path = _write(panels, output, command=_command_line(ctx, bank), shown=_settings(options, panels), gate=gate)
    images = write_images(panels, png, gate=gate) if png else []
    if as_json:
        write_json({"report": str(path), "bytes": path.stat().st_size, "images": [str(image) for image in images]})
        return
    note(f"wrote {path} ({path.stat().st_size / 1e6:.1f} MB)" + (f" and {len(images)} images in {png}" if png else ""))


def report_on(panels: Sequence[PanelResult], path: Path, *, command: str, seed: int) -> Path:
    """Write the report on panels that are evaluated already."""
    return _write(report_panels(panels, seed=seed), path, command=command, shown={"seed": str(seed)}, gate=None)


def report_panels(
    results: Sequence[PanelResult], *, seed: int, notes: Mapping[Panel, tuple[str, ...]] | None = None
) -> list[PanelReport]:
    """What a report shows besides the evaluation itself: the evidence curves, and what the bank left out."""
    import numpy as np

    from skilldelta.report import PanelReport
    from skilldelta.report.scaling_curves import scaling_curves

    reports = []
    with progress("evidence curves") as advance:
        for number, result in enumerate(results, 1):
            curves = scaling_curves(result.support, np.random.default_rng(seed))
            left_out = (notes or {}).get((result.agent, result.suite), ())
            reports.append(PanelReport(result, scaling=curves, notes=left_out))
            advance(number, len(results))
    return reports


def _write(panels: Sequence[PanelReport], path: Path, *, command: str, shown: dict[str, str], gate: str | None) -> Path:
    from skilldelta.report import write_report

    created = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return write_report(panels, path, command=command, settings=shown, created=created, gate=gate)


def _left_out(bank: str, options: Mapping[str, Any]) -> dict[Panel, tuple[str, ...]]:
    from skilldelta.bank import Bank
    from skilldelta.cli.panels import label_of, left_out, wanted_panels

    with Bank.open(bank, readonly=True) as opened:
        return {
            (label_of(panel.agent, opened.agents()), panel.suite): left_out(
                opened.pairing(agent=panel.agent, suite=panel.suite)
            )
            for panel in wanted_panels(opened, options)
        }


def _settings(options: Mapping[str, Any], panels: Sequence[PanelReport]) -> dict[str, str]:
    """The settings that numbers depend on, as they were used."""
    paper = options["paper"]
    return {
        "encoder": ", ".join(sorted({panel.result.support.encoder for panel in panels})) or options["encoder"],
        "neighbours (k)": "6" if paper else str(options["k"]),
        "scope": "family" if paper else options["scope"] or "family",
        "weights": "cosine" if paper else options["weighting"],
        "threshold": "0" if paper else f"{options['threshold']:g}",
        "seed": str(options["seed"]),
        "bootstrap draws": f"{options['resamples']:,}",
    }


def _command_line(ctx: click.Context, bank: str) -> str:
    """The command with everything that was set by flag, environment or file, and no password."""
    words = ["skilldelta", "report"]
    for parameter in ctx.command.params:
        name, value = str(parameter.name), ctx.params.get(str(parameter.name))
        if value in (None, False) or ctx.get_parameter_source(name) is ParameterSource.DEFAULT:
            continue
        flag = parameter.opts[0]
        words += [flag] if value is True else [flag, _without_password(bank) if name == "bank" else str(value)]
    return shlex.join(words)


def _without_password(bank: str) -> str:
    if "://" not in bank:
        return bank
    from sqlalchemy import make_url

    return make_url(bank).render_as_string(hide_password=True)
