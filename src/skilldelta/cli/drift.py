"""`skilldelta drift`: which skills still help after a model, a harness or the skill itself was updated."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skilldelta.cli import settings
from skilldelta.cli.output import console, note, plain_minus, signed, table, write_json
from skilldelta.errors import InputError
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.evaluation.drift import SkillDrift
    from skilldelta.studies.drift_study import Drift

_COLUMNS = ("skill", "verdict", "gain before", "gain now", "95%", "pairs", "to settle it")


@click.command("drift")
@settings.bank_option
@click.option("--from", "older", metavar="AGENT", help="The agent before the update.")
@click.option("--to", "newer", metavar="AGENT", help="The agent after it; it may have run nothing yet.")
@click.option("--skill-change", is_flag=True, help="Compare each skill's newest version with the one before.")
@settings.agent_option
@settings.suite_option
@click.option("--skill", metavar="NAME", help="Only this skill.")
@click.option("--markdown", is_flag=True, help="A table for an issue or a pull request.")
@settings.document_options
def command(
    bank: str,
    older: str | None,
    newer: str | None,
    skill_change: bool,
    agent: str | None,
    suite: str | None,
    skill: str | None,
    markdown: bool,
    as_json: bool,
    output: Path | None,
) -> int:
    """Which skills still help, which help less or stopped, and how many pairs settle the others.

    You may look after every execution: a skill whose gain stayed is ever called fallen with a chance of at most 5%.
    Exit code 1 where a skill helps less or stopped helping.

    \b
    skilldelta drift --from claude-4 --to claude-5
    skilldelta drift --skill-change --agent my-agent
    """
    if skill_change == bool(older or newer) or bool(older) != bool(newer):
        raise InputError("say what was updated: --from AGENT --to AGENT, or --skill-change")
    from skilldelta.bank import Bank
    from skilldelta.studies.drift_study import agent_drift, drift_to_dict, version_drift

    with Bank.open(bank, create=False) as opened:
        if older and newer:
            drift = agent_drift(opened, older, newer, suite=suite, skill=skill)
        else:
            drift = version_drift(opened, agent=agent, suite=suite, skill=skill)
    for remark in drift.notes:
        note(remark)
    if as_json or output:
        write_json(drift_to_dict(drift), output)
    elif markdown:
        click.echo(_markdown(drift))
    else:
        _show(drift)
    return int(any(one.verdict in ("helps less", "stopped helping") for one in drift.skills))


def _show(drift: Drift) -> None:
    out = console()
    out.print(table(f"From {drift.older} to {drift.newer} (gains in points)", _COLUMNS, _rows(drift), left=2))
    out.print(_summary(drift))


def _summary(drift: Drift) -> str:
    counts = Counter(one.verdict for one in drift.skills)
    words = ", ".join(f"{verdict} {count}" for verdict, count in counts.items())
    missing = sum(one.more_pairs or 0 for one in drift.skills)
    todo = ""
    if missing:
        todo = (
            f" About {plural(missing, 'more pair')} settle what is open, with a chance of 80% each; "
            "skilldelta plan SUITE chooses the tasks."
        )
    return f"{plural(len(drift.skills), 'skill')}: {words}.{todo}"


def _rows(drift: Drift) -> list[list[str]]:
    return [_row(one) for one in drift.skills]


def _row(drift: SkillDrift) -> list[str]:
    now = "not run yet" if drift.after is None else _points(drift.after)
    interval = "–" if drift.low is None or drift.high is None else f"{_points(drift.low)} to {_points(drift.high)}"
    more = "–"
    if drift.more_pairs is not None:
        more = plural(drift.more_pairs, "more pair")
    elif drift.verdict == "not enough evidence":
        more = "too few before"
    pairs = f"{drift.pairs_before} → {drift.pairs_after}"
    return [drift.skill, drift.verdict, _points(drift.before or 0.0), now, interval, pairs, more]


def _points(gain: float) -> str:
    return plain_minus(signed(100 * gain, 0))


def _markdown(drift: Drift) -> str:
    def line(cells: list[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    lines = [f"**From {drift.older} to {drift.newer}** (gains in points)", "", line(list(_COLUMNS))]
    lines += ["|" + "---|" * len(_COLUMNS), *(line(row) for row in _rows(drift)), "", _summary(drift)]
    return "\n".join(lines)
