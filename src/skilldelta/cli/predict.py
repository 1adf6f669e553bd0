"""`skilldelta predict`: will this skill help on this task?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import console, percent, shorten, signed, table, write_json
from skilldelta.errors import InputError

if TYPE_CHECKING:
    from skilldelta.advisor import Advice, Question
    from skilldelta.bank.store import Bank

_WORDS = {"use": "use the skill", "skip": "skip the skill", "abstain": "abstain: the evidence does not settle it"}


@click.command("predict")
@click.argument("text", required=False)
@click.option("--skill", help="The skill on offer.")
@click.option("--family", help="The task's family, where it is known.")
@click.option("--task-id", help="The task's id: its own record, if the bank has one, is left out.")
@settings.bank_option
@settings.agent_option
@settings.encoder_options
@click.option("--paper", is_flag=True, help="The paper's rule and settings, and its Hoeffding band.")
@settings.rule_options
@settings.threshold_option
@click.option(
    "--rule",
    type=click.Choice(["plain", "three_way", "conservative"]),
    default="plain",
    show_default=True,
    help="plain compares the gain; the others ask its interval.",
)
@click.option(
    "--interval",
    "method",
    default="exact",
    show_default=True,
    help="exact, betting, empirical_bernstein, hoeffding_independent or hoeffding.",
)
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True)
@settings.json_option
@settings.output_option
def command(text: str | None, bank: str, as_json: bool, output: str | None, **options: Any) -> None:
    """Predict the gain of a skill on a task, decide, and show the evidence.

    TEXT is the task as the agent will see it; "-" reads it from stdin.

    \b
    skilldelta predict --skill date_understanding "What is the date one week from 3/5/1979?"
    """
    from skilldelta.advisor import Advisor
    from skilldelta.bank import Bank
    from skilldelta.cli.encoding import chosen_encoder

    with Bank.open(bank, create=False) as opened:
        question = _question(opened, text, options)
        agent = opened.resolve_agent(options["agent"])
        advisor = Advisor(opened, chosen_encoder(opened, options), agent=agent, policy=_policy(options))
        advice = advisor.ask(question)
    if as_json or output:
        write_json(advice.to_dict(), output)
    else:
        _show(advice, question)


def _policy(options: dict[str, Any]) -> Any:
    from skilldelta.advisor import Policy
    from skilldelta.predictor import PAPER, Settings

    if options["paper"]:
        scope = "family" if options["family"] else "skill"
        return Policy(settings=PAPER, scope=scope, level=options["level"], rule=options["rule"], method="hoeffding")  # type: ignore[arg-type]
    return Policy(
        settings=Settings(k=options["k"], weighting=options["weighting"]),
        scope=options["scope"] or "auto",
        threshold=options["threshold"],
        rule=options["rule"],
        level=options["level"],
        method=options["method"],
    )


def _question(bank: Bank, text: str | None, options: dict[str, Any]) -> Question:
    """The question as asked; a task that the bank knows by id may leave its text and family out."""
    from skilldelta.advisor import Question

    family, task_id = options["family"] or "", options["task_id"] or ""
    if text == "-":
        text = sys.stdin.read()
    if text is None and task_id:
        known = next((task for task in bank.tasks() if task.task_id == task_id), None)
        if known is None:
            raise InputError(f"the bank has no task {task_id!r}; give the task's text")
        text, family = known.text, family or known.family
    if text is None:
        raise InputError("no task text; give it as the last argument, or - to read it from stdin")
    if not options["skill"]:
        raise InputError("no skill; say which one is on offer with --skill NAME")
    return Question(text=text, skill=bank.resolve_skill(options["skill"]).skill_id, family=family, task_id=task_id)


def _show(advice: Advice, question: Question) -> None:
    out = console()
    decision, interval = advice.decision, advice.interval
    out.print(f"[bold]{_WORDS[decision.action]}[/bold]", highlight=False)
    out.print(f"{decision.reason[0].upper()}{decision.reason[1:]}.")
    if interval is None:
        out.print(f"It would change with {decision.would_change}.")
        return
    out.print(
        f"{interval.level:.0%} interval {signed(interval.low)} to {signed(interval.high)} ({interval.method}); "
        f"scope {advice.scope}; effective support {advice.effective:.1f}; mean distance {advice.radius:.2f}."
    )
    out.print(f"It would change with {decision.would_change}.")
    rows = [
        [
            n.task_id,
            shorten(n.text, 60),
            f"{n.similarity:.3f}",
            f"{n.weight:.3f}",
            signed(n.gain, 2),
            f"{percent(n.y0, 0)} → {percent(n.y1, 0)}",
            f"{n.r0}/{n.r1}",
        ]
        for n in advice.neighbors
    ]
    out.print(table("Nearest paired executions", _COLUMNS, rows, left=2))


_COLUMNS = ("task", "text", "cosine", "weight", "gain", "without → with", "runs")
