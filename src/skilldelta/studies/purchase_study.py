"""What to run next for an agent, from a bank and, where there is one, from the tasks of a suite folder."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skilldelta.bank.pair_reading import PanelRecords
from skilldelta.bank.store import Bank
from skilldelta.collect.suite import Suite, SuiteTask
from skilldelta.errors import InputError
from skilldelta.evaluation.purchase_plan import (
    GroupKey,
    GroupPlan,
    Offer,
    PairRow,
    PurchasePlan,
    plan_purchases,
    repetition_offer,
)
from skilldelta.pairing import is_counted
from skilldelta.records import Agent, Condition, Execution, Pair
from skilldelta.studies.loaded_panel import EVERY_PANEL, PanelChoice, chosen_records

_BOTH: tuple[Condition, Condition] = ("skip", "use")


@dataclass(frozen=True, slots=True)
class EvidencePlan:
    """A plan with what it is about and what it is expected to cost."""

    agent: str
    """Empty for an agent that has run nothing yet."""
    suite: str
    purchases: PurchasePlan
    budget: int
    tokens: float | None
    """Of all executions, from recorded ones; None where none has its tokens."""
    dollars: float | None
    """At the recorded costs, or at the given price per million tokens; None where neither is known."""
    pair_variance: float | None
    """Of recorded gains at one execution per arm around their families' means; None below 20 pairs."""

    @property
    def task_ids(self) -> tuple[str, ...]:
        """The tasks to run, in the order of the plan."""
        return tuple(offer.task_id for group in self.purchases.groups for offer in group.offers if offer.task_id)


def plan_evidence(
    bank: Bank | None,
    *,
    budget: int,
    suite: Suite | None = None,
    choice: PanelChoice = EVERY_PANEL,
    agent: Agent | None = None,
    with_repetitions: bool = True,
    threshold: float = 0.0,
    price: float | None = None,
) -> EvidencePlan:
    """The executions that most improve a gate's decisions about families of tasks.

    Parameters:
        bank: Where recorded executions are; None where there is none yet.
        budget: The most executions to buy.
        suite: The tasks that can be run; without it, new tasks of the recorded families.
        choice: The agent and the suite, where the bank has several.
        agent: The agent itself, where it is known by more than its name; it may have run nothing yet.
        with_repetitions: Whether further runs of recorded pairs are offered, where a family has no other task left.
        threshold: The gate's.
        price: Dollars per million tokens, where costs are not recorded.

    Raises:
        InputError: The bank has several panels and none is chosen, or there is nothing to plan.

    Examples:
        >>> plan_evidence(bank, budget=10).purchases.executions
        10
    """
    panel = _panel_of(bank, choice, suite, agent)
    executions: Sequence[Execution] = panel.executions if panel else ()
    pairs: Sequence[Pair] = panel.pairing.pairs if panel else ()
    if suite is not None:
        # What was run with another version of a skill says nothing about which arms of this one are missing.
        executions = [run for run in executions if _is_current(run, suite)]
        pairs = [pair for pair in pairs if _is_current(pair, suite)]
        tasks = _by_group(suite.tasks)
        offers = {group: _offers_of_tasks(tasks[group], executions, with_repetitions) for group in tasks}
        shares = {group: float(len(tasks[group])) for group in tasks}
    else:
        offers = {_key(pair): [Offer("new pair", _BOTH)] * budget for pair in pairs}
        shares = {group: float(count) for group, count in Counter(map(_key, pairs)).items()}
    rows = [PairRow(_key(pair), pair.gain, pair.r0, pair.r1) for pair in pairs]
    purchases = plan_purchases(rows, offers, budget=budget, threshold=threshold, shares=shares)
    tokens = _expected(purchases.groups, executions, pairs, "tokens")
    dollars = _expected(purchases.groups, executions, pairs, "cost_usd")
    if dollars is None and price is not None and tokens is not None:
        dollars = tokens * price / 1e6
    return EvidencePlan(
        agent=panel.agent.name if panel else agent.name if agent else choice.agent or "",
        suite=panel.suite if panel else suite.name if suite else "",
        purchases=purchases,
        budget=budget,
        tokens=tokens,
        dollars=dollars,
        pair_variance=_pair_variance(pairs),
    )


def plan_to_dict(plan: EvidencePlan) -> dict[str, Any]:
    """What `skilldelta plan --json` prints."""
    return {
        "agent": plan.agent or None,
        "suite": plan.suite or None,
        "budget": plan.budget,
        "executions": plan.purchases.executions,
        "tokens": plan.tokens,
        "cost_usd": plan.dollars,
        "worth": plan.purchases.worth,
        "is_even": plan.purchases.is_even,
        "groups": [_group_document(group) for group in plan.purchases.groups],
    }


