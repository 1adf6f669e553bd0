"""What `skilldelta collect --dry-run` shows: the executions or self-judgements, how many, what they may cost.

Nothing of the agent is run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from skilldelta.cli.output import console, note, number, table, write_json
from skilldelta.nouns import plural
from skilldelta.records import Condition, Execution

if TYPE_CHECKING:
    from skilldelta.bank import Bank
    from skilldelta.collect.budget import Amount
    from skilldelta.collect.plan import Planned
    from skilldelta.collect.self_judging import JudgePlan
    from skilldelta.collect.session import Session

T = TypeVar("T")

ARMS: dict[Condition, str] = {"skip": "without skill", "use": "with skill", "listed": "skill listed"}


@dataclass(slots=True)
class RemainingCost:
    """What is left of a plan, priced at what each arm took so far; unknown where an arm that has some left has not told."""

    had: Counter[Condition] = field(default_factory=Counter)
    left: Counter[Condition] = field(default_factory=Counter)
    tokens: float | None = None
    usd: float | None = None


def print_plan(session: Session, as_json: bool) -> None:
    """The plan as a table, or as one document that names every execution."""
    plan, most, estimate = _planned(session)
    if as_json:
        write_json(_document(session, plan, most, estimate))
    else:
        _show(session, plan, most, estimate)


def plan_document(session: Session) -> dict[str, Any]:
    """The plan as one document, without naming every execution."""
    document = _document(session, *_planned(session))
    return {key: value for key, value in document.items() if key != "plan"}


def _planned(session: Session) -> tuple[Sequence[Planned], Amount, RemainingCost | None]:
    """The plan, the most it can cost, and what is left of it where the bank can tell."""
    from skilldelta.collect.plan import make_plan

    plan = make_plan(session.suite, session.selection, seed=session.seed)
    estimate = _estimate(plan, _executions(session)) if assume_version(session) else None
    return plan, _largest(session, plan), estimate


def largest_in_words(most: Amount) -> str:
    """An upper bound for people; a bound that is not known is said to be none."""
    tokens = "no known bound on tokens" if most.tokens is None else f"at most {plural(most.tokens, 'token')}"
    return tokens if most.usd is None else f"{tokens} and ${most.usd:,.2f}"


def largest_left(session: Session) -> Amount:
    """The most that the executions can cost which the bank does not have yet."""
    from skilldelta.collect.plan import make_plan
    from skilldelta.collect.runner import missing

    plan = make_plan(session.suite, session.selection, seed=session.seed)
    return _largest(session, missing(plan, _executions(session)))


def _largest(session: Session, plan: Sequence[Planned]) -> Amount:
    from skilldelta.collect.agents.base import Attempt
    from skilldelta.collect.budget import Amount

    skills = session.suite.skills
    return Amount.total(
        session.agent.largest(
            Attempt(
                execution, skills[execution.task.skill_id].text if execution.condition == "use" else "", session.seed
            )
        )
        for execution in plan
    )


def assume_version(session: Session) -> bool:
    """Take a command's version from its last start, because a plan does not run it; False when there was none."""
    from skilldelta.collect.agents.command_agent import CommandAgent
    from skilldelta.collect.session import recorded_version
    from skilldelta.harnesses.harness_agent import HarnessAgent

    if isinstance(session.agent, CommandAgent | HarnessAgent) and not session.agent.version:
        session.agent.version = recorded_version(session)
        return bool(session.agent.version)
    return True


def _executions(session: Session) -> list[Execution]:
    agent, suite = session.agent.identity, session.suite.name
    return _in_bank(
        session, lambda bank: [*bank.executions(agent=agent, suite=suite), *bank.listed(agent=agent, suite=suite)]
    )


def _in_bank(session: Session, read: Callable[[Bank], list[T]]) -> list[T]:
    """What the bank has; nothing where there is no bank yet."""
    from skilldelta.bank import Bank

    if "://" not in session.bank and not Path(session.bank).exists():
        return []
    with Bank.open(session.bank, readonly=True) as bank:
        return read(bank)


def _estimate(plan: Sequence[Planned], executions: Sequence[Execution]) -> RemainingCost:
    from skilldelta.collect.plan import execution_key

    completed = {execution_key(execution): execution for execution in executions if execution.status == "completed"}
    estimate = RemainingCost()
    had: dict[Condition, list[Execution]] = {arm: [] for arm in ARMS}
    for planned in plan:
        if planned.key in completed:
            had[planned.condition].append(completed[planned.key])
            estimate.had[planned.condition] += 1
        else:
            estimate.left[planned.condition] += 1
    estimate.tokens = _projected(
        estimate.left, {arm: [execution.tokens for execution in rows] for arm, rows in had.items()}
    )
    estimate.usd = _projected(
        estimate.left, {arm: [execution.cost_usd for execution in rows] for arm, rows in had.items()}
    )
    return estimate


def _projected(left: Counter[Condition], took: dict[Condition, list[float | None]]) -> float | None:
    """The arms differ, since one reads the skill: each is projected from its own average."""
    total = 0.0
    for arm, count in left.items():
        measured = [value for value in took[arm] if value is not None]
        if count and not measured:
            return None
        total += count * sum(measured) / max(len(measured), 1)
    return total


