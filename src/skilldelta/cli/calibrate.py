"""`skilldelta calibrate`: the threshold that meets a goal, its held-out value and the cases it gets wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.arguments import gate_and_control, panels_in, refuse_idle_flags
from skilldelta.cli.output import console, note, number, percent, progress, shorten, signed, steps, table, write_json
from skilldelta.errors import InputError
from skilldelta.estimators.registry import policy_words
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from skilldelta.evaluation.calibration import Calibration, HeldOut
    from skilldelta.evaluation.goals import Goal
    from skilldelta.studies import LoadedPanel
    from skilldelta.support import Support


@click.command("calibrate")
@settings.panel_options
@click.option("--use-rate", type=float, metavar="SHARE", help="Goal: use the skill on at most this share of tasks.")
@click.option("--token-budget", type=float, metavar="TOKENS", help="Goal: highest success within mean tokens per task.")
@click.option("--margin", type=float, metavar="M", help="Goal: cheapest, at most M success below always-on.")
@click.option("--best-value", is_flag=True, help="Goal: highest success, less the cost of tokens where one is given.")
@click.option("--success-worth", type=float, metavar="USD", help="With --best-value: what one success is worth.")
@click.option("--price", type=float, metavar="USD", help="With --best-value: what a million tokens cost.")
@settings.gate_options_without_prices
@settings.resamples_option
@settings.seed_option
@click.option("--show", type=click.IntRange(min=0), default=10, help="Wrong cases to list; --json has all.")
@settings.document_options
@click.pass_context
@progress("calibrating")
def command(ctx: click.Context, /, bank: str, as_json: bool, output: Path | None, show: int, **options: Any) -> None:
    """A threshold for a goal, what it will give on new tasks, and where it would have been wrong.

    The success reported is held out: every task is decided by a threshold chosen without it.
    """
    goal = _goal(options)
    gate, control = gate_and_control(ctx)
    if not goal.per_token:  # else they choose the neighbors whose tokens are the predicted cost
        refuse_idle_flags(ctx, gate, control)

    from skilldelta.studies import calibrate
    from skilldelta.studies.threshold_studies import calibration_document

    documents = []
    for panel in panels_in(bank, options):
        with steps() as advance:
            calibration = calibrate(
                panel,
                goal,
                gate,
                control=control,
                seed=options["seed"],
                resamples=options["resamples"],
                progress=advance,
            )
        for remark in (*panel.notes, *calibration.notes):
            note(remark)
        documents.append(calibration_document(panel, calibration, control or gate.estimator))
        if not (as_json or output):
            _show(panel, calibration, control or gate.estimator, show)
    if as_json or output:
        write_json({"calibrations": documents}, output)


def _goal(options: Mapping[str, Any]) -> Goal:
    """The one goal asked for."""
    from skilldelta.costs import CostRule
    from skilldelta.evaluation.goals import BestValue, Margin, TokenBudget, UseRate

    goals: dict[str, Callable[[float], Goal]] = {"use_rate": UseRate, "token_budget": TokenBudget, "margin": Margin}
    chosen = [name for name in goals if options[name] is not None]
    chosen += ["best_value"] if options["best_value"] else []
    if len(chosen) != 1:
        complaint = f"got {' and '.join(_flag(name) for name in chosen)}" if chosen else "none was given"
        raise InputError(
            f"choose exactly one goal of --use-rate, --token-budget, --margin and --best-value; {complaint}"
        )
    priced = [name for name in ("success_worth", "price") if options[name] is not None]
    if priced and chosen != ["best_value"]:
        raise InputError(f"{_flag(priced[0])} belongs to --best-value, not to {_flag(chosen[0])}; leave it out")
    if len(priced) == 1:
        raise InputError("--success-worth and --price weigh tokens only together; give both or none")
    if chosen[0] in goals:
        return goals[chosen[0]](options[chosen[0]])
    if not priced:
        return BestValue()
    return BestValue(CostRule.from_worth(options["success_worth"], options["price"]).per_token)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _show(panel: LoadedPanel, calibration: Calibration, estimator: str, limit: int) -> None:
    held, out = calibration.held_out, console()
    title = f"{panel.title}: {calibration.goal.words} ({policy_words(estimator)}, {plural(calibration.rows, 'pair')})"
    out.print(table(title, ("", "held out", "95% interval", "in hindsight"), _value_rows(calibration)))
    score = "predicted gain less the cost of its tokens" if calibration.goal.per_token else "predicted gain"
    out.print(f"Threshold: {calibration.threshold:.4g}. Use the skill when the {score} is larger.")
    met = "was met" if held.met else "was not met"
    share = "" if held.coverage is None else f"; on resampled panels it was met in {held.coverage:.0%} of cases"
    out.print(f"The goal {met} on held-out tasks{share}.")
    out.print(f"Always on: {percent(calibration.always_on)}. Always off: {percent(calibration.always_off)}.")
    if held.wrong and limit:
        out.print()
        out.print(_wrong_table(held, panel.support, limit))


def _value_rows(calibration: Calibration) -> list[list[str]]:
    held, chosen = calibration.held_out, calibration.hindsight
    on, off = signed(100 * held.success_vs_always_on, 1), signed(100 * held.success_vs_always_off, 1)
    rows = [
        ["success", percent(held.success), _interval(held, "success", 100), percent(chosen.success)],
        ["against always on", on, _interval(held, "success_vs_always_on", 100), ""],
        ["against always off", off, _interval(held, "success_vs_always_off", 100), ""],
        ["uses", percent(held.use_rate), _interval(held, "use_rate", 100), percent(chosen.use_rate)],
        ["tokens per task", number(held.tokens), _interval(held, "tokens", 1), number(chosen.tokens)],
    ]
    if calibration.goal.per_token and held.value is not None:
        rows.append(["value", signed(held.value), _interval(held, "value", 1, digits=3), ""])
    return rows


def _interval(held: HeldOut, name: str, factor: float, *, digits: int | None = None) -> str:
    interval = held.intervals.get(name)
    if interval is None or interval.low is None or interval.high is None:
        return "–"
    places = digits if digits is not None else 1 if factor == 100 else 0
    return f"{factor * interval.low:,.{places}f} to {factor * interval.high:,.{places}f}"


def _wrong_table(held: HeldOut, support: Support, limit: int) -> Any:
    texts = dict(zip(support.task_ids.tolist(), support.texts, strict=True)) if support.texts else {}
    rows = [
        [
            _ending(case.task_id, 32),
            shorten(texts.get(case.task_id, ""), 44),
            "used, harmed" if case.action == "use" else "missed a help",
            signed(case.score),
            f"{case.loss:.2f}",
        ]
        for case in held.wrong[:limit]
    ]
    lost = f"the first {len(rows)} of {plural(len(held.wrong), 'task')} that lost success"
    title = f"Where it was wrong: {lost} (each decided by a threshold chosen without it)"
    return table(title, ("task", "question", "decision", "score", "lost"), rows, left=3)


def _ending(task_id: str, width: int) -> str:
    """Ids of one family begin alike, so a long one keeps its end."""
    return task_id if len(task_id) <= width else "…" + task_id[1 - width :]