def _group_document(group: GroupPlan) -> dict[str, Any]:
    names = (
        "family",
        "skill",
        "share",
        "pairs",
        "gain",
        "deviation",
        "executions",
        "sure_now",
        "chance_of_sure",
        "worth",
    )
    return {
        **{name: getattr(group, name) for name in names},
        "offers": [
            {"kind": offer.kind, "task_id": offer.task_id or None, "conditions": list(offer.conditions)}
            for offer in group.offers
        ],
    }


def _panel_of(bank: Bank | None, choice: PanelChoice, suite: Suite | None, agent: Agent | None) -> PanelRecords | None:
    """The one panel that a plan is about; None where the tasks of a suite folder have not been run yet."""
    if bank is None:
        if suite is None:
            raise InputError("without a bank there is nothing to plan from; name a suite folder, or a bank")
        return None
    if suite is None:
        panels = chosen_records(bank, choice.agent, choice.suite)
    else:  # agent and suite may both be new to the bank
        chosen = agent
        if chosen is None and choice.agent is not None:
            names = {known.name for known in bank.agents()}
            chosen = bank.resolve_agent(choice.agent) if choice.agent.split("@")[0] in names else Agent(choice.agent)
        panels = [
            bank.panel_records(its_agent, its_suite)
            for its_agent, its_suite in bank.panel_names()
            if its_suite == suite.name and chosen in (None, its_agent)
        ]
    if len(panels) > 1:
        names_of_panels = ", ".join(f"--agent {panel.agent.name} --suite {panel.suite}" for panel in panels[:5])
        raise InputError(f"the bank has {len(panels)} panels; choose one: {names_of_panels}")
    if not panels and suite is None:
        raise InputError("the bank has no execution yet; name a suite folder whose tasks could be run")
    return panels[0] if panels else None


def _is_current(row: Execution | Pair, suite: Suite) -> bool:
    """Whether a row is of the version of its skill that the suite has, or does not say its version."""
    skill = suite.skills.get(row.skill_id)
    return skill is None or row.skill_digest in ("", skill.digest)


def _key(pair: Pair) -> GroupKey:
    return pair.family, pair.skill_id


def _by_group(tasks: Iterable[SuiteTask]) -> dict[GroupKey, list[SuiteTask]]:
    groups: defaultdict[GroupKey, list[SuiteTask]] = defaultdict(list)
    for task in tasks:
        groups[task.family, task.skill_id].append(task)
    return dict(groups)


def _offers_of_tasks(
    tasks: Sequence[SuiteTask], executions: Sequence[Execution], with_repetitions: bool
) -> list[Offer]:
    """Missing arms first, because they cost half; then new pairs; then repetitions of what is recorded."""
    runs = Counter((run.task_id, run.condition) for run in executions if is_counted(run))
    missing, new, again = [], [], []
    for task in tasks:
        r0, r1 = (runs[task.task_id, condition] for condition in _BOTH)
        if r0 and r1:
            again.append(repetition_offer(task.task_id, r0, r1))
        elif r0 or r1:
            missing.append(Offer("missing arm", ("use",) if r0 else ("skip",), task.task_id))
        else:
            new.append(Offer("new pair", _BOTH, task.task_id))
    return [*missing, *new, *(again if with_repetitions else [])]


def _expected(
    groups: Sequence[GroupPlan], executions: Sequence[Execution], pairs: Sequence[Pair], field: str
) -> float | None:
    """What the planned executions cost at the recorded means: of the family and arm where there is one, else of the arm."""
    family_of = {pair.task_id: pair.family for pair in pairs}
    sums: defaultdict[tuple[str | None, str], list[float]] = defaultdict(list)
    for run in executions:
        value = getattr(run, field)
        if value is not None and is_counted(run):
            sums[None, run.condition].append(value)
            if run.task_id in family_of:
                sums[family_of[run.task_id], run.condition].append(value)
    means = {key: float(np.mean(values)) for key, values in sums.items()}
    if not all((None, condition) in means for condition in _BOTH):
        return None
    return sum(
        means.get((group.family, condition), means[None, condition])
        for group in groups
        for offer in group.offers
        for condition in offer.conditions
    )


def _pair_variance(pairs: Sequence[Pair]) -> float | None:
    """Of gains with one execution per arm, around their families' means."""
    once = [pair for pair in pairs if pair.r0 == pair.r1 == 1]
    groups: defaultdict[GroupKey, list[float]] = defaultdict(list)
    for pair in once:
        groups[_key(pair)].append(pair.gain)
    freedom = len(once) - len(groups)
    if freedom < 20:
        return None
    return float(sum(np.var(gains) * len(gains) for gains in groups.values()) / freedom)
