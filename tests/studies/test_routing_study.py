"""Deployment replayed: who gets its own skill among all, who a wrong one, and what that is worth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from cli.conftest import Skilldelta, skilldelta  # noqa: F401
from skilldelta.bank import Bank
from skilldelta.bank.batch import Batch
from skilldelta.cli.routing_display import show_routing
from skilldelta.demo.bundled import bundled_batch
from skilldelta.errors import InputError
from skilldelta.evaluation.metrics import Share
from skilldelta.studies import LoadedPanel, load_panels
from skilldelta.studies.routing_study import RoutingResult, RoutingSettings, measure_routing, routing_document

SKILLS = ("warehouse-units", "invoice-numbers", "text-counts", "meter-readings")


def demo_batch(skills: tuple[str, ...]) -> Batch:
    whole = bundled_batch()
    tasks = [task for task in whole.tasks if task.family in skills]
    names = {task.task_id for task in tasks}
    return replace(whole, tasks=tasks, executions=[run for run in whole.executions if run.task_id in names])


@pytest.fixture(scope="module")
def bank_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("routing") / "four.bank"
    with Bank.open(path, create=True) as bank:
        bank.add(demo_batch(SKILLS))
    return path


@pytest.fixture(scope="module")
def panel(bank_path: Path) -> Iterator[LoadedPanel]:
    with Bank.open(bank_path) as bank:
        (panel,) = load_panels(bank)
        yield panel


@pytest.fixture(scope="module")
def result(panel: LoadedPanel) -> RoutingResult:
    prompts = ("hi", "Write a poem about rain.", "Summarize this file.")
    return measure_routing(panel, RoutingSettings(folds=4, resamples=200, prompts=prompts))


def test_people_get_a_table_and_a_sentence(result: RoutingResult, capsys: pytest.CaptureFixture[str]) -> None:
    show_routing(result)
    shown = capsys.readouterr().out
    assert "own skill, where its gate says use" in shown
    assert "your prompts that got a skill" in shown
    assert "success of the whole" in shown


def test_four_skills_of_the_demo_are_told_apart(result: RoutingResult) -> None:
    assert (result.tasks, result.skills) == (80, 4)
    assert result.own.of + result.unwanted.of == 80
    assert (result.own.rate or 0) > 0.9
    assert result.wrong.count <= 1
    assert result.unwanted.count == 0
    assert result.everyday.of == 291
    assert result.everyday.count <= 3
    assert result.prompts == Share.counted(0, 3)
    assert (result.removed.rate or 0) < 0.2
    # What really happened to the tasks that got their skill, against no skill at all.
    assert result.routed > result.off
    assert result.routed_vs_off.low is not None
    assert result.routed_vs_off.low > 0
    assert result.routed_low <= result.routed <= 1
    assert routing_document([result])["panels"][0]["own"]["rate"] == result.own.rate


def test_one_skill_leaves_nothing_to_choose_from(tmp_path: Path) -> None:
    with Bank.open(tmp_path / "one.bank", create=True) as bank:
        bank.add(demo_batch(("text-counts",)))
        (panel,) = load_panels(bank)
        with pytest.raises(InputError, match="has one skill, text-counts; routing needs several"):
            measure_routing(panel, RoutingSettings())


def test_the_command_prints_a_document(skilldelta: Skilldelta, tmp_path: Path) -> None:  # noqa: F811
    with Bank.open(tmp_path / "two.bank", create=True) as bank:
        bank.add(demo_batch(SKILLS[:2]))
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("hi\n\nWrite a poem about rain.\n")
    words = ("evaluate", "--bank", tmp_path / "two.bank", "--routing", "--resamples", "100", "--prompts", prompts)
    (document,) = skilldelta(*words, "--json").document["panels"]
    assert document["prompts"] == {**document["prompts"], "count": 0, "of": 2, "rate": 0.0}
    assert document["own"]["rate"] > 0.9


def test_prompts_without_routing_are_refused(skilldelta: Skilldelta, bank_path: Path, tmp_path: Path) -> None:  # noqa: F811
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("\n\n")
    ran = skilldelta("evaluate", "--bank", bank_path, "--prompts", prompts)
    assert (ran.code, "--prompts belongs to --routing" in ran.err) == (2, True)
    ran = skilldelta("evaluate", "--bank", bank_path, "--routing", "--prompts", prompts)
    assert (ran.code, "has no prompt; write one message per line" in ran.err) == (2, True)
