"""`skilldelta why`: the last decision that a hook has taken, in words."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skilldelta.cli import settings
from skilldelta.cli.output import answer
from skilldelta.errors import InputError

if TYPE_CHECKING:
    from skilldelta.serve.hooks.conversation import HookDecision, LastDecisions


@click.command("why")
@click.option("--state", metavar="FOLDER", envvar="SKILLDELTA_STATE", help="Where hooks keep their decisions.")
@settings.json_option
def command(state: str | None, as_json: bool) -> None:
    """Explain what the gate decided last in an agent harness on this machine.

    \b
    skilldelta why
    skilldelta record --last success
    """
    last = last_of(state)
    when = datetime.fromtimestamp(last.time).strftime("%Y-%m-%d %H:%M")
    lines = [f"{when}, {last.harness or 'a harness'}:", *(_sentence(decision) for decision in last.decisions)]
    if any(decision.decision_id for decision in last.decisions):
        lines.append("Say how it went with: skilldelta record --last success, or failure")
    document = {
        "time": last.time,
        "harness": last.harness,
        "decisions": [decision.to_row() for decision in last.decisions],
    }
    answer("\n".join(lines), document, as_json=as_json)


def last_of(state: str | None) -> LastDecisions:
    """The newest decisions of any hook."""
    from skilldelta.cli.state_folder import state_folder
    from skilldelta.serve.hooks.conversation import last_decisions

    folder = state_folder(state, os.environ) or Path()
    last = last_decisions(folder / "conversations")
    if last is None:
        raise InputError(
            f"no hook has decided anything yet in {folder}; a plugin of Claude Code keeps its own folder, see --state"
        )
    return last


def _sentence(decision: HookDecision) -> str:
    verb = {"use": "used", "skip": "skipped", "abstain": "left alone"}[decision.action]
    certainty = f", {decision.certainty}" if decision.certainty else ""
    gain = f" ({100 * decision.gain:+.0f} points{certainty})" if decision.has_evidence else ""
    number = f" [decision {decision.decision_id}]" if decision.decision_id else ""
    return f"  {verb} {decision.skill}{gain}: {decision.reason}{number}"
