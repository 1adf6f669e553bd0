"""Choosing among many skills: the one that the task is about and that helps, or none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from routing.prompts import PROMPTS
from skilldelta.bank import Bank
from skilldelta.bank.importers import read_source
from skilldelta.demo.bundled import bundled_batch
from skilldelta.gate import Question, SkillChoice
from skilldelta.serve.gate_service import GateService

CANS = "How many cans are in 9 pallets and 2 crates of chickpeas?"
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "bbh_cot" / "pairs.jsonl"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GateService]:
    path = tmp_path_factory.mktemp("demo") / "bank.db"
    with Bank.open(path, create=True) as bank:
        bank.add(bundled_batch())
    with GateService.open(path) as service:
        yield service


def choose(service: GateService, text: str, skills: list[str] | None = None, **more: str) -> SkillChoice:
    names = skills or service.skill_names()
    record = "conversation" in more
    return service.choose([Question(text, name, record=record, **more) for name in names])  # type: ignore[arg-type]


def actions(choice: SkillChoice) -> dict[str, str]:
    return {answer.to_dict()["skill"]: answer.to_dict()["action"] for answer in choice.answers}


def test_the_skill_that_the_task_is_about_is_chosen_and_no_other_gate_is_asked(demo: GateService) -> None:
    choice = choose(demo, CANS)
    assert choice.choice == "warehouse-units"
    assert choice.any_applies is not None
    assert choice.any_applies > 0.9
    assert {skill for skill, action in actions(choice).items() if action != "abstain"} == {"warehouse-units"}
    other = next(answer for answer in choice.answers if answer.to_dict()["skill"] == "text-counts")
    assert other.to_dict()["reason"].startswith("the task is about another skill: warehouse-units")
    assert other.to_dict()["applies"] < 0.05


def test_a_skill_that_nobody_recorded_does_not_silence_the_others(demo: GateService) -> None:
    choice = choose(demo, CANS, ["made-up", "warehouse-units"])
    assert choice.choice == "warehouse-units"
    assert choice.answers[0].to_dict()["action"] == "abstain"
    assert "no evidence about made-up" in choice.answers[0].to_dict()["reason"]
    assert choose(demo, CANS, ["made-up"]).choice is None


@pytest.mark.parametrize(
    "text", ["hi", "continue", "/clear", 'Traceback (most recent call last):\n  File "a.py", line 3']
)
def test_a_message_that_is_no_task_binds_nothing(demo: GateService, text: str) -> None:
    conversation = f"talk {text}"
    choice = choose(demo, text, conversation=conversation)
    assert (choice.choice, choice.any_applies) == (None, 0.0)
    assert choice.answers[0].to_dict()["reason"] == "the message is no task"
    later = choose(demo, CANS, conversation=conversation)
    assert later.choice == "warehouse-units"
    again = choose(demo, text, conversation=conversation)
    assert again.choice == "warehouse-units"
    assert [answer.repeated for answer in again.answers if answer.to_dict()["action"] == "use"] == [True]


def test_another_task_of_a_conversation_is_decided_for_itself(demo: GateService) -> None:
    first = choose(demo, CANS, conversation="two tasks")
    invoice = "What is the invoice number for the Leeds office, month 5 of 2023, count 77?"
    second = choose(demo, invoice, conversation="two tasks")
    assert (first.choice, second.choice) == ("warehouse-units", "invoice-numbers")


def test_a_log_with_a_question_is_judged_by_the_question(demo: GateService) -> None:
    log = "\n".join(f"2025-01-0{i} 10:00:0{i} INFO [scanner] gate {i} opened, load {i * 7}" for i in range(1, 9))
    assert choose(demo, f"{log}\n\n{CANS}").choice == "warehouse-units"
    assert choose(demo, log).choice is None


def test_the_demo_suite_and_prompts_of_no_skill(demo: GateService) -> None:
    """Of 72 tasks without outcomes, 53 have a gate that says use; 75 prompts are about no skill."""
    suite = (files("skilldelta.demo") / "suite" / "tasks.jsonl").read_text("utf-8")
    recorded = {pair.task_id for pair in demo.read(lambda bank: bank.tasks())}
    tasks = [task for line in suite.splitlines() if (task := json.loads(line))["task_id"] not in recorded]
    own, wrong, unwanted, helpful = 0, 0, 0, 0
    for task in tasks:
        question = Question(task["text"], task["skill"], record=False)
        helps = demo.decide(question).to_dict()["action"] == "use"
        choice = choose(demo, task["text"]).choice
        helpful += helps
        own += helps and choice == task["skill"]
        wrong += choice not in (None, task["skill"])
        unwanted += not helps and choice is not None
    assert (len(tasks), helpful) == (72, 53)
    assert own >= 50
    assert wrong <= 1
    assert unwanted == 0
    assert sum(choose(demo, prompt).choice is not None for prompt in PROMPTS) <= 2


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_file(), reason="needs ../shared/data/bbh_cot")
def test_bbh_with_its_families_as_skills(tmp_path: Path) -> None:
    """40 tasks of each of 27 families are the bank; other tasks and prompts are asked about."""
    rows = [json.loads(line) for line in SHARED.read_text("utf-8").splitlines()]
    generator = np.random.default_rng(11)
    by_skill: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        by_skill.setdefault(row["skill"], []).append(row)
    bank_rows, others = [], []
    for tasks in by_skill.values():
        order = generator.permutation(len(tasks))
        bank_rows += [tasks[i] for i in order[:40]]
        others += [tasks[i] for i in order[40:75]]
    source = tmp_path / "pairs.jsonl"
    source.write_text("\n".join(map(json.dumps, bank_rows)))
    with Bank.open(tmp_path / "bank.db", create=True) as bank:
        bank.add(read_source(source, format="pairs.jsonl"))

    def twinless(skill: str | None) -> str | None:
        return skill and skill.replace("three", "n").replace("five", "n").replace("seven", "n")

    with GateService.open(tmp_path / "bank.db") as service:
        own, helpful, wrong = 0, 0, 0
        for task in others:
            question = Question(task["question"], task["skill"], record=False)
            helps = service.decide(question).to_dict()["action"] == "use"
            choice = choose(service, task["question"]).choice
            helpful += helps
            own += helps and choice == task["skill"]
            wrong += choice is not None and twinless(choice) != twinless(task["skill"])
        assert own / helpful >= 0.9
        assert wrong / len(others) <= 0.02
        assert sum(choose(service, prompt).choice is not None for prompt in PROMPTS) / len(PROMPTS) <= 0.03


def test_without_a_vector_for_everyday_prompts_every_gate_is_asked(demo: GateService, tmp_path: Path) -> None:
    class OnlyThis:
        identity = "imported/only-this/256/l2"

        def encode(self, texts: list[str]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
            from skilldelta.encoders import load_encoder
            from skilldelta.errors import InputError

            if "hello" in texts:
                raise InputError("no imported vector")
            return load_encoder().encode(texts)

    path = tmp_path / "bank.db"
    with Bank.open(path, create=True) as bank:
        bank.add(bundled_batch())
    with GateService.open(path, encoder=OnlyThis()) as service:  # type: ignore[arg-type]
        choice = choose(service, CANS)
        assert choice.any_applies is None
        assert choice.choice == "warehouse-units"
        assert "abstain" not in actions(choice).values()


def test_a_bank_that_grows_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "bank.db"
    whole = bundled_batch()
    with Bank.open(path, create=True) as bank:
        bank.add(replace(whole, executions=[run for run in whole.executions if run.skill_id != "warehouse-units"]))
    with GateService.open(path) as service:
        assert choose(service, CANS).choice is None
        service.add(whole)
        assert choose(service, CANS).choice == "warehouse-units"
