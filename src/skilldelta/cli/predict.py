"""`skilldelta predict`: will this skill help on this task?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import console, percent, shorten, signed, table, write_json
from skilldelta.cli.paper_flags import refuse_flags_beside_paper
from skilldelta.errors import InputError
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from rich.console import Console

    from skilldelta.advisor import Advice, Policy, Question, ScopeChoice
    from skilldelta.bank.store import Bank
    from skilldelta.costs import CostRule

_WORDS = {"use": "use the skill", "skip": "skip the skill", "abstain": "abstain: the evidence does not settle it"}


@click.command("predict")
@click.argument("text", required=False)
@click.option("--skill", help="The skill on offer.")
@click.option("--family", help="The task's family, where it is known.")
@click.option("--task-id", help="The task's id: its own record, if the bank has one, is left out.")
@settings.bank_option
@settings.agent_option
@settings.encoder_options
@click.option(
    "--estimator",
    type=click.Choice(["stack", "skilldelta"]),
    default="stack",
    show_default=True,
    help="stack combines local and pooled evidence; skilldelta is the paper's rule.",
)
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
    help="exact, betting, empirical_bernstein, hoeffding_independent, hoeffding or conformal.",
)
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95, show_default=True)
@click.option("--success-worth", type=float, metavar="USD", help="What one success is worth; needs --price.")
@click.option("--price", type=float, metavar="USD", help="What a million tokens cost.")
@click.option(
    "--explain", is_flag=True, help="Add components, chances and cost to the JSON document; text always has them."
)
@settings.json_option
@settings.output_option
@click.pass_context
def command(
    ctx: click.Context, /, text: str | None, bank: str, as_json: bool, output: Path | None, **options: Any
) -> None:
    """Predict the gain of a skill on a task, decide, and show the evidence.

    TEXT is the task as the agent will see it; "-" reads it from stdin.

    \b
    skilldelta predict --skill date_understanding "What is the date one week from 3/5/1979?"
    """
    refuse_flags_beside_paper(ctx)

    from skilldelta.advisor import Advisor
    from skilldelta.bank import Bank
    from skilldelta.cli.encoding import chosen_encoder

    policy = _policy(options)
    with Bank.open(bank, create=False) as opened:
        question = _question(opened, text, options)
        agent = opened.resolve_agent(options["agent"])
        advisor = Advisor(opened, chosen_encoder(opened, options), agent=agent, policy=policy)
        advice = advisor.ask(question, explain=options["explain"] or not (as_json or output))
    if as_json or output:
        write_json(advice.to_dict(), output)
    else:
        _show(advice, policy)


def _policy(options: dict[str, Any]) -> Policy:
    from skilldelta.advisor import Policy
    from skilldelta.predictor import PAPER, Settings

    if options["paper"]:
        scope: ScopeChoice = "family" if options["family"] else "skill"
        return Policy(
            estimator="skilldelta",
            settings=PAPER,
            scope=scope,
            level=options["level"],
            rule=options["rule"],
            method="hoeffding",
        )
    return Policy(
        estimator=options["estimator"],
        settings=Settings(k=options["k"], weighting=options["weighting"]),
        scope=options["scope"] or "auto",
        threshold=options["threshold"],
        rule=options["rule"],
        level=options["level"],
        method=options["method"],
        cost_rule=_cost_rule(options),
        price=options["price"],
    )


def _cost_rule(options: dict[str, Any]) -> CostRule | None:
    from skilldelta.costs import CostRule

    if options["success_worth"] is None:
        return None
    if options["price"] is None:
        raise InputError("--success-worth needs --price, the dollars a million tokens cost")
    return CostRule.from_worth(options["success_worth"], options["price"])


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


def _show(advice: Advice, policy: Policy) -> None:
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
    _show_explanation(out, advice, policy)
    rows = [
        [
            shorten(n.task_id, 28),
            shorten(n.text, 40),
            f"{n.similarity:.3f}",
            f"{n.weight:.3f}",
            signed(n.gain, 2),
            f"{percent(n.y0, 0)} → {percent(n.y1, 0)}",
            f"{n.r0}/{n.r1}",
        ]
        for n in advice.neighbors
    ]
    out.print(table("Nearest paired executions", _COLUMNS, rows, left=2))


def _show_explanation(out: Console, advice: Advice, policy: Policy) -> None:
    from skilldelta.estimators.stack.component_words import SMALLEST_SHARE, component_words

    found = advice.explanation
    if found is None:
        return
    if found.chance is not None:
        out.print(f"{found.chance.sentence[0].upper()}{found.chance.sentence[1:]}.")
    if policy.cost_rule is not None and policy.rule == "plain":
        out.print(policy.cost_rule.sentence(advice.decision.gain, found.cost, threshold=policy.threshold))
    elif found.cost is not None:
        dollars = "" if found.cost.dollars is None else f" (${found.cost.dollars:.2g})"
        verb = "add" if found.cost.tokens >= 0 else "save"
        out.print(f"It is predicted to {verb} {plural(abs(found.cost.tokens), 'token')}{dollars}.")
    parts = sorted(found.shares.items(), key=lambda part: -part[1])
    counted = [
        f"{component_words(name)} {signed(found.components[name])} ({percent(share, 0)})"
        for name, share in parts
        if share >= SMALLEST_SHARE
    ]
    if len(counted) > 1:
        out.print("Made of: " + ", ".join(counted) + ".")


_COLUMNS = ("task", "text", "cosine", "weight", "gain", "without → with", "runs")
