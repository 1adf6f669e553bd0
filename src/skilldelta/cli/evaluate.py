"""`skilldelta evaluate`: what would the gate have bought, how sure are we, and against what?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.arguments import note_left_out, panels_of, rules_of, with_paper_settings
from skilldelta.cli.evaluation_tables import show_means, show_panel, show_risk, show_verdicts
from skilldelta.cli.output import console, note, progress, step_bars, write_json
from skilldelta.cli.settings import GivenPath

if TYPE_CHECKING:
    from skilldelta.evaluation.results import PanelResult
    from skilldelta.studies import Evaluated, EvaluatedPanel, EvaluationSettings, LoadedPanel

_SETTINGS = ("seed", "resamples", "margin", "shuffles", "null_stack", "refit_intervals")
"""Options that are settings of an evaluation under the same name; a command that lacks one takes its default."""


@click.command("evaluate")
@settings.evaluation_options
@click.option(
    "--shuffles",
    type=click.IntRange(0, settings.MOST_DRAWS),
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
    type=GivenPath(dir_okay=False),
    metavar="FILE",
    help="Ridge's own parts: a CSV or JSONL with task_id and split.",
)
@click.option(
    "--refit-intervals",
    is_flag=True,
    help="Also intervals that know of refitting. Every policy is scored 21 times: about 20 times the wait.",
)
@settings.document_options
@click.pass_context
@progress("getting ready")
def command(ctx: click.Context, /, bank: str, as_json: bool, output: Path | None, **options: Any) -> None:
    """Leave-one-task-out evaluation of every policy on every panel (agent × suite).

    Scores never see their own task's outcome. Intervals take in that rules are refitted to other tasks where that is
    cheap, or are left out where they would not cover; --json also has the paper's, with scores and actions fixed.
    The last line is the verdict that the interval of the gate allows.
    """
    from skilldelta.bank import Bank

    options = with_paper_settings(ctx, options)
    with Bank.open(bank, create=False) as opened:
        panels = panels_of(opened, options)
    evaluated = run_evaluation(panels, settings_of(options))
    if as_json or output:
        from skilldelta.studies.study_documents import evaluation_document

        write_json(evaluation_document(evaluated), output)
        return
    shown = [_with_refitted(one) for one in evaluated.panels]
    for one, result in zip(evaluated.panels, shown, strict=True):
        show_panel(result)
        show_risk(one.risk)
        console().remark(f"noise floor: {one.panel.noise.sentence}\n", style="dim")
    if len(shown) > 1:
        show_means(evaluated.means)
    show_verdicts(shown)


def settings_of(options: Mapping[str, Any]) -> EvaluationSettings:
    """The options as settings of an evaluation."""
    from skilldelta.studies import EvaluationSettings

    return EvaluationSettings(rules_of(options), **{name: options[name] for name in _SETTINGS if name in options})


def run_evaluation(panels: Sequence[LoadedPanel], asked: EvaluationSettings) -> Evaluated:
    """Evaluate loaded panels under a bar; what they leave out is said first."""
    from skilldelta.studies import evaluate
    from skilldelta.studies.evaluation_study import refitting_note

    note_left_out(panels)
    for panel in panels if asked.refit_intervals else ():
        note(refitting_note(panel))
    with step_bars() as advance:
        return evaluate(panels, asked, progress=advance)


def _with_refitted(one: EvaluatedPanel) -> PanelResult:
    """The results as they are shown to people: refitted intervals in place of those with fixed scores, and a note."""
    if not one.refitted:
        return one.result
    policies = {
        name: replace(policy, intervals={**policy.intervals, **one.refitted.get(name, {})})
        for name, policy in one.result.policies.items()
    }
    remark = "95%: refitted, with the scores made anew without each group of tasks; on the wide side"
    return replace(one.result, policies=policies, notes=(remark, *one.result.notes))
