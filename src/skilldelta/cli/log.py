"""`skilldelta log`: the decision log of a bank, and what a gate in shadow mode would have done."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import console, note, signed, table, write_json

if TYPE_CHECKING:
    from skilldelta.bank.entries import DecisionRecord

_COLUMNS = ("id", "time", "agent", "skill", "action", "certainty", "source", "outcome", "points")


@click.command("log")
@settings.bank_option
@click.option("--skill", type=settings.NameInBank("skill"), metavar="NAME", help="Only decisions about this skill.")
@click.option("--agent", type=settings.NameInBank("agent"), metavar="NAME", help="Only decisions for this agent.")
@click.option("--action", type=click.Choice(["use", "skip", "abstain"]), help="Only these decisions.")
@click.option("--source", metavar="NAME", help="Only what this harness or program asked.")
@click.option("--search", metavar="TEXT", help="Only decisions with this text in a name, a reason or a kept task.")
@click.option(
    "--outcome", type=click.Choice(["recorded", "missing"]), help="Only with, or without, a recorded outcome."
)
@click.option("--shadow", is_flag=True, help="Sum up what hooks in shadow mode would have done.")
@click.option("--summary", is_flag=True, help="Compare predictions with the outcomes that were reported, of any time.")
@click.option("--days", type=click.FloatRange(0, min_open=True), default=7.0, help="Only the last days.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, help="At most so many decisions.")
@settings.json_option
def command(bank: str, shadow: bool, summary: bool, days: float, limit: int, as_json: bool, **filters: Any) -> None:
    """Show the decisions that the gate has taken, the newest first.

    \b
    skilldelta log --skill units --action skip
    skilldelta log --outcome missing --days 30 --json
    skilldelta log --shadow --days 7
    skilldelta log --summary
    """
    if summary:
        _print_summary(bank, as_json)
        return
    from skilldelta.bank import Bank
    from skilldelta.bank.entries import DecisionFilter

    outcome = filters.pop("outcome")
    chosen = DecisionFilter(since=time.time() - days * 86_400, skill_id=filters.pop("skill"), **filters)
    with Bank.open(bank, create=False, readonly=True) as opened:
        records = [
            record
            for record in opened.decisions(None, chosen)
            if record.source.endswith("-shadow") is shadow
            and (outcome is None or bool(record.outcomes) is (outcome == "recorded"))
        ]
    if shadow:
        _sum_up(records, days, as_json)
        return
    rows = [_row(record) for record in records[:limit]]
    if as_json:
        write_json({"decisions": rows})
        return
    if not rows:
        note(f"no such decision in the last {days:g} days; hooks, `predict --record` and the server write into the log")
        return
    console().print(
        table("Decisions, the newest first", _COLUMNS, [_cells(row) for row in rows], left=len(_COLUMNS) - 1)
    )
    if len(records) > limit:
        note(f"{len(records) - limit:,} more; raise --limit or use --json")


def _row(record: DecisionRecord) -> dict[str, Any]:
    last = record.outcomes[-1] if record.outcomes else None
    return {
        "decision_id": record.decision_id,
        "time": record.time,
        "agent": record.agent.name,
        "skill": record.skill_id,
        "task_id": record.task_id or None,
        "action": record.action,
        "certainty": record.evidence.get("certainty"),
        "gain": record.gain,
        "threshold": record.threshold,
        "source": record.source or None,
        "success": None if last is None else last.success,
        "outcomes": len(record.outcomes),
        "reason": record.reason,
    }


def _cells(row: dict[str, Any]) -> list[str]:
    success = "–" if row["success"] is None else f"{row['success']:.0%}"
    moment = datetime.fromtimestamp(row["time"]).strftime("%Y-%m-%d %H:%M")
    names = [row["agent"], row["skill"], row["action"], row["certainty"] or "–", row["source"] or "–"]
    return [str(row["decision_id"]), moment, *names, success, signed(100 * row["gain"], 1)]


def _sum_up(records: Sequence[DecisionRecord], days: float, as_json: bool) -> None:
    """What shadow mode would have done, by skill."""
    counts = Counter((record.skill_id, record.action) for record in records)
    rows = [
        {"skill": skill, **{action: counts[skill, action] for action in ("use", "skip", "abstain")}}
        for skill in sorted({skill for skill, _ in counts})
    ]
    if as_json:
        write_json({"days": days, "decisions": len(records), "skills": rows})
        return
    columns = ("skill", "would use", "would skip", "would abstain")
    cells = [[str(value) for value in row.values()] for row in rows]
    console().print(table(f"What the gate would have done in {days:g} days; it changed nothing", columns, cells))


def _print_summary(bank: str, as_json: bool) -> None:
    """The dashboard's reality page in the terminal."""
    from skilldelta.bank import Bank
    from skilldelta.bank.entries import DecisionFilter
    from skilldelta.report.numbers import percent, points
    from skilldelta.studies.reality import compare_with_reality, outcome_of, reality_to_dict

    with Bank.open(bank, create=False, readonly=True) as opened:
        outcomes = [outcome_of(record) for record in opened.decisions(None, DecisionFilter(outcomes_after=0))]
    reality = compare_with_reality([one for one in outcomes if one is not None], sum(one is None for one in outcomes))
    if as_json:
        write_json(reality_to_dict(reality))
        return
    console().print(reality.sentence)
    lines = [one for one in (reality.whole, *reality.skills) if one.number]
    if not lines:
        return
    cells = [
        [
            one.skill or "all skills",
            str(one.number),
            percent(one.predicted),
            percent(one.observed),
            points(one.difference.mean),
            f"{points(one.difference.low)} to {points(one.difference.high)}",
            one.state,
        ]
        for one in lines
    ]
    columns = ("skill", "outcomes", "predicted", "observed", "difference", "holds at every look", "state")
    console().print(table("Success as predicted and as reported, in points", columns, cells, left=1))
