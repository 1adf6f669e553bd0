"""`skilldelta evaluate`: what would the gate have bought, how sure are we, and against what?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.arguments import gate_of, note_left_out, panels_in, settings_in
from skilldelta.cli.output import console, note, percent, plain_minus, progress, signed, span, steps, table, write_json
from skilldelta.cli.settings import GivenPath
from skilldelta.estimators.registry import policy_words
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.evaluation.results import Means, PanelResult, PolicyMeans, PolicyResult
    from skilldelta.evaluation.structure import CoveragePoint
    from skilldelta.studies import Evaluated, EvaluatedPanel, EvaluationSettings, LoadedPanel

_BOUGHT = ("policy", "success", "vs off", "vs on", "95%", "uses", "saved")
_CHOSE = ("policy", "AUROC", "95%", "vs random", "95%", "p in", "p all")
_MEANS = ("policy", "success", "vs on", "95%", "wins", "vs random", "95%", "wins")


@click.command("evaluate")
@settings.evaluation_options
@click.option(
    "--shuffles",
    type=click.IntRange(0, settings.MOST_DRAWS),
    default=199,
    help="Panels with shuffled gains that show what chance gives; 0 leaves them out.",
)
@click.option(
    "--null-blend",
    "--null-stack",
    "null_blend",
    is_flag=True,
    help="Shuffle for the blend too. It is fitted anew to each of twice --shuffles panels: some 400 times its wait.",
)
@click.option(
    "--holdout",
    type=click.Choice(["task", "family"]),
    default="task",
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
    asked = settings_of({**options, "gate": gate_of(ctx)})
    evaluated = run_evaluation(panels_in(bank, options), asked)
    if as_json or output:
        from skilldelta.studies.evaluation_study import evaluation_document

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
    """The options as settings of an evaluation; `gate` is one already."""
    from skilldelta.estimators.partition import read_partition
    from skilldelta.studies import EvaluationSettings

    partition = read_partition(options["partition"]) if options.get("partition") else None
    return settings_in({**options, "partition": partition}, EvaluationSettings)


def run_evaluation(panels: Sequence[LoadedPanel], asked: EvaluationSettings) -> Evaluated:
    """Evaluate loaded panels under a bar; what they leave out is said first."""
    from skilldelta.studies import evaluate
    from skilldelta.studies.evaluation_study import refitting_note

    note_left_out(panels)
    for panel in panels if asked.refit_intervals else ():
        note(refitting_note(panel))
    with steps() as advance:
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


def show_panel(panel: PanelResult) -> None:
    """What the policies of one panel bought, how they chose, and what a reader must know."""
    title = f"{panel.agent} on {panel.suite}: {plural(panel.tasks, 'task')} in {plural(panel.families, 'family', 'families')}"
    bought = [_bought(policy) for policy in panel.policies.values()]
    off, on = panel.oracle - panel.off, panel.oracle - panel.on
    bought.append([policy_words("oracle"), percent(panel.oracle), _points(off), _points(on), "", "", ""])
    with_p = len(_CHOSE) if any(policy.null for policy in panel.policies.values()) else len(_CHOSE) - 2
    chose = [_chose(policy)[:with_p] for policy in panel.policies.values() if policy.auroc is not None]
    out = console()
    out.print(table(title, _BOUGHT, bought))
    if chose:
        out.print(table("How they chose", _CHOSE[:with_p], chose))
    for remark in _remarks(panel):
        out.remark(remark, style="dim")


def show_risk(points: tuple[CoveragePoint, ...]) -> None:
    """What the blend loses and gains when its most unlike tasks are skipped; nothing where that is not known."""
    if not points:
        return
    rows = [
        [
            percent(point.coverage),
            "–" if point.familiarity is None else f"{point.familiarity:.3f}",
            f"{100 * point.risk:.1f}",
            percent(point.success),
        ]
        for point in points
    ]
    title = f"{policy_words('blend')} when the tasks most unlike the others are skipped"
    console().print(table(title, ("decided", "familiarity from", "points lost there", "success on all"), rows))


def show_means(means: Means) -> None:
    """Means over panels of equal weight, with the number of panels in which a policy is ahead."""
    rows = [_mean_row(name, policy, means.panels) for name, policy in means.policies.items()]
    console().print(table(f"Mean over {plural(means.panels, 'panel')} of equal weight", _MEANS, rows))


def show_verdicts(panels: Sequence[PanelResult]) -> None:
    """One line per panel, the last that an evaluation prints: what its interval allows to say of the gate."""
    from skilldelta.evaluation.comparison import default_gate
    from skilldelta.report.verdict import gate_headline

    for panel in panels:
        own = panel.policies.get(default_gate(panel))
        if own is None:
            continue
        where = f"{panel.agent} on {panel.suite}, " if len(panels) > 1 else ""
        line = f"{where}{policy_words(own.name)}: {gate_headline(panel, own).text}"
        console().print(plain_minus(line), style="bold", markup=False)


def _bought(policy: PolicyResult) -> list[str]:
    return [
        policy_words(policy.name),
        percent(policy.success),
        _points(policy.success_gain),
        _points(policy.success_vs_always_on),
        span(policy.intervals.get("success_vs_always_on"), is_open=True),
        percent(policy.use_rate, 0),
        percent(policy.token_saving),
    ]


def _chose(policy: PolicyResult) -> list[str]:
    p_values = [policy.null[kind].auroc if kind in policy.null else None for kind in ("within", "across")]
    return [
        policy_words(policy.name),
        f"{policy.auroc:.3f}",
        span(policy.intervals.get("auroc"), scale=1, digits=2),
        _points(policy.advantage_vs_random),
        span(policy.intervals.get("advantage_vs_random")),
        *("" if found is None else f"{found.p:.3f}" for found in p_values),
    ]


def _remarks(panel: PanelResult) -> list[str]:
    remarks = list(panel.notes)
    if {"paper", "blend"} <= set(panel.policies):
        own, paper = policy_words("blend"), policy_words("paper")
        remarks.insert(0, f"{paper} is the paper's rule, {own} what predict uses unless told otherwise")
    if any(policy.null for policy in panel.policies.values()):
        remarks.insert(
            0, "p: how often gains shuffled within families (p in), or among all tasks (p all), reach such an AUROC"
        )
    for policy in panel.policies.values():
        remarks += [f"{policy_words(policy.name)}: {remark}" for remark in policy.notes]
        if len(policy.rows) < panel.pairs:
            remarks.append(f"{policy_words(policy.name)}: on its rows always on reaches {percent(policy.always_on)}")
    return remarks


def _mean_row(name: str, policy: PolicyMeans, panels: int) -> list[str]:
    on, random = policy.metrics["success_vs_always_on"], policy.metrics["advantage_vs_random"]
    return [
        policy_words(name),
        percent(policy.metrics["success"].value),
        _points(on.value),
        span(on.interval, is_open=True),
        f"{policy.wins['success_vs_always_on']}/{panels}",
        _points(random.value),
        span(random.interval, is_open=True),
        f"{policy.wins['advantage_vs_random']}/{panels}",
    ]


def _points(value: float) -> str:
    return signed(100 * value, 1)
