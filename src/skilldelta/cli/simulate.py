"""`skilldelta simulate`: a panel with known truth, for planning a study."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.evaluate import show_panel
from skilldelta.cli.output import console, note, percent, progress, write_json
from skilldelta.cli.settings import OutputPath
from skilldelta.errors import InputError
from skilldelta.files import write_text
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.arrays import Floats
    from skilldelta.paper.simulation.simulated_panel import SimulatedPanel
    from skilldelta.paper.simulation.theory import TheoryCheck

KINDS = ("no_effect", "always_helps", "family_only", "local_only", "mixed")


@click.command("simulate")
@click.option("--kind", type=click.Choice(KINDS), default="mixed", help="What the gains depend on.")
@click.option("--tasks", type=click.IntRange(1, 20_000), default=400, help="Tasks per panel.")
@click.option("--families", type=click.IntRange(1, 20_000), default=8, help="Families per panel.")
@click.option("--repetitions", type=click.IntRange(1, 1000), default=1, help="Executions of each task and condition.")
@click.option("--effect", type=float, default=0.3, help="Largest family effect, or the constant gain.")
@click.option("--smoothness", type=float, default=2.0, help="L: how fast gains change with distance.")
@click.option("--residual", type=float, default=0.0, help="eps: what the representation misses.")
@click.option("--base-rate", type=float, default=0.5, help="Success without the skill.")
@click.option(
    "--delta",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    help="The paper's bounds may fail with this probability.",
)
@click.option(
    "--per-token", type=float, default=0.0, help="Success that one more token must buy: a threshold per task."
)
@click.option("--theory", is_flag=True, help="Also the rates that the theory promises, beside what was measured.")
@settings.rule_options
@settings.threshold_option
@settings.seed_option
@settings.resamples_option
@click.option("--pairs", type=OutputPath(), metavar="FILE", help="Write the pairs as pairs.jsonl.")
@settings.document_options
@progress("simulating")
def command(pairs: Path | None, as_json: bool, output: Path | None, **options: Any) -> None:
    """How far would a study of this size carry? Tasks, true gains and executions are drawn, then evaluated.

    The table shows what an evaluation of the study would print; below it, how the paper's guarantees did against the truth.
    """
    import numpy as np

    from skilldelta.evaluation.leave_one_out import evaluate_panel
    from skilldelta.evaluation.results import panel_to_dict
    from skilldelta.gate import Gate
    from skilldelta.paper.simulation.simulated_panel import simulate_panel
    from skilldelta.paper.simulation.theory import check_theory

    rng = np.random.default_rng(options["seed"])
    panel = simulate_panel(
        rng,
        r0=options["repetitions"],
        r1=options["repetitions"],
        **{
            name: options[name]
            for name in ("kind", "tasks", "families", "effect", "smoothness", "residual", "base_rate")
        },
    )
    names = ("k", "weighting", "threshold")
    gate = Gate.from_settings({"scope": options["scope"] or "family", **{name: options[name] for name in names}})
    result = evaluate_panel(panel.support, rng=rng, gate=gate, resamples=options["resamples"])
    thresholds, delta = _thresholds(panel, options), options["delta"]
    check = check_theory(panel, settings=gate.settings, scope=gate.scope, threshold=thresholds, delta=delta)
    if pairs is not None:
        write_text(pairs, _pairs_jsonl(panel))
        note(f"{plural(len(panel.support), 'pair')} written to {pairs}")
    if as_json or output:
        truth = {
            "mean_gain": panel.tau.mean(),
            "share_helped": (panel.tau > 0).mean(),
            "share_harmed": (panel.tau < 0).mean(),
        }
        write_json({"panels": [panel_to_dict(result)], "truth": truth, "theory": asdict(check)}, output)
        return
    show_panel(result)
    _show_truth(panel, check)
    if options["theory"]:
        _show_rates(check)


def _show_truth(panel: SimulatedPanel, check: TheoryCheck) -> None:
    out = console()
    tau = panel.tau
    out.print(
        f"Truth: mean gain {100 * tau.mean():+.1f} points; the skill helps on {percent((tau > 0).mean(), 0)} "
        f"and harms on {percent((tau < 0).mean(), 0)} of tasks."
    )
    out.print(
        f"Decisions differ from the oracle's on {percent(check.disagreement)} of tasks; mean regret "
        f"{100 * check.regret.regret:.1f} points, mean gain error {100 * check.regret.error:.1f}."
    )
    out.print(
        f"The paper's band covers the true gain on {percent(check.covered)} of tasks (promised {percent(1 - check.delta, 0)}); "
        f"its mean half-width is {check.mean_bound:.2f}, so the three-way gate acts on {percent(check.acted)}."
    )


def _thresholds(panel: SimulatedPanel, options: dict[str, Any]) -> float | Floats:
    """One threshold, or with a price of tokens one for each task."""
    per_token: float = options["per_token"]
    if not 0 <= per_token < math.inf:
        raise InputError(f"per-token must not be negative or infinite, got {per_token}")
    threshold: float = options["threshold"]
    return threshold + per_token * (panel.mean_tokens1 - panel.mean_tokens0) if per_token else threshold


def _show_rates(check: TheoryCheck) -> None:
    out, rate, margin = console(), check.rate, check.margin
    if rate is None:
        out.print(
            "The k-neighbor rate needs at least 2k tasks in every scope: simulate more tasks, or give a smaller --k."
        )
    else:
        best = "" if rate.best_k is None else f" Coverage and noise balance at k = {rate.best_k:.1f}."
        out.print(
            f"The k-neighbor rate promises errors of at most {rate.rate:.2f} on {percent(1 - rate.failure)} of tasks "
            f"(n = {rate.n}, k = {rate.k}, c = {rate.mass:.2g}, nu = {rate.dimension:g}); measured: "
            f"{percent(rate.kept)} of errors are within it.{best}"
        )
    consequence = "" if margin.consequence is None else f"; by the margin alone, {percent(margin.consequence)}"
    out.print(
        f"Coverage against margin at b = {margin.half_width:.2f}: {percent(margin.badly_covered)} of tasks are badly covered "
        f"and {percent(margin.hard_to_call)} hard to call, so that at most {percent(margin.split)} of decisions may differ "
        f"from the oracle's{consequence}."
    )


def _pairs_jsonl(panel: SimulatedPanel) -> str:
    support = panel.support
    lines = []
    for i in range(len(support)):
        row = {
            "task_id": str(support.task_ids[i]),
            "text": support.texts[i],
            "family": str(support.families[i]),
            "skill": str(support.skills[i]),
            "agent": support.agent,
            "suite": support.suite,
            "y0": panel.successes0[i].tolist(),
            "y1": panel.successes1[i].tolist(),
            "tokens0": [round(value) for value in panel.tokens0[i].tolist()],
            "tokens1": [round(value) for value in panel.tokens1[i].tolist()],
        }
        lines.append(json.dumps(row))
    return "\n".join(lines) + "\n"
