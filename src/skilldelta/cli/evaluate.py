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
from skilldelta.errors import InputError
from skilldelta.estimators.registry import policy_words
from skilldelta.evaluation.comparison import FEWEST_FOR_AUROC
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.evaluation.results import Means, PanelResult, PolicyMeans, PolicyResult
    from skilldelta.evaluation.structure import CoveragePoint
    from skilldelta.studies import Evaluated, EvaluatedPanel, EvaluationSettings, LoadedPanel

_BOUGHT = ("policy", "success", "vs off", "vs on", "95%", "uses", "saved")
_CHOSE = ("policy", "AUROC", "95%", "vs random", "95%", "p in", "p all")
_CONSTANTS = ("always_off", "always_on")
_BRIEF = ("policy", "success", "points vs off", "points vs on", "uses", "tokens saved")
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
    help="Shuffle for the blend too: it is fitted to twice --shuffles panels, which takes about 400 times as long.",
)
@click.option(
    "--holdout",
    type=click.Choice(["task", "family"]),
    default="task",
    help="What is left out with a target. With family, support comes from --scope skill (default) or global.",
)
@settings.exclude_options
@settings.corrections_option
@settings.control_options
@click.option(
    "--refit-intervals",
    is_flag=True,
    help="Also give intervals that account for refitting. Every policy is scored 21 times, so it takes 20 times as long.",
)
@click.option(
    "--in-harness",
    is_flag=True,
    help="Also bounds of the gate's worth in a harness, where it denies a skill only if sure of harm; takes some seconds. "
    "With a listed arm (collect --listed) its worth is always shown.",
)
@click.option("--all", "show_all", is_flag=True, help="Also the other policies, how they chose, p values and notes.")
@click.option(
    "--routing",
    is_flag=True,
    help="Instead: offer all skills to each recorded task, and count which tasks get their own skill, another, or none.",
)
@click.option(
    "--prompts",
    type=GivenPath(dir_okay=False),
    metavar="FILE",
    help="With --routing: messages that need no skill, one per line; counts how many get one.",
)
@settings.document_options
@click.pass_context
@progress("getting ready")
def command(
    ctx: click.Context, /, bank: str, show_all: bool, as_json: bool, output: Path | None, **options: Any
) -> None:
    """What the gate would have bought on every panel (one agent on one suite), and how sure that is.

    The verdict comes first, then never using the skill, always using it, and the gate. No task is scored by its own
    outcome: each is left out in turn, or in a panel of fewer than 400 tasks held out with a fifth of them, five times over.
    --all adds nine other policies. Intervals account for rules being refitted to other tasks, where that is cheap;
    intervals that would not cover are left out. --json also has the paper's, which keep scores and actions fixed.
    """
    if options["routing"]:
        _evaluate_routing(ctx, bank, as_json, output)
        return
    if options["prompts"] is not None:
        raise InputError("--prompts belongs to --routing; add --routing, or leave it out")
    asked = settings_of({**options, "gate": gate_of(ctx)})
    evaluated = run_evaluation(panels_in(bank, options), asked)
    if as_json or output:
        from skilldelta.studies.evaluation_study import evaluation_document

        write_json(evaluation_document(evaluated), output)
        return
    from skilldelta.studies.status_quo_study import in_harness_words

    results = [_with_refitted(panel) for panel in evaluated.panels]
    show_verdicts(results)
    for panel, result in zip(evaluated.panels, results, strict=True):
        show_brief(result)
        if panel.in_harness is not None:
            for sentence in in_harness_words(panel.in_harness):
                console().remark(plain_minus(sentence))
        if show_all:
            show_panel(result)
            show_risk(panel.risk)
            console().remark(f"noise floor: {panel.panel.noise.sentence}\n", style="dim")
    if len(results) > 1 and show_all:
        show_means(evaluated.means)
    if not show_all:
        console().remark("--all: the other policies, how they chose, p values and notes", style="dim")


def _evaluate_routing(ctx: click.Context, bank: str, as_json: bool, output: Path | None) -> None:
    """Measure every chosen panel that has several skills; one without is named."""
    from skilldelta.cli.routing_display import read_prompts, show_routing
    from skilldelta.studies.routing_study import RoutingSettings, measure_routing, routing_document

    options = ctx.params
    settings = RoutingSettings(
        gate=gate_of(ctx),
        resamples=options["resamples"],
        seed=options["seed"],
        prompts=read_prompts(options["prompts"]),
    )
    panels = panels_in(bank, options)
    several = [panel for panel in panels if len(set(panel.support.skills.tolist())) > 1]
    for panel in panels:
        if panel not in several:
            note(f"{panel.title} has one skill; there is nothing to choose from")
    if not several:
        raise InputError("routing needs a panel with several skills; add executions of another skill")
    note_left_out(several)
    with steps() as advance:
        results = [measure_routing(panel, settings, progress=advance) for panel in several]
    if as_json or output:
        write_json(routing_document(results), output)
        return
    for result in results:
        show_routing(result)


