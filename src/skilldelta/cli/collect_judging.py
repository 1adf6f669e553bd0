"""What `skilldelta collect --self-judge` shows: the plan of a round of judgements, and how it came out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skilldelta.cli.collect_plan import largest_in_words
from skilldelta.cli.output import console, note, number, table, write_json
from skilldelta.nouns import plural
from skilldelta.redaction import redacted

if TYPE_CHECKING:
    from skilldelta.collect.budget import Amount
    from skilldelta.collect.self_judging import JudgePlan, JudgeStanding
    from skilldelta.collect.session import Session
    from skilldelta.records import Judgement


def print_judge_plan(session: Session, as_json: bool) -> None:
    """How many judgements would be asked for, of which model, and the most they can cost."""
    from skilldelta.collect.self_judging import asking_agent, largest_of, plan_judgements

    model = str(asking_agent(session).settings["model"])
    known, has_executions = _in_bank(session)
    plan = plan_judgements(session, known)
    most, mean_tokens = largest_of(session, plan), _mean_tokens(known)
    if as_json:
        write_json(_document(session, plan, model, most, mean_tokens))
    else:
        _show(session, plan, model, most, mean_tokens)
    if not has_executions:
        note("the bank has no executions of this agent on this suite yet; collect without --self-judge first")


def judge_plan_document(session: Session) -> dict[str, Any]:
    """The plan of a round as one document, without naming every task."""
    from skilldelta.collect.self_judging import asking_agent, largest_of, plan_judgements

    known, _ = _in_bank(session)
    plan = plan_judgements(session, known)
    model = str(asking_agent(session).settings["model"])
    document = _document(session, plan, model, largest_of(session, plan), _mean_tokens(known))
    return {key: value for key, value in document.items() if key != "plan"}


def _in_bank(session: Session) -> tuple[list[Judgement], bool]:
    """The judgements the bank has, and whether it has executions to compare them with."""
    from skilldelta.bank import Bank

    if "://" not in session.bank and not Path(session.bank).exists():
        return [], False
    agent, suite = session.agent.identity, session.suite.name
    with Bank.open(session.bank, readonly=True) as bank:
        return bank.judgements(agent, suite), any(True for _ in bank.executions(agent=agent, suite=suite))


def _mean_tokens(known: list[Judgement]) -> float | None:
    tokens = [one.tokens for one in known if one.tokens is not None]
    return sum(tokens) / len(tokens) if tokens else None


def _document(session: Session, plan: JudgePlan, model: str, most: Amount, mean_tokens: float | None) -> dict[str, Any]:
    identity = session.agent.identity
    return {
        "suite": session.suite.name,
        "agent": {"name": identity.name, "fingerprint": identity.fingerprint},
        "model": model,
        "judgements": len(plan.tasks),
        "in_bank": len(plan.tasks) - len(plan.todo),
        "calls": len(plan.todo),
        "expected_tokens": None if mean_tokens is None else mean_tokens * len(plan.todo),
        "largest": {"tokens": most.tokens, "usd": most.usd},
        "plan": [{"task_id": task.task_id, "skill": task.skill_id} for task in plan.todo],
    }


def _show(session: Session, plan: JudgePlan, model: str, most: Amount, mean_tokens: float | None) -> None:
    out = console()
    asked = Counter(task.family or "–" for task in plan.todo)
    families = dict.fromkeys(task.family or "–" for task in plan.tasks)
    rows = [[name, number(asked[name])] for name in families]
    out.print(table(f"Self-judgements of {session.suite.name}", ("family", "to ask"), rows))
    size = f", {largest_in_words(most)}" if plan.todo else ""
    out.print(f"{plural(len(plan.todo), 'call')} to {model}, one per task{size}.")
    out.print(f"In the bank: {len(plan.tasks) - len(plan.todo):,} of {plural(len(plan.tasks), 'judgement')}.")
    if mean_tokens is not None and plan.todo:
        out.print(f"Judging as so far takes about {plural(mean_tokens * len(plan.todo), 'token')}.")
    out.print("Nothing was called.")


def print_judgements(session: Session, standing: JudgeStanding, as_json: bool) -> None:
    """How a round of self-judgements came out."""
    document: dict[str, Any] = {
        "bank": redacted(session.bank),
        "suite": session.suite.name,
        "planned": standing.planned,
        "before": standing.before,
        "finished": standing.finished,
        "use": standing.use,
        "unclear": standing.unclear,
        "errors": standing.errors,
        "tokens": standing.tokens,
        "stopped": standing.stopped or None,
    }
    if as_json:
        write_json(document)
    else:
        console().print(
            f"{plural(standing.finished, 'judgement')} now, in the bank before: {standing.before:,}; use {standing.use:,}, "
            f"no-use {standing.finished - standing.use:,} ({standing.unclear:,} without a clear label); "
            f"{'unknown tokens' if standing.tokens is None else plural(standing.tokens, 'token')} of routing cost."
        )
    if standing.errors:
        note(f"{standing.errors} got no answer, the last one: {standing.last_error}")
    if standing.stopped:
        note(f"stopped: {standing.stopped}")
