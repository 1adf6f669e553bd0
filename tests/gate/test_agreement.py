"""What is evaluated is what is deployed: every recorded task is decided alike by `evaluate` and by `predict --task-id`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skilldelta import (
    Advisor,
    EvaluationSettings,
    Gate,
    Question,
    evaluate,
    intervals,
    load_encoder,
    load_panels,
    open_bank,
)
from skilldelta.bank.store import Bank
from skilldelta.demo.bundled import bundled_batch
from skilldelta.estimators.base import Target
from skilldelta.studies import LoadedPanel

pytestmark = pytest.mark.usefixtures("shrunk_mean")


RULES: dict[str, dict[str, Any]] = {
    "plain": {},
    "cost": {"success_worth": 0.05, "price": 10.0},
    "three-way": {"rule": "three-way", "level": 0.8},
    "conservative": {"rule": "conservative", "level": 0.8},
    "three-way with costs": {"rule": "three-way", "level": 0.8, "success_worth": 0.05, "price": 10.0},
}


def grid(estimator: str) -> dict[str, Gate]:
    """Every rule with every interval; rules that look at no interval once."""
    gates = {}
    for rule, settings in RULES.items():
        for method in intervals.NAMES if "rule" in settings else [None]:
            if method != "blend" or estimator == "blend":
                gates[f"{rule}, {method}"] = Gate(estimator=estimator, interval=method, **settings)
    return gates


OTHER_GATES: dict[str, dict[str, Any]] = {
    "the paper's": {"paper": True},
    "the paper's, three-way and with a limit": {
        "estimator": "paper",
        "rule": "three-way",
        "level": 0.8,
        "familiarity_limit": 0.05,
    },
    "the paper's with costs": {"estimator": "paper", "success_worth": 0.05, "price": 10.0},
    "another package's": {"estimator": "shrunk_mean"},
    "another package's, conservative": {"estimator": "shrunk_mean", "rule": "conservative", "level": 0.6},
    "another package's with costs": {"estimator": "shrunk_mean", "success_worth": 0.05, "price": 10.0},
    "words": {"estimator": "tfidf_knn"},
    "family means": {"estimator": "family_mean", "rule": "three-way", "level": 0.6},
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Bank, LoadedPanel]]:
    with open_bank(tmp_path_factory.mktemp("demo") / "demo.bank", create=True) as bank:
        bank.add(bundled_batch())
        (panel,) = load_panels(bank)
        yield bank, panel


def disagreements(bank: Bank, panel: LoadedPanel, gates: dict[str, Gate], rows: list[int]) -> dict[str, list[str]]:
    """By gate, the recorded tasks that are decided in two ways."""
    support, found = panel.support, dict[str, list[str]]()
    results = {}
    for name, gate in gates.items():
        (result,) = evaluate([panel], EvaluationSettings(gate, resamples=0, shuffles=0)).results
        results[name], found[name] = result.policies[gate.estimator], []
    advisor = Advisor(bank, load_encoder(), agent=panel.agent)
    for row in rows:
        task_id = str(support.task_ids[row])
        question = Question(support.texts[row], str(support.skills[row]), task_id=task_id, suite=panel.suite)
        for name, gate in gates.items():
            decision = advisor.under(gate).ask(question).decision
            scores = results[name].scores
            assert scores is not None
            between_folds = abs(decision.gain - float(scores[row]))
            is_close = gate.rule == "plain" and abs(decision.gain - decision.threshold) <= between_folds
            if (decision.action == "use") != bool(results[name].actions[row]) and not is_close:
                found[name].append(f"{task_id}: {decision.action}, {decision.reason}")
    return found


def test_every_recorded_task_is_decided_alike_by_evaluate_and_by_predict(demo: tuple[Bank, LoadedPanel]) -> None:
    bank, panel = demo
    gates = {name: Gate.from_settings(settings) for name, settings in OTHER_GATES.items()}
    assert disagreements(bank, panel, gates, list(range(len(panel.support)))) == {name: [] for name in gates}


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ["blend", "paper", "shrunk_mean", "family_mean", "tfidf_knn"])
def test_every_recorded_task_is_decided_alike_under_every_rule_and_interval(
    estimator: str, demo: tuple[Bank, LoadedPanel]
) -> None:
    bank, panel = demo
    gates = grid(estimator)
    assert disagreements(bank, panel, gates, list(range(len(panel.support)))) == {name: [] for name in gates}


@pytest.mark.parametrize("method", ["blend", "conformal"])
def test_tasks_of_a_small_bank_are_decided_alike_under_the_default_estimator(method: str, tmp_path: Path) -> None:
    batch = bundled_batch()
    some = {task.task_id for task in batch.tasks[::8]}
    with open_bank(tmp_path / "some.bank", create=True) as bank:
        executions = [execution for execution in batch.executions if execution.task_id in some]
        bank.add(replace(batch, tasks=[task for task in batch.tasks if task.task_id in some], executions=executions))
        (panel,) = load_panels(bank)
        gates = {name: gate for name, gate in grid("blend").items() if gate.interval_method == method}
        rows = list(range(0, len(panel.support), 5))
        assert disagreements(bank, panel, gates, rows) == {name: [] for name in gates}


def test_abstentions_and_unlike_tasks_are_counted_and_skipped(demo: tuple[Bank, LoadedPanel]) -> None:
    _, panel = demo
    gate = Gate(estimator="paper", rule="three-way", level=0.8, familiarity_limit=0.2)
    (result,) = evaluate([panel], EvaluationSettings(gate, resamples=0, shuffles=0)).results
    policy = result.policies["paper"]
    decisions = gate.leave_one_out(panel.support)
    assert policy.abstained == int(decisions.abstains.sum()) > 0
    assert policy.unlike == int(decisions.unlike.sum()) > 0
    assert not np.asarray(policy.actions)[decisions.abstains | decisions.unlike].any()
    assert any("abstains from" in note for note in policy.notes)
    assert any("less familiar than 0.2" in note for note in policy.notes)


def test_a_fitted_gate_and_the_advisor_give_the_same_answer(demo: tuple[Bank, LoadedPanel], tmp_path: Path) -> None:
    bank, panel = demo
    gate, support = Gate(estimator="paper", rule="conservative"), panel.support
    fitted = gate.fit(support)
    advisor = Advisor(bank, load_encoder(), agent=panel.agent, gate=gate)
    for row in (0, 17, 100):
        names = (str(support.families[row]), str(support.skills[row]), str(support.task_ids[row]))
        answer = fitted.decide(Target(support.vectors[row], support.texts[row], *names))
        asked = advisor.ask(Question(support.texts[row], names[1], names[0], names[2], panel.suite))
        assert answer.to_dict() == {**asked.to_dict(), "agent": "", "suite": None}
