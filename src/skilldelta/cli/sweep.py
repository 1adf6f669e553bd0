"""`skilldelta sweep`: success and tokens over thresholds; error over the amount of evidence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.arguments import gate_and_control, panels_in, refuse_idle_flags
from skilldelta.cli.output import console, note, number, percent, progress, signed, table, write_json
from skilldelta.estimators.registry import policy_words
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.evaluation.evidence_scaling import EvidenceCurve
    from skilldelta.evaluation.sweeps import ThresholdSweep

_SHOWN = 21


@click.group("sweep")
def command() -> None:
    """Success and tokens over thresholds; error over the amount of evidence."""


@command.command("threshold")
@settings.panel_options
@settings.gate_options
@settings.document_options
@click.pass_context
@progress("sweeping thresholds")
def threshold(ctx: click.Context, /, bank: str, as_json: bool, output: Path | None, **options: Any) -> None:
    """Success and tokens at every threshold, from always-on to always-off; marks the default and the best in hindsight."""
    gate, control = gate_and_control(ctx)
    refuse_idle_flags(ctx, gate, control)

    from skilldelta.studies import sweep_thresholds
    from skilldelta.studies.threshold_studies import threshold_document

    documents = []
    for panel in panels_in(bank, options):
        swept = sweep_thresholds(panel, gate, control=control)
        documents.append(threshold_document(panel, swept, control or gate.estimator))
        if not (as_json or output):
            _show(f"{panel.title}: {policy_words(control or gate.estimator)}", swept)
    if as_json or output:
        write_json({"sweeps": documents}, output)


@command.command("evidence")
@settings.panel_options
@click.option(
    "--at-least", type=click.IntRange(min=1), default=1, help="Leave families out that have fewer other tasks."
)
@settings.seed_option
@settings.document_options
@progress("sweeping the amount of evidence")
def evidence(bank: str, as_json: bool, output: Path | None, at_least: int, seed: int, **options: Any) -> None:
    """Gain error over support size, neighborhood size and repetitions, every target kept at every point."""
    from skilldelta.studies import sweep_evidence
    from skilldelta.studies.threshold_studies import evidence_document

    documents = []
    for panel in panels_in(bank, options):
        curves = sweep_evidence(panel, at_least=at_least, seed=seed)
        documents.append(evidence_document(panel, curves))
        for axis, reason in curves.missing.items():
            note(f"{panel.title}: no curve over {axis}: {reason}")
        if not (as_json or output):
            for curve in curves.curves:
                _show_curve(f"{panel.title}: gain error over {curve.axis}", curve)
    if as_json or output:
        write_json({"sweeps": documents}, output)


def _show_curve(title: str, curve: EvidenceCurve) -> None:
    step = max(1, len(curve.amounts) // _SHOWN)
    chosen = sorted({*range(0, len(curve.amounts), step), len(curve.amounts) - 1})
    rows = [[str(curve.amounts[i]), f"{curve.mae[i]:.4f}", f"{curve.spread[i]:.4f}"] for i in chosen]
    console().print(table(f"{title} ({plural(curve.targets, 'target')})", (curve.axis, "gain MAE", "spread"), rows))
    if curve.left_out:
        note(f"families too small to take part: {', '.join(curve.left_out)}")


def _show(title: str, swept: ThresholdSweep) -> None:
    """A readable selection of the points; --json has them all."""
    step = max(1, len(swept) // _SHOWN)
    chosen = sorted({*range(0, len(swept), step), swept.default, swept.best, len(swept) - 1})
    rows = []
    for index in chosen:
        point = swept.point(index)
        marks = [name for name, at in (("default", swept.default), ("best in hindsight", swept.best)) if at == index]
        rows.append(
            [
                signed(point.threshold),
                percent(point.use_rate, 0),
                percent(point.success),
                number(point.tokens),
                percent(point.token_saving),
                ", ".join(marks),
            ]
        )
    columns = ("threshold", "uses", "success", "tokens/task", "saved", "")
    console().print(table(title, columns, rows))
    if step > 1:
        note(f"{plural(len(swept), 'distinct policy', 'distinct policies')}; --json lists them all")