def settings_of(options: Mapping[str, Any]) -> EvaluationSettings:
    """The options as settings of an evaluation; `gate` is one already."""
    from skilldelta.estimators.partition import read_partition
    from skilldelta.estimators.relevance_scores import read_relevance
    from skilldelta.studies import EvaluationSettings

    partition = read_partition(options["partition"]) if options.get("partition") else None
    relevance = read_relevance(options["relevance"]) if options.get("relevance") else None
    return settings_in({**options, "partition": partition, "relevance": relevance}, EvaluationSettings)


def run_evaluation(panels: Sequence[LoadedPanel], settings: EvaluationSettings) -> Evaluated:
    """Evaluate loaded panels under a bar; what they leave out is said first."""
    from skilldelta.studies import evaluate
    from skilldelta.studies.evaluation_study import refitting_note

    note_left_out(panels)
    for panel in panels if settings.refit_intervals else ():
        note(refitting_note(panel))
    with steps() as advance:
        return evaluate(panels, settings, progress=advance)


def _with_refitted(evaluated: EvaluatedPanel) -> PanelResult:
    """The results as they are shown to people: refitted intervals in place of those with fixed scores, and a note."""
    if not evaluated.refitted:
        return evaluated.result
    policies = {
        name: replace(policy, intervals={**policy.intervals, **evaluated.refitted.get(name, {})})
        for name, policy in evaluated.result.policies.items()
    }
    remark = "95%: refitted, with the scores made anew without each group of tasks; on the wide side"
    return replace(evaluated.result, policies=policies, notes=(remark, *evaluated.result.notes))


def show_brief(panel: PanelResult) -> None:
    """Three rows: never using the skill, always using it, and the gate; with what must be known to read them."""
    from skilldelta.evaluation.comparison import default_gate, held_out_value

    out = console()
    name = default_gate(panel)
    gate, value = panel.policies.get(name), held_out_value(panel, name)
    rows = [_brief_row(panel.policies[constant], panel) for constant in _CONSTANTS if constant in panel.policies]
    folds = panel.repeated_folds
    if folds is not None and value is not None and 0 < folds.always_on < 1:
        chosen = replace(panel.policies["always_on"], name="better constant", success=folds.constant, token_saving=None)
        rows.append(_brief_row(replace(chosen, use_rate=folds.always_on), panel))
    if gate is not None:
        success, use_rate = (gate.success, gate.use_rate) if value is None else (value.success, value.use_rate)
        rows.append(_brief_row(replace(gate, success=success, use_rate=use_rate), panel))
    families = plural(panel.families, "family", "families")
    out.print(table(f"{panel.agent} on {panel.suite}: {plural(panel.tasks, 'task')} in {families}", _BRIEF, rows))
    if folds is not None and value is not None:
        mixed = (
            " Better constant: always or never using the skill, whichever the other four favor."
            if folds.always_on % 1
            else ""
        )
        out.remark(
            f"Held out: each fifth of the tasks was decided from the other four, {folds.repeats} times over.{mixed} A family is a "
            "recorded group of tasks.",
            style="dim",
        )
    if panel.oracle_corrected is not None:
        out.remark(
            f"Knowing the better condition of every task would reach about {percent(panel.oracle_corrected)}.",
            style="dim",
        )
    few = [remark for remark in panel.notes if remark.startswith("only ")]
    for remark in few:
        out.remark(remark, style="dim")


def _brief_row(policy: PolicyResult, panel: PanelResult) -> list[str]:
    return [
        policy_words(policy.name),
        percent(policy.success),
        _points(policy.success - panel.off),
        _points(policy.success - panel.on),
        percent(policy.use_rate, 0),
        percent(policy.token_saving),
    ]


def show_panel(panel: PanelResult) -> None:
    """What the policies of one panel bought, how they chose, and what a reader must know."""
    title = f"{panel.agent} on {panel.suite}: {plural(panel.tasks, 'task')} in {plural(panel.families, 'family', 'families')}"
    bought = [_bought(policy) for policy in panel.policies.values()]
    off, on = panel.oracle - panel.off, panel.oracle - panel.on
    bought.append([policy_words("oracle"), percent(panel.oracle), _points(off), _points(on), "", "", ""])
    if panel.oracle_corrected is not None:
        off, on = panel.oracle_corrected - panel.off, panel.oracle_corrected - panel.on
        words = f"{policy_words('oracle')}, without noise"
        bought.append([words, percent(panel.oracle_corrected), _points(off), _points(on), "", "", ""])
    with_p = len(_CHOSE) if any(policy.null for policy in panel.policies.values()) else len(_CHOSE) - 2
    is_ranked = panel.tasks >= FEWEST_FOR_AUROC
    chose = [_chose(p)[:with_p] for p in panel.policies.values() if p.auroc is not None] if is_ranked else []
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
    """One line per panel, the first that an evaluation prints: what its interval allows to say of the gate."""
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
        *("" if null is None else f"{null.p:.3f}" for null in p_values),
    ]


def _remarks(panel: PanelResult) -> list[str]:
    remarks = list(panel.notes)
    if {"paper", "blend"} <= set(panel.policies):
        remarks.insert(0, f"{policy_words('blend')} is the estimator that decides unless another one is chosen")
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
