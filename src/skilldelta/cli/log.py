"""`skilldelta log`: the decision log of a bank, and what a gate in shadow mode would have done."""

from __future__ import annotations

import time
from collections import Counter
from datetime import datetime

import click

from skilldelta.cli import settings
from skilldelta.cli.output import console, table, write_json


@click.command("log")
@settings.bank_option
@click.option("--shadow", is_flag=True, help="Sum up what hooks in shadow mode would have done.")
@click.option("--summary", is_flag=True, help="Compare predictions with the outcomes that were reported, of any time.")
@click.option("--days", type=click.FloatRange(0, min_open=True), default=7.0, help="Only the last days.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, help="At most so many decisions.")
@settings.json_option
def command(bank: str, shadow: bool, summary: bool, days: float, limit: int, as_json: bool) -> None:
    """Show the decisions that the gate has taken, the newest first.

    \b
    skilldelta log --bank my.bank
    skilldelta log --shadow --days 7
    skilldelta log --summary
    """
    if summary:
        _print_summary(bank, as_json)
        return
    from skilldelta.bank import Bank
    from skilldelta.bank.entries import DecisionFilter

    chosen = DecisionFilter(since=time.time() - days * 86_400)
    with Bank.open(bank, create=False, readonly=True) as opened:
        records = [record for record in opened.decisions(None, chosen) if record.source.endswith("-shadow") is shadow]
    if shadow:
        counts = Counter((record.skill_id, record.action) for record in records)
        skills = sorted({skill for skill, _ in counts})
        rows = [
            {"skill": skill, **{action: counts[skill, action] for action in ("use", "skip", "abstain")}}
            for skill in skills
        ]
        if as_json:
            write_json({"days": days, "decisions": len(records), "skills": rows})
            return
        columns = ("skill", "would use", "would skip", "would abstain")
        cells = [[str(value) for value in row.values()] for row in rows]
        console().print(table(f"What the gate would have done in {days:g} days; it changed nothing", columns, cells))
        return
    shown = [
        {
            "decision_id": record.decision_id,
            "time": record.time,
            "skill": record.skill_id,
            "action": record.action,
            "gain": record.gain,
            "source": record.source or None,
            "reason": record.reason,
        }
        for record in records[:limit]
    ]
    if as_json:
        write_json({"decisions": shown})
        return
    cells = [
        [
            str(row["decision_id"]),
            datetime.fromtimestamp(record.time).strftime("%Y-%m-%d %H:%M"),
            record.skill_id,
            record.action,
            record.source or "–",
            f"{record.gain:+.3f}",
        ]
        for row, record in zip(shown, records, strict=False)
    ]
    console().print(
        table("Decisions, the newest first", ("id", "time", "skill", "action", "source", "gain"), cells, left=5)
    )


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
