"""Self-judge: the agent's model is shown task and skill and says itself whether it would use the skill.

One prompt for every agent and suite. The reply must hold exactly one of two labels; anything else is no-use. A completed
reply is never asked again, a transport error is. The tokens are the cost of routing by self-judgement.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from skilldelta.collect.agents.base import Asks, run_pool
from skilldelta.collect.arms import Message
from skilldelta.collect.budget import Amount, Budget
from skilldelta.collect.execution_errors import CapReachedError, TransportError
from skilldelta.collect.graders.final_answer import without_thoughts
from skilldelta.collect.ledger import Spend
from skilldelta.collect.plan import make_plan
from skilldelta.collect.recorder import Recorder
from skilldelta.collect.reply_text import storable, unique_label
from skilldelta.collect.session import Session, opened
from skilldelta.collect.suite import SuiteTask
from skilldelta.errors import InputError
from skilldelta.records import Judgement, Skill

USE, SKIP = "USE_SKILL", "NO_SKILL"

PROMPT = f"""\
You are about to work on a task. A skill, a text with instructions, could be added to your context before you start. \
A skill helps on some tasks, makes no difference on others, and misleads on some.

Decide whether you would be more likely to succeed at this task with the skill in your context than without it. Do not \
solve the task.

<task>
{{task}}
</task>

<skill>
{{skill}}
</skill>

Answer with one word: {USE} if the skill should be added, {SKIP} if not."""


@dataclass(slots=True)
class JudgeProgress:
    """How a round of self-judgements stands."""

    planned: int
    before: int
    finished: int = 0
    use: int = 0
    unclear: int = 0
    """Replies without exactly one label; they count as no-use."""
    errors: int = 0
    last_error: str = ""
    tokens: float | None = 0.0
    """Of this round; None when an answer did not tell its tokens."""
    stopped: str = ""
    spend: Spend | None = None


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """Every judgement of a selection, and those that are still to be asked for, one call each."""

    tasks: tuple[SuiteTask, ...]
    todo: tuple[SuiteTask, ...]


def plan_judgements(session: Session, recorded: Iterable[Judgement]) -> JudgePlan:
    """What a round would ask, given the judgements that the bank has."""
    planned = make_plan(session.suite, session.selection, seed=session.seed)
    tasks = {judgement.task.task_id: judgement.task for judgement in planned}.values()
    answered = {(judgement.task_id, judgement.skill_digest) for judgement in recorded}
    todo = [task for task in tasks if (task.task_id, _skill(session, task).digest) not in answered]
    return JudgePlan(tuple(tasks), tuple(todo))


def largest_of(session: Session, plan: JudgePlan) -> Amount:
    """The most that the calls of a plan can come to."""
    agent = asking_agent(session)
    return Amount.total(agent.largest_ask(_question(session, task)) for task in plan.todo)


def asking_agent(session: Session) -> Asks:
    """The session's agent, which must be a model: a program cannot be asked about itself."""
    if not isinstance(session.agent, Asks):
        raise InputError("a command-line agent cannot be asked for its own judgement; give --model")
    return session.agent


async def judge(session: Session, on_progress: Callable[[JudgeProgress], None]) -> JudgeProgress:
    """Ask for every task of the selection that has no judgement in the bank yet."""
    agent = asking_agent(session)
    async with opened(session) as (budget, recorder):
        await agent.prepare(session.folder)
        if not await recorder.open(session.suite, agent.identity):
            raise InputError(
                f"the bank has no executions of agent {agent.identity.name!r} with these settings on suite "
                f"{session.suite.name!r}, so there is nothing to compare its judgements with; collect without --self-judge first"
            )
        plan = plan_judgements(session, await recorder.judgements(agent.identity, session.suite.name))
        progress = JudgeProgress(planned=len(plan.tasks), before=len(plan.tasks) - len(plan.todo))

        async def judge_one(task: SuiteTask) -> None:
            if not progress.stopped:
                await _judge_one(session, agent, task, budget, recorder, progress)
                on_progress(progress)

        await run_pool(plan.todo, session.concurrency, judge_one)
        progress.spend = budget.spend
    return progress


def read_label(reply: str) -> bool | None:
    """True for use, False for no-use, None when the reply does not hold exactly one label outside of its thoughts."""
    label = unique_label(without_thoughts(reply), (USE, SKIP))
    return None if label is None else label == USE


async def _judge_one(
    session: Session, agent: Asks, task: SuiteTask, budget: Budget, recorder: Recorder, progress: JudgeProgress
) -> None:
    skill = _skill(session, task)
    try:
        reply = await agent.ask(f"{task.task_id}/self-judge", _question(session, task), budget)
    except CapReachedError as error:
        progress.stopped = str(error)
        return
    except TransportError as error:
        progress.errors, progress.last_error = progress.errors + 1, str(error)
        if not progress.finished:
            progress.stopped = f"{error}; fix the endpoint and run the same command again"
        return
    label = read_label(reply.text)
    await recorder.add_judgement(
        Judgement(
            agent=agent.identity,
            suite=session.suite.name,
            task_id=task.task_id,
            skill_id=skill.skill_id,
            skill_digest=skill.digest,
            use=bool(label),
            tokens=reply.tokens,
            answer=storable(reply.text),
        )
    )
    progress.finished += 1
    progress.use += bool(label)
    progress.unclear += label is None
    has_tokens = progress.tokens is not None and reply.tokens is not None
    progress.tokens = (progress.tokens or 0.0) + (reply.tokens or 0.0) if has_tokens else None


def _question(session: Session, task: SuiteTask) -> list[Message]:
    skill_text, prompt = session.suite.skill_text(task), session.suite.self_judge
    if prompt is None:
        return [Message("user", PROMPT.format(task=task.text, skill=skill_text))]
    fields = {"{question}": task.text, "{skills}": skill_text}
    # Filled in one pass, since a task and a skill may hold braces of their own.
    user = re.sub(r"\{question\}|\{skills\}", lambda place: fields[place[0]], prompt.user)
    return [*([Message("system", prompt.system)] if prompt.system else []), Message("user", user)]


def _skill(session: Session, task: SuiteTask) -> Skill:
    return session.suite.skills[task.skill_id]
