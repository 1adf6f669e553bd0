"""`skilldelta why`: the last decision that a hook has taken, in words."""

from __future__ import annotations

import json
import os
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skilldelta.cli import settings
from skilldelta.cli.output import answer
from skilldelta.errors import InputError

if TYPE_CHECKING:
    from skilldelta.serve.hooks.conversation import HookDecision, LastDecisions


_MOST_BYTES = 1 << 20


@click.command("why")
@click.option("--state", metavar="FOLDER", envvar="SKILLDELTA_STATE", help="Where hooks keep their decisions.")
@click.option(
    "--status-line",
    is_flag=True,
    help="One line about the conversation that Claude Code names on standard input, for its status line.",
)
@settings.json_option
def command(state: str | None, status_line: bool, as_json: bool) -> None:
    """Explain what the gate decided last in an agent harness on this machine.

    \b
    skilldelta why
    skilldelta record --last success
    """
    if status_line:
        click.echo(_status_line(state))
        return
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


def _status_line(state: str | None) -> str:
    """The skill that the conversation was given last; empty where nothing was decided, and whatever standard input says."""
    from skilldelta.cli.state_folder import state_folder
    from skilldelta.serve.hooks.conversation import Conversation

    try:
        document = json.loads(sys.stdin.buffer.read(_MOST_BYTES))
        session = str(document["session_id"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return ""
    folder = state_folder(state, os.environ) or Path()
    tasks = Conversation(folder / "conversations", "claude-code", session).tasks()
    taken = [decision for task in tasks for decision in task.known() or () if decision.chosen or decision.has_evidence]
    decision = next((one for one in reversed(taken) if one.chosen), taken[-1] if taken else None)
    return "" if decision is None else f"SkillDelta: {_sentence(decision).partition(':')[0].strip()}"


def _sentence(decision: HookDecision) -> str:
    verb = {"use": "used", "skip": "skipped", "abstain": "left alone"}[decision.action]
    certainty = f", {decision.certainty}" if decision.certainty else ""
    gain = f" ({100 * decision.gain:+.0f} points{certainty})" if decision.has_evidence else ""
    number = f" [decision {decision.decision_id}]" if decision.decision_id else ""
    return f"  {verb} {decision.skill}{gain}: {decision.reason}{number}"
