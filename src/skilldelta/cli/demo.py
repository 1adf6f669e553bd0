"""`skilldelta demo`: the main job, on a bundled bank of real executions."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.evaluate import run_evaluation, show_brief, show_verdicts
from skilldelta.cli.output import console, note, number, percent, progress, signed
from skilldelta.cli.settings import GivenPath
from skilldelta.errors import MissingExtraError
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.advisor import Answer
    from skilldelta.cli.screen import Screen
    from skilldelta.studies import Evaluated
    from skilldelta.studies.demonstration import AskedTask
    from skilldelta.support import Support

FOLDER = "demo-output"


@click.command("demo")
@click.option("--bank", type=GivenPath(), help=f"Where to put the bank; default {FOLDER}/demo.bank.")
@click.option("--report/--no-report", default=True, show_default=False, help=f"Write {FOLDER}/report.html.")
@settings.seed_option
@click.option("--resamples", type=click.IntRange(0, settings.MOST_DRAWS), default=2_000, help="Bootstrap draws.")
@progress("working")
def command(bank: Path | None, report: bool, seed: int, resamples: int) -> None:
    """Decisions with their evidence, the evaluation table and an HTML report, on real executions that ship with the package."""
    from skilldelta.bank import Bank
    from skilldelta.demo.bundled import manifest
    from skilldelta.studies import EvaluationSettings, load_panels
    from skilldelta.studies.demonstration import add_demo, ask_three

    if bank is None:
        bank = Path(FOLDER) / "demo.bank"
    bank.parent.mkdir(parents=True, exist_ok=True)
    out = console()
    with Bank.open(bank, create=True) as opened:
        support = add_demo(opened)
        _tell_what_there_is(out, support, manifest())
        _show_three(out, ask_three(opened, support))
        _tell_what_is_evaluated(out)
        evaluated = run_evaluation(load_panels(opened), EvaluationSettings(seed=seed, resamples=resamples))
        show_verdicts(evaluated.results)
        for result in evaluated.results:
            show_brief(result)
        if report:
            _write_report(evaluated, bank)
    _say_what_next(out, bank)


def _tell_what_there_is(out: Screen, support: Support, manifest: dict[str, Any]) -> None:
    gains = support.gains
    out.rule("1  The bank: paired executions")
    out.print(
        f"A small model, {support.agent}, was run on {plural(len(support), 'task')} of an imaginary trading company, each "
        f"task without its skill and with it: {number(support.r0.sum() + support.r1.sum())} real executions.\n"
        f"Success without the skills {percent(support.y0.mean())}, with them {percent(support.y1.mean())}. They helped on "
        f"{plural((gains > 0).sum(), 'task')}, did harm on {(gains < 0).sum():,} and changed nothing on "
        f"{(gains == 0).sum():,}. So neither never nor always is right: it depends on the task."
    )
    out.remark(f"({manifest['summary']})", indent=0, style="dim")


def _show_three(out: Screen, tasks: Sequence[AskedTask]) -> None:
    from skilldelta.cli.advice_display import marks_of
    from skilldelta.cli.screen import cut

    out.print()
    out.rule("2  Will the skill help on this task?")
    marks = marks_of(out)
    out.print("Three tasks asked as if they were new: their own executions are left out of the evidence.")
    out.print(
        f"Drawn: {marks.gain} the predicted gain in success, {marks.low}{marks.band}{marks.high} its 95% interval, "
        f"{marks.threshold} the threshold, {marks.both} both in one place. Below: gain, success without → with the "
        "skill, similarity and text of the nearest tasks."
    )
    for task in tasks:
        out.print()
        out.print(cut(" ".join(task.text.split()), 2 * out.width - 10), style="bold")
        out.remark(f"skill {task.advice.skill} → {task.advice.decision.action}: {task.advice.decision.reason}")
        _show_evidence(out, task.advice)
        out.remark(f"what really happened: {percent(task.y0, 0)} without, {percent(task.y1, 0)} with the skill")


def _show_evidence(out: Screen, advice: Answer) -> None:
    """The drawing, and the three nearest tasks in a line each."""
    from skilldelta.cli.advice_display import GainScale, marks_of
    from skilldelta.cli.screen import cut

    if advice.interval is not None:
        scale = GainScale(advice.decision.gain, advice.decision.threshold, advice.interval)
        out.remark(scale.drawn(out.width - 2, marks_of(out)))
    for neighbor in advice.neighbors[:3]:
        outcome = f"{percent(neighbor.y0, 0)} → {percent(neighbor.y1, 0)}"
        line = (
            f"{signed(neighbor.gain, 2)}  {outcome:>11}  {neighbor.similarity:.2f}  {' '.join(neighbor.text.split())}"
        )
        out.remark(cut(line, out.width - 4), indent=4, style="dim")


def _tell_what_is_evaluated(out: Screen) -> None:
    out.print()
    out.rule("3  What would the gate have bought?")
    out.print(
        "Every task in turn is the new one. A row is a policy: its success, points against always off and always on with "
        "the interval of the latter, how often it uses the skill, and tokens saved against always on.\n"
    )


def _write_report(evaluated: Evaluated, bank: Path) -> None:
    try:
        from skilldelta.cli.report import write_report_on

        path = Path(FOLDER) / "report.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        words = ["skilldelta", "report", "--bank", str(bank), "--paper"]
        words += [f"--{name}={getattr(evaluated.settings, name)}" for name in ("seed", "resamples")]
        write_report_on(evaluated, path, command=shlex.join(words))
        note(f"the report with all figures: {path}")
    except MissingExtraError as error:
        note(f"no report: {error}")


def _say_what_next(out: Screen, bank: Path) -> None:
    out.print()
    out.rule("4  Your turn")
    question = "How many cans are in 3 pallets of beans?"
    # Not wrapped by us, so that a copied line is the whole command.
    out.print(f'skilldelta predict --bank {bank} --skill warehouse-units "{question}"', soft_wrap=True)
    out.print(f"skilldelta bank list --bank {bank}", soft_wrap=True)
    out.print(f"skilldelta serve --bank {bank}", soft_wrap=True)
    out.print("    the dashboard on this bank: open http://127.0.0.1:7345/ while it runs")
    out.print("skilldelta import pairs.jsonl        your own paired executions")
    out.print("skilldelta collect SUITE --dry-run   run both arms of your own tasks")
