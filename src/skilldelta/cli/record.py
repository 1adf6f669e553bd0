"""`skilldelta record`: what happened after a decision."""

from __future__ import annotations

import time
from typing import Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import answer
from skilldelta.cli.remote import remote_of, server_option
from skilldelta.errors import InputError


@click.command("record")
@click.argument("decision_id", type=click.IntRange(1, 2**62), required=False)
@click.option(
    "--last",
    type=click.Choice(["success", "failure"]),
    help="How the last conversation of a hook on this machine went, in place of DECISION_ID.",
)
@click.option("--success", type=click.FloatRange(0, 1), help="How far the task succeeded, from 0 to 1.")
@click.option("--tokens", type=click.FloatRange(0), help="Tokens that the task took.")
@click.option("--seconds", type=click.FloatRange(0), help="How long it took.")
@click.option("--cost-usd", type=click.FloatRange(0), help="What it cost.")
@click.option(
    "--key",
    default="",
    show_default=False,
    metavar="TEXT",
    help="A second report with the same key adds nothing; without a key, one with the same values adds nothing.",
)
@settings.bank_option
@server_option
@settings.json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    decision_id: int | None,
    last: str | None,
    bank: str,
    server: str | None,
    key: str,
    as_json: bool,
    **values: Any,
) -> None:
    """Record what happened after a decision, beside it in the log. It is not evidence: it has one arm.

    DECISION_ID is what `predict --record` or the server gave.

    \b
    skilldelta record 17 --success 1 --tokens 5200
    skilldelta record --last success
    """
    from skilldelta.bank import Bank, RecordedOutcome

    if (decision_id is None) == (last is None):
        raise InputError("name a decision by its number, or say --last success or --last failure")
    if last is not None:
        values["success"] = 1.0 if last == "success" else 0.0
    decision_id = decision_id or _last_decision()
    outcome = RecordedOutcome(decision_id, time.time(), **values, key=key)
    remote = remote_of(ctx, server)
    if remote is not None:
        amounts = {name: value for name, value in values.items() if value is not None}
        document = remote.ask("/v1/outcomes", {"decision_id": decision_id, **amounts, "key": key})
    else:
        with Bank.open(bank, create=False) as opened:
            logged = opened.record_outcome(outcome)
        document = {"outcome_id": logged.id, "decision_id": decision_id, "new": logged.is_new}
    result = "recorded" if document.get("new") else "was recorded before; nothing was added"
    answer(f"outcome {document.get('outcome_id')} of decision {decision_id} {result}", document, as_json=as_json)


def _last_decision() -> int:
    """The number of the last decision: about the skill that was used, else about the first one with a number."""
    from skilldelta.cli.why import last_of

    decisions = [decision for decision in last_of(None).decisions if decision.decision_id]
    decisions.sort(key=lambda decision: not decision.chosen)
    if not decisions or decisions[0].decision_id is None:
        raise InputError("the last decision of a hook is not in a log; there is nothing to record it with")
    return decisions[0].decision_id
