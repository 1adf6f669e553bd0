"""`skilldelta evaluate`: what would the gate have bought, how sure are we, and against what?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.evaluation_tables import show_means, show_panel, show_risk, show_verdicts
from skilldelta.cli.output import console, note, write_json
from skilldelta.cli.paper_flags import with_paper_settings
from skilldelta.cli.progress import progress
from skilldelta.cli.refitting import refitted, with_refitted

if TYPE_CHECKING:
    from skilldelta.cli.refitting import Ranges
    from skilldelta.evaluation.corrections import CorrectedRecord
    from skilldelta.evaluation.exclusions import Exclusion
    from skilldelta.evaluation.results import Means, PanelResult
    from skilldelta.evaluation.risk_coverage import CoveragePoint
    from skilldelta.evaluation.roster import Rules
    from skilldelta.noise_floor import NoiseFloor
    from skilldelta.support import Scope


@click.command("evaluate")
@settings.bank_option
@settings.agent_option
@settings.suite_option
@settings.encoder_options
@click.option("--paper", is_flag=True, help="The paper's settings: family, k=6, cosine weights, threshold 0.")
@settings.rule_options
@settings.threshold_option
@settings.seed_option
@settings.resamples_option
@settings.margin_option
@click.option(
    "--shuffles",
    type=click.IntRange(min=0),
    default=199,
    show_default=True,
    help="Panels with shuffled gains that show what chance gives; 0 leaves them out.",
)
@click.option(
    "--null-stack",
    is_flag=True,
    help="Shuffle for the stack too. It is fitted anew to each of twice --shuffles panels: some 400 times its wait.",
)
@click.option(
    "--holdout",
    type=click.Choice(["task", "family"]),
    default="task",
    show_default=True,
    help="What is left out with a target. With family, support comes from --scope skill (default) or global.",
)
@settings.exclude_options
@settings.corrections_option
@click.option(
    "--partition",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Ridge's own parts: a CSV or JSONL with task_id and split.",
)
@click.option(
    "--refit-intervals",
    is_flag=True,
    help="Also intervals that know of refitting. Every policy is scored 21 times: about 20 times the wait.",
)
@settings.json_option
@settings.output_option
@click.pass_context
def command(ctx: click.Context, /, bank: str, as_json: bool, output: Path | None, **options: Any) -> None:
    """Leave-one-task-out evaluation of every policy on every panel (agent × suite).

    Scores never see their own task's outcome. Intervals take in that rules are refitted to other tasks where that is
    cheap, or are left out where they would not cover; --json also has the paper's, with scores and actions fixed.
    The last line is the verdict that the interval of the gate allows.
    """
    evaluated = evaluate_with_noise(bank, with_paper_settings(ctx, options))
    if as_json or output:
        from skilldelta.evaluation.results import means_to_dict

        panels = [_document(one) for one in evaluated.panels]
        write_json({"panels": panels, "means": means_to_dict(evaluated.means)}, output)
        return
    shown = [with_refitted(one.panel, one.refitted) for one in evaluated.panels]
    for one, panel in zip(evaluated.panels, shown, strict=True):
        show_panel(panel)
        show_risk(one.risk)
        console().remark(f"noise floor: {one.noise.sentence}\n", style="dim")
    if len(shown) > 1:
        show_means(evaluated.means)
    show_verdicts(shown)


@dataclass(frozen=True, slots=True, eq=False)
class EvaluatedPanel:
    """A panel's results beside how large gains look when nothing differs."""

    panel: PanelResult
    noise: NoiseFloor
    refitted: Ranges
    """Empty unless asked for."""
    excluded: tuple[Exclusion, ...] = ()
    corrected: tuple[CorrectedRecord, ...] = ()
    risk: tuple[CoveragePoint, ...] = ()
    """Of the stack, when its most unlike tasks are left to the fallback."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluated:
    """The chosen panels of a bank, and what they show together."""

    panels: list[EvaluatedPanel]
    means: Means


def evaluate_bank(bank: str, options: dict[str, Any]) -> list[PanelResult]:
    """Evaluate the chosen panels of a bank; also what `report` and `demo` show."""
    return [one.panel for one in evaluate_with_noise(bank, options).panels]


@progress("getting ready")
def evaluate_with_noise(bank: str, options: dict[str, Any]) -> Evaluated:
    """Evaluate the chosen panels of a bank, with everything that `evaluate` itself shows."""
    import numpy as np

    from skilldelta.bank import Bank
    from skilldelta.cli.panels import load_panels
    from skilldelta.evaluation.leave_one_out import evaluate_panels
    from skilldelta.evaluation.resampling.permutation import SHUFFLES
    from skilldelta.evaluation.results import MARGIN
    from skilldelta.evaluation.risk_coverage import of_panel

    with Bank.open(bank, create=False) as opened:
        panels = load_panels(opened, options)
        skill_texts = {skill.skill_id: skill.text for skill in opened.skills() if skill.text}
        judgements = {
            (panel.support.agent, panel.suite): found
            for panel in panels
            if (found := opened.judgements(panel.agent, panel.suite))
        }
    for panel in panels:
        for remark in panel.notes:
            note(f"{panel.agent.name} on {panel.suite}: {remark}")
    rules = _rules(options, skill_texts)
    rng = np.random.default_rng(options["seed"])
    with progress("evaluating") as advance:
        evaluation = evaluate_panels(
            [panel.support for panel in panels],
            settings=rules.settings,
            scope=rules.scope,
            threshold=rules.threshold,
            rng=rng,
            resamples=options["resamples"],
            margin=options.get("margin", MARGIN),
            shuffles=options.get("shuffles", SHUFFLES),
            null_stack=options.get("null_stack", False),
            holdout=rules.holdout,
            judgements=judgements,
            skill_texts=skill_texts,
            partition=rules.partition,
            progress=advance,
        )
    evaluated = [
        EvaluatedPanel(
            result,
            panel.noise,
            refitted(result, rules, judgements.get((result.agent, result.suite)), rng)
            if options.get("refit_intervals")
            else {},
            panel.excluded,
            panel.corrected,
            of_panel(result, scope=rules.scope),
        )
        for result, panel in zip(evaluation.panels, panels, strict=True)
    ]
    return Evaluated(evaluated, evaluation.means)


def _rules(options: dict[str, Any], skill_texts: dict[str, str]) -> Rules:
    from skilldelta.estimators.partition import read_partition
    from skilldelta.evaluation.roster import Rules
    from skilldelta.predictor import Settings

    rule = Settings(k=options["k"], weighting=options["weighting"])
    holdout = options.get("holdout", "task")
    scope: Scope = options["scope"] or ("skill" if holdout == "family" else "family")
    partition = read_partition(options["partition"]) if options.get("partition") else None
    return Rules(rule, scope, options["threshold"], skill_texts, partition, holdout)


def _document(one: EvaluatedPanel) -> dict[str, Any]:
    from skilldelta.evaluation.comparison import gate_comparison
    from skilldelta.evaluation.results import panel_to_dict

    verdict = gate_comparison(one.panel)
    document = {
        **panel_to_dict(one.panel),
        "noise_floor": asdict(one.noise),
        "verdict": None if verdict is None else asdict(verdict),
        "excluded": [asdict(task) for task in one.excluded],
        "corrected": [asdict(record) for record in one.corrected],
        "risk_coverage": [asdict(point) for point in one.risk],
    }
    for name, ranges in one.refitted.items():
        found = {metric: asdict(interval) for metric, interval in ranges.items()}
        document["policies"][name]["refitted_intervals"] = found
    return document
