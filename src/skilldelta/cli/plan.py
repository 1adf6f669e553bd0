"""`skilldelta plan`: which executions to buy next, what they may change, and what they cost."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import console, number, plain_minus, progress, signed, table, write_json
from skilldelta.cli.settings import GivenPath
from skilldelta.errors import InputError
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.collect.suite import Suite
    from skilldelta.evaluation.purchase_plan import GroupPlan, NeededTasks
    from skilldelta.records import Agent
    from skilldelta.studies.purchase_study import EvidencePlan


@click.command("plan")
@click.argument("folder", type=GivenPath(file_okay=False), metavar="[SUITE]", required=False)
@settings.bank_option
@settings.agent_option
@settings.suite_option
@click.option("--budget", type=click.IntRange(1), metavar="N", help="The most executions to buy.")
@click.option("--threshold", type=click.FloatRange(-1, 1), default=0.0, help="The gate's threshold.")
@click.option(
    "--price", type=click.FloatRange(0), metavar="USD", help="What a million tokens cost, where the bank has no costs."
)
@click.option(
    "--gain", type=float, metavar="G", help="Also say how many tasks show a gain of G, such as 0.1, with 80% power."
)
@settings.document_options
@progress("planning")
def command(
    folder: Path | None,
    bank: str,
    agent: str | None,
    suite: str | None,
    budget: int | None,
    threshold: float,
    price: float | None,
    gain: float | None,
    as_json: bool,
    output: Path | None,
) -> None:
    """Which executions to buy next: those that most improve what the gate decides about each family of tasks.

    With a SUITE folder its tasks are offered: missing arms first, then new pairs, then repetitions. Without one, new tasks of
    the recorded families. Nothing is run; `skilldelta collect SUITE --next N` runs the plan.

    \b
    skilldelta plan my-suite --budget 60
    skilldelta plan --budget 40 --agent my-agent
    skilldelta plan --gain 0.1
    """
    if budget is None and gain is None:
        raise InputError("say how many executions may be bought: --budget 60; or which gain is to be seen: --gain 0.1")
    from skilldelta.collect.suite import load_suite
    from skilldelta.evaluation.purchase_plan import tasks_to_see

    loaded = None if folder is None else load_suite(folder)
    plan = None if budget is None else plan_for(loaded, bank, agent, suite, budget, threshold, price)
    needed = [] if gain is None else tasks_to_see(gain, variance=plan.pair_variance if plan else None)
    if as_json or output:
        write_json(_document(plan, gain, needed), output)
        return
    if plan is not None:
        _show(plan, folder)
    if gain is not None:
        _show_needed(gain, needed)


def plan_for(
    suite: Suite | None,
    location: str,
    agent: str | None,
    suite_name: str | None,
    budget: int,
    threshold: float = 0.0,
    price: float | None = None,
    *,
    identity: Agent | None = None,
    with_repetitions: bool = True,
) -> EvidencePlan:
    """The plan for a suite's tasks, or for what a bank has; a bank that does not exist yet is an empty one for a suite."""
    from skilldelta.bank import Bank
    from skilldelta.studies import PanelChoice
    from skilldelta.studies.purchase_study import plan_evidence

    plan = partial(
        plan_evidence,
        budget=budget,
        suite=suite,
        choice=PanelChoice(agent, suite_name),
        agent=identity,
        with_repetitions=with_repetitions,
        threshold=threshold,
        price=price,
    )
    if suite is not None and "://" not in location and not Path(location).exists():
        return plan(None)
    with Bank.open(location, create=False) as bank:
        return plan(bank)


def _document(plan: EvidencePlan | None, gain: float | None, needed: list[NeededTasks]) -> dict[str, Any]:
    from skilldelta.studies.purchase_study import plan_to_dict

    document = {} if plan is None else plan_to_dict(plan)
    if gain is not None:
        rows = [{"repetitions": row.repetitions, "tasks": row.tasks, "executions": row.executions} for row in needed]
        document["power"] = {"gain": gain, "power": 0.8, "level": 0.95, "needed": rows}
    return document


def _show(plan: EvidencePlan, folder: Path | None) -> None:
    out, purchases = console(), plan.purchases
    agent = plan.agent or "an agent without runs"
    title = f"{agent} on {plan.suite}: the {plural(purchases.executions, 'execution')} to run next"
    bought = [group for group in purchases.groups if group.offers]
    columns = ("family", "skill", "pairs now", "gain now (points)", "buy", "executions", "sure afterwards")
    out.print(table(title, columns, [_row(group) for group in bought], left=2))
    if purchases.executions < plan.budget:
        out.print(f"Nothing else is left to run: {purchases.executions} of {plan.budget} executions are used.")
    settled = [group for group in purchases.groups if group.sure_now and not group.offers]
    if settled:
        out.print(f"Sure already: {', '.join(group.family or group.skill for group in settled)}.")
    out.print(_reason(plan))
    out.print(_cost(plan))
    if folder is not None:
        out.print(f"Run it: skilldelta collect {folder} --next {plan.budget} (with the options of your agent)")
    else:
        out.print("The tasks are yet to be written; name a suite folder to plan with tasks that you have.")


def _row(group: GroupPlan) -> list[str]:
    kinds = [offer.kind for offer in group.offers]
    parts = [
        plural(kinds.count(kind), *words)
        for kind, words in (
            ("missing arm", ("missing arm", "missing arms")),
            ("new pair", ("new pair", "new pairs")),
            ("repetition", ("repetition", "repetitions")),
        )
        if kind in kinds
    ]
    gain = f"{signed(100 * group.gain, 0)} ± {196 * group.deviation:.0f}" if group.pairs else "not run yet"
    before = "sure" if group.sure_now else "not sure"
    return [
        group.family or "–",
        group.skill or "–",
        str(group.pairs),
        plain_minus(gain),
        ", ".join(parts),
        str(group.executions),
        f"{before} → {group.chance_of_sure:.0%}",
    ]


def _reason(plan: EvidencePlan) -> str:
    """What the purchase is expected to bring, and why it is spread as it is."""
    worth = f"Expected: {100 * plan.purchases.worth:.1f} points of success per task from better decisions by family."
    if plan.purchases.is_even:
        return f"{worth} The families hardly differ, so the executions are spread evenly."
    return f"{worth} Most go where a decision may still turn. Sure: the 95% interval lies on one side of the threshold."


def _cost(plan: EvidencePlan) -> str:
    if plan.tokens is None:
        return "What they cost is not known: no recorded execution of both arms has its tokens."
    dollars = "" if plan.dollars is None else f", ${plan.dollars:,.2f}"
    return f"About {number(plan.tokens)} tokens{dollars}, from what was recorded."


def _show_needed(gain: float, needed: list[NeededTasks]) -> None:
    rows = [[str(row.repetitions), str(row.tasks), str(row.executions)] for row in needed]
    title = f"To see a gain of {signed(100 * gain, 0)} points with 80% power"
    console().print(table(title, ("runs per arm", "tasks", "executions"), rows, left=0))
    console().print("More tasks tell more than more runs of each; runs pay where tasks are scarce.")
