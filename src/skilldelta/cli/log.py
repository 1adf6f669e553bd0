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
@click.option("--days", type=click.FloatRange(0, min_open=True), default=7.0, help="Only the last days.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=20, help="At most so many decisions.")
@settings.json_option
def command(bank: str, shadow: bool, days: float, limit: int, as_json: bool) -> None:
    """Show the decisions that the gate has taken, the newest first.

    \b
    skilldelta log --bank my.bank
    skilldelta log --shadow --days 7
    """
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
