from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from collect.suites import write_suite
from skilldelta.collect.arms import Message, arm_messages
from skilldelta.collect.plan import Selection, arm_order, make_plan, sampling_seed
from skilldelta.collect.suite import AgentSettings, Suite, load_suite
from skilldelta.errors import InputError


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    rows = [
        {"task_id": f"{family}{i}", "text": "x", "family": family, "skill": "arith", "answer": "1"}
        for family in ("a", "b")
        for i in range(4)
    ]
    return load_suite(write_suite(tmp_path, rows=rows))


def test_every_task_is_planned_once_in_each_arm_and_repetition(suite: Suite) -> None:
    plan = make_plan(suite, Selection(repetitions=2), seed=0)
    assert len(plan) == 8 * 2 * 2
    assert len({planned.key for planned in plan}) == len(plan)


def test_first_repetitions_come_before_second_ones_and_arms_of_a_task_side_by_side(suite: Suite) -> None:
    plan = make_plan(suite, Selection(repetitions=2), seed=0)
    assert [planned.repetition for planned in plan] == [0] * 16 + [1] * 16
    assert all(plan[i].task == plan[i + 1].task for i in range(0, len(plan), 2))


def test_the_order_of_the_arms_is_a_fair_coin_fixed_by_seed_task_and_repetition() -> None:
    first = Counter(arm_order(f"task {i}", 0, seed=0)[0] for i in range(2_000))
    assert 900 < first["use"] < 1_100
    assert arm_order("task", 1, seed=5) == arm_order("task", 1, seed=5)
    assert len({tuple(arm_order(f"t{i}", 0, seed=s)[0] for i in range(20)) for s in range(5)}) == 5


def test_the_skip_arm_names_no_skill_and_the_use_arm_its_version(suite: Suite) -> None:
    skip, use = sorted(make_plan(suite, Selection(task_ids=["a0"]), seed=0), key=lambda planned: planned.condition)
    assert skip.key == ("a0", "skip", "", "", 0)
    assert use.key == ("a0", "use", "arith", suite.skills["arith"].digest, 0)


def test_a_share_of_the_tasks_gets_all_repetitions_the_others_one(suite: Suite) -> None:
    plan = make_plan(suite, Selection(repetitions=3, repeat_share=0.25), seed=0)
    runs = Counter(planned.task.task_id for planned in plan)
    assert sorted(runs.values()) == [2] * 6 + [6] * 2


def test_a_limited_plan_takes_tasks_of_every_family(suite: Suite) -> None:
    tasks = {planned.task.task_id for planned in make_plan(suite, Selection(limit=3), seed=0)}
    assert tasks == {"a0", "a1", "b0"}


def test_an_aa_plan_runs_one_condition_twice_and_never_the_other(suite: Suite) -> None:
    plan = make_plan(suite, Selection(same_condition="skip"), seed=0)
    assert Counter((planned.condition, planned.repetition) for planned in plan) == {("skip", 0): 8, ("skip", 1): 8}


def test_both_arms_of_a_repetition_share_a_sampling_seed_and_repetitions_do_not() -> None:
    assert [sampling_seed(7, repetition) for repetition in range(3)] == [7, 8, 9]


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        ({"repetitions": 0}, "at least 1, got 0"),
        ({"repeat_share": 1.5}, "between 0 and 1, got 1.5"),
        ({"limit": 0}, "at least 1, got 0"),
    ],
)
def test_a_selection_that_cannot_be_is_refused(selection: dict[str, int], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Selection(**selection)  # type: ignore[arg-type]


def test_an_unknown_family_or_task_is_answered_with_the_nearest(suite: Suite) -> None:
    with pytest.raises(InputError, match="unknown task 'a9'; did you mean a"):
        make_plan(suite, Selection(task_ids=["a9"]), seed=0)
    with pytest.raises(InputError, match="unknown family 'c'"):
        make_plan(suite, Selection(families=["c"]), seed=0)


def test_the_skip_arm_has_no_trace_of_the_skill() -> None:
    skip = arm_messages("task", "skip", AgentSettings(), skill_text="skill")
    assert skip == [Message("user", "task")]
    use = arm_messages("task", "use", AgentSettings(system="be exact"), skill_text="skill", prefill="go")
    assert use == [
        Message("system", "be exact"),
        Message("system", "skill"),
        Message("user", "task"),
        Message("assistant", "go"),
    ]
