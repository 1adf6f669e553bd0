"""What a bank cost, what it saves, and when it has paid, on three tasks that a reader can add up."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.errors import InputError
from skilldelta.evaluation.accounting import Account, RoutingCost, account, break_even
from skilldelta.pairing import pair_executions
from skilldelta.records import Agent, Condition, Execution
from skilldelta.support import Support

AGENT = Agent("m")
USE = np.array([True, False, False])


def run(task: str, condition: Condition, success: float, **fields: object) -> Execution:
    values: dict[str, object] = {"skill_id": "s" if condition == "use" else "", "repetition": 0} | fields
    return Execution(
        agent=AGENT,
        suite="u",
        task_id=task,
        condition=condition,
        success=success,
        **values,  # type: ignore[arg-type]
    )


def executions(**changes: object) -> list[Execution]:
    """Three tasks: 100 tokens and 2 seconds without the skill, 300 tokens and 3 seconds with it."""
    held = []
    for task, y0, y1 in (("a", 0.0, 1.0), ("b", 1.0, 1.0), ("c", 1.0, 0.0)):
        held.append(run(task, "skip", y0, tokens=100.0, seconds=2.0, **changes))
        held.append(run(task, "use", y1, tokens=300.0, seconds=3.0, **changes))
    return held


def support_of(held: list[Execution]) -> Support:
    pairs = pair_executions(held, families={}).pairs
    return Support.from_pairs(pairs, np.eye(len(pairs)))


def accounted(held: list[Execution], **options: object) -> Account:
    return account(support_of(held), USE, held, **options)  # type: ignore[arg-type]


def test_the_bank_has_paid_when_savings_cover_its_executions() -> None:
    tokens = accounted(executions()).of("tokens")
    assert tokens.bank == 1200
    assert (tokens.always_off, tokens.always_on) == (100, 300)
    assert tokens.policy == pytest.approx((300 + 100 + 100) / 3)
    assert tokens.saving == pytest.approx(400 / 3)
    assert tokens.break_even == 9  # 1200 / 133.3


def test_seconds_come_from_the_executions_themselves() -> None:
    seconds = accounted(executions()).of("seconds")
    assert seconds.bank == 15
    assert seconds.saving == pytest.approx(3 - 7 / 3)
    assert seconds.break_even == 23


def test_what_was_never_recorded_is_unknown_and_not_zero() -> None:
    dollars = accounted(executions()).of("usd")
    assert (dollars.bank, dollars.saving, dollars.break_even) == (None, None, None)
    assert (dollars.unrecorded, dollars.tasks) == (6, 0)
    paid = accounted(executions(cost_usd=0.01)).of("usd")
    assert paid.bank == pytest.approx(0.06)
    assert paid.saving == pytest.approx(0)
    assert paid.break_even is None


def test_routing_is_paid_by_every_task() -> None:
    tokens = accounted(executions(), routing=RoutingCost(tokens=33.0)).of("tokens")
    assert tokens.saving == pytest.approx(400 / 3 - 33)
    assert tokens.break_even == 12
    costly = accounted(executions(), routing=RoutingCost(tokens=200.0)).of("tokens")
    assert costly.saving == pytest.approx(-200 / 3)
    assert costly.break_even is None


def test_success_stands_beside_the_saving() -> None:
    result = accounted(executions())
    assert result.use_rate == pytest.approx(1 / 3)
    assert result.success == 1.0
    assert result.success_change == pytest.approx(1 / 3)
    against_off = accounted(executions(), baseline="always_off")
    assert against_off.success_change == pytest.approx(1 / 3)
    assert against_off.of("tokens").saving == pytest.approx(-200 / 3)


def test_executions_that_do_not_count_were_paid_for_all_the_same() -> None:
    failed = run("a", "use", 0.0, tokens=50.0, status="transport_error")
    tokens = accounted([*executions(), failed, run("b", "use", 0.0, status="incomplete")]).of("tokens")
    assert tokens.bank == 1250
    assert tokens.unrecorded == 1
    assert tokens.always_on == 300


def test_a_baseline_recorded_for_its_skill_is_found() -> None:
    held = [
        run("a", "skip", 0.0, skill_id="s", seconds=4.0),
        run("a", "use", 1.0, seconds=6.0),
    ]
    seconds = account(support_of(held), np.array([False]), held).of("seconds")
    assert (seconds.always_off, seconds.always_on, seconds.saving) == (4, 6, 2)
    assert seconds.break_even == 5


def test_break_even_is_whole_tasks_or_never() -> None:
    assert break_even(100, 10) == 10
    assert break_even(101, 10) == 11
    assert break_even(0.3, 0.1) == 3
    assert break_even(100, 0) is None
    assert break_even(100, -1) is None


def test_actions_must_fit_the_pairs() -> None:
    with pytest.raises(InputError, match="2 actions came for 3 pairs"):
        account(support_of(executions()), np.array([True, False]), executions())
    with pytest.raises(InputError, match="baseline must be always_on or always_off, got 'never'"):
        accounted(executions(), baseline="never")