def _document(
    session: Session, plan: Sequence[Planned], most: Amount, estimate: RemainingCost | None
) -> dict[str, Any]:
    identity = session.agent.identity
    return {
        "suite": session.suite.name,
        "agent": {"name": identity.name, "fingerprint": identity.fingerprint if estimate else None},
        "tasks": len({execution.task.task_id for execution in plan}),
        "executions": len(plan),
        "in_bank": estimate.had.total() if estimate else None,
        "expected_tokens": estimate.tokens if estimate else None,
        "expected_usd": estimate.usd if estimate else None,
        "largest": {"tokens": most.tokens, "usd": most.usd},
        "plan": [
            {"task_id": execution.task.task_id, "condition": execution.condition, "repetition": execution.repetition}
            for execution in plan
        ],
    }


def _show(session: Session, plan: Sequence[Planned], most: Amount, estimate: RemainingCost | None) -> None:
    from skilldelta.collect.agents.command_agent import CommandAgent
    from skilldelta.harnesses.harness_agent import HarnessAgent

    out = console()
    families: dict[str, Counter[Condition]] = {}
    for execution in plan:
        families.setdefault(execution.task.family or "–", Counter())[execution.condition] += 1
    arms = [arm for arm in ARMS if any(counts[arm] for counts in families.values())]
    rows = [[name, *(number(counts[arm]) for arm in arms)] for name, counts in families.items()]
    out.print(table(f"Plan of {session.suite.name}", ("family", *(ARMS[arm] for arm in arms)), rows))
    tasks = plural(len({execution.task.task_id for execution in plan}), "task")
    name = session.agent.identity.name
    out.print(f"{plural(len(plan), 'execution')} of {tasks} by {name}, {largest_in_words(most)}.", markup=False)
    if estimate is None:
        out.print(
            "What the bank has of this command is not known before it says its version; --agent-version names it."
        )
    elif estimate.had:
        out.print(_left_in_words(estimate, largest_left(session)))
    if isinstance(session.agent, HarnessAgent):
        out.print(f"{session.agent.harness} runs with its permission mode {session.agent.permission!r}.", markup=False)
    if isinstance(session.agent, CommandAgent | HarnessAgent):
        version = f"; its version was {session.agent.version!r} at the last start" if estimate else ""
        out.print(f"The command was not started, not even for its version{version}.", markup=False)
    out.print("Nothing was called.")


def _left_in_words(estimate: RemainingCost, most: Amount) -> str:
    begin = f"In the bank: {estimate.had.total():,}. The other {estimate.left.total():,}"
    if not estimate.left.total():
        return f"In the bank: {estimate.had.total():,}, which is all."
    if estimate.tokens is None:
        return f"{begin}: tokens unknown, because not every arm has told its own; {largest_in_words(most)}."
    cost = "" if estimate.usd is None else f" and ${estimate.usd:,.2f}"
    return f"{begin}: about {plural(estimate.tokens, 'token')}{cost}, each arm at its own average."


@dataclass(frozen=True, slots=True)
class _JudgeRound:
    """A round of self-judgements that is planned."""

    plan: JudgePlan
    model: str
    most: Amount
    mean_tokens: float | None
    """Of the judgements that the bank has."""


def print_judge_plan(session: Session, as_json: bool) -> None:
    """How many judgements would be asked for, of which model, and the most they can cost."""
    planned = _judge_round(session)
    if as_json:
        write_json(_judge_document(session, planned))
    else:
        _show_judge_plan(session, planned)
    if not _executions(session):
        note("the bank has no executions of this agent on this suite yet; collect without --self-judge first")


def judge_plan_document(session: Session) -> dict[str, Any]:
    """The plan of a round as one document, without naming every task."""
    document = _judge_document(session, _judge_round(session))
    return {key: value for key, value in document.items() if key != "plan"}


def _judge_round(session: Session) -> _JudgeRound:
    from skilldelta.collect.self_judging import asking_agent, largest_of, plan_judgements

    model = str(asking_agent(session).settings["model"])
    judgements = _in_bank(session, lambda bank: bank.judgements(session.agent.identity, session.suite.name))
    plan = plan_judgements(session, judgements)
    tokens = [judgement.tokens for judgement in judgements if judgement.tokens is not None]
    return _JudgeRound(plan, model, largest_of(session, plan), sum(tokens) / len(tokens) if tokens else None)


def _judge_document(session: Session, planned: _JudgeRound) -> dict[str, Any]:
    plan, identity = planned.plan, session.agent.identity
    return {
        "suite": session.suite.name,
        "agent": {"name": identity.name, "fingerprint": identity.fingerprint},
        "model": planned.model,
        "judgements": len(plan.tasks),
        "in_bank": len(plan.tasks) - len(plan.todo),
        "calls": len(plan.todo),
        "expected_tokens": None if planned.mean_tokens is None else planned.mean_tokens * len(plan.todo),
        "largest": {"tokens": planned.most.tokens, "usd": planned.most.usd},
        "plan": [{"task_id": task.task_id, "skill": task.skill_id} for task in plan.todo],
    }


def _show_judge_plan(session: Session, planned: _JudgeRound) -> None:
    out, plan = console(), planned.plan
    counts = Counter(task.family or "–" for task in plan.todo)
    families = dict.fromkeys(task.family or "–" for task in plan.tasks)
    rows = [[name, number(counts[name])] for name in families]
    out.print(table(f"Self-judgements of {session.suite.name}", ("family", "to ask"), rows))
    size = f", {largest_in_words(planned.most)}" if plan.todo else ""
    out.print(f"{plural(len(plan.todo), 'call')} to {planned.model}, one per task{size}.")
    out.print(f"In the bank: {len(plan.tasks) - len(plan.todo):,} of {plural(len(plan.tasks), 'judgement')}.")
    if planned.mean_tokens is not None and plan.todo:
        out.print(f"Judging as so far takes about {plural(planned.mean_tokens * len(plan.todo), 'token')}.")
    out.print("Nothing was called.")
