"""With a learner, answers come at once from the last learned state, and never from one whose evidence is gone."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from advisor.test_panel_view import bank_of, questions, refuse_to_fit, rows_of
from skilldelta import Advisor, Gate, Question, load_encoder
from skilldelta.advisor import learned_states
from skilldelta.advisor.learned_states import LearnedPanel, NotLearnedYetError, learn_state
from skilldelta.bank import Bank
from skilldelta.bank.batch import Batch
from skilldelta.bank.index import Index
from skilldelta.errors import BankError
from skilldelta.estimators.base import Target
from skilldelta.estimators.blend import FittedBlend
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.records import Agent, Execution, Skill, Task

encoder = cache(load_encoder)


class SlowLearner:
    """Learns when it is told to, as another process would: with an index of its own."""

    def __init__(self, bank: Bank) -> None:
        self._bank = bank
        self.requests: list[tuple[Index, str, bool, Future[Mapping[str, bytes] | None]]] = []

    def learn(self, index: Index, name: str, *, at_once: bool) -> Future[Mapping[str, bytes] | None]:
        future: Future[Mapping[str, bytes] | None] = Future()
        self.requests.append((index, name, at_once, future))
        return future

    def finish(self) -> None:
        requests, self.requests = self.requests, []
        for index, name, _, future in requests:
            future.set_result(learn_state(Index(self._bank, encoder(), index.agent, suite=index.suite), name))


@pytest.fixture(autouse=True)
def every_panel_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned_states, "SMALL", 0)


@pytest.fixture
def bank(tmp_path: Path, rng: np.random.Generator) -> Iterator[Bank]:
    """48 tasks in four families of two skills."""
    panel = simulate_panel(rng, tasks=48, families=4, kind="mixed", r0=2, r1=2, skills=2)
    with bank_of(rows_of(panel), tmp_path / "b.bank") as opened:
        yield opened


def advisor_with(bank: Bank, learner: SlowLearner | None, gate: Gate | None = None) -> Advisor:
    return Advisor(bank, encoder(), agent=bank.agents()[0], gate=gate, learner=learner)


def pair_of(bank: Bank, number: int, *, agent: Agent | None = None, gain: float = 1.0) -> Batch:
    """A new pair like the recorded ones."""
    like = next(e for e in bank.executions() if e.condition == "use")
    task = next(task for task in bank.tasks() if task.task_id == like.task_id)
    new = Task(f"new {number}", f"{task.text} once more {number}", task.family, task.suite)
    use = replace(like, task_id=new.task_id, agent=agent or like.agent, repetition=0, success=gain)
    skip = replace(use, condition="skip", success=0.0, skill_digest="")
    return Batch(tasks=[new], executions=[use, skip])


def documents(advisor: Advisor, asked: list[Question]) -> list[dict[str, Any]]:
    return [advisor.ask(question, explain=True).to_dict() for question in asked]


def test_after_growth_the_previous_state_answers_at_once_and_says_so_until_the_next_is_there(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, learner = questions(bank)[::4], SlowLearner(bank)
    advisor_with(bank, None).ask(questions(bank)[-1])  # a process before this one has learned
    advisor = advisor_with(bank, learner)
    before = documents(advisor, asked)
    assert not any(answer["previous_revision"] for answer in before)
    bank.add(pair_of(bank, 1))
    with monkeypatch.context() as patched:
        refuse_to_fit(patched)
        during = documents(advisor, asked)
        restarted = documents(advisor_with(bank, learner), asked)
    assert all(answer["previous_revision"] for answer in during)
    assert [answer["gain"] for answer in during] == [answer["gain"] for answer in before]
    assert [answer["gain"] for answer in restarted] == pytest.approx([answer["gain"] for answer in before], abs=1e-9)
    assert [name for _, name, _, _ in learner.requests] == ["all", "all"]  # once for each advisor, whatever is asked
    learner.finish()
    with monkeypatch.context() as patched:
        refuse_to_fit(patched)
        after = documents(advisor, asked)
    assert after == documents(advisor_with(bank, None), asked)
    assert [answer["gain"] for answer in after] != [answer["gain"] for answer in before]


def test_the_papers_rule_sees_a_new_pair_at_once(bank: Bank) -> None:
    learner = SlowLearner(bank)
    advisor = advisor_with(bank, learner, Gate(estimator="paper"))
    asked = questions(bank)[:3]
    documents(advisor, asked)
    bank.add(pair_of(bank, 1))
    assert documents(advisor, asked) == documents(advisor_with(bank, None, Gate(estimator="paper")), asked)
    assert not any(answer["previous_revision"] for answer in documents(advisor, asked))
    assert learner.requests == []


@pytest.mark.parametrize("change", ["forget", "new version"])
@pytest.mark.parametrize("restarted", [False, True])
def test_after_a_removal_or_a_new_version_no_old_state_answers(bank: Bank, change: str, restarted: bool) -> None:
    asked, learner = questions(bank)[-2:], SlowLearner(bank)
    skill = asked[0].skill
    bank.add(Batch(skills=[Skill(skill, "version one")]))
    advisor_with(bank, None).ask(asked[0])
    advisor = advisor_with(bank, learner)
    documents(advisor, asked)
    if change == "forget":
        bank.forget(task_id=bank.tasks()[0].task_id)
    else:
        bank.add(Batch(skills=[Skill(skill, "version two")], executions=_with_digest(bank, skill, "version two")))
    advisor = advisor_with(bank, learner) if restarted else advisor
    with pytest.raises(NotLearnedYetError) as missing:
        advisor.ask(asked[0])
    assert [(name, at_once) for _, name, at_once, _ in learner.requests] == [("all", True)]
    learner.finish()
    assert missing.value.ready.done()
    assert documents(advisor, asked) == documents(advisor_with(bank, None), asked)


def _with_digest(bank: Bank, skill: str, digest: str) -> list[Execution]:
    some = [e for e in bank.executions() if e.skill_id == skill][:8]
    return [replace(e, skill_digest=digest if e.condition == "use" else "", repetition=e.repetition + 10) for e in some]


def test_evidence_that_was_forgotten_while_it_was_learned_does_not_come_back(bank: Bank) -> None:
    asked, learner = questions(bank)[-2:], SlowLearner(bank)
    advisor_with(bank, None).ask(asked[0])
    advisor = advisor_with(bank, learner)
    documents(advisor, asked)
    bank.add(pair_of(bank, 1))
    documents(advisor, asked)
    ((index, name, _, future),) = learner.requests
    learned_before = learn_state(index, name)
    bank.forget(task_id="new 1")
    future.set_result(learned_before)
    learner.requests.clear()
    with pytest.raises(NotLearnedYetError):
        advisor.ask(asked[0])
    assert bank.status().learned.states == 0
    learner.finish()
    assert documents(advisor, asked) == documents(advisor_with(bank, None), asked)


def test_another_agents_pair_leaves_a_panel_current(bank: Bank) -> None:
    asked, learner = questions(bank)[-2:], SlowLearner(bank)
    advisor_with(bank, None).ask(asked[0])
    advisor = advisor_with(bank, learner)
    before = documents(advisor, asked)
    bank.add(pair_of(bank, 1, agent=Agent("somebody else")))
    assert documents(advisor, asked) == before
    assert learner.requests == []


def test_a_bank_that_cannot_keep_a_state_gets_it_handed_over(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bank, "keep_learned", lambda *_, **__: False)
    asked, learner = questions(bank)[::4], SlowLearner(bank)
    advisor = advisor_with(bank, learner)
    with pytest.raises(NotLearnedYetError):
        advisor.ask(asked[0])
    learner.finish()
    with monkeypatch.context() as patched:
        refuse_to_fit(patched)
        answers = documents(advisor, asked)
    assert answers == documents(advisor_with(bank, None), asked)


def test_where_learning_fails_the_question_learns_itself_and_an_old_state_goes_on_answering(bank: Bank) -> None:
    asked, learner = questions(bank)[-2:], SlowLearner(bank)
    advisor = advisor_with(bank, learner)
    with pytest.raises(NotLearnedYetError):
        advisor.ask(asked[0])
    learner.requests.pop()[-1].set_exception(BankError("no memory left"))
    expected = documents(advisor_with(bank, None), asked)
    assert documents(advisor, asked) == expected
    bank.add(pair_of(bank, 1))
    assert all(answer["previous_revision"] for answer in documents(advisor, asked))
    learner.requests.pop()[-1].set_exception(BankError("no memory left"))
    assert all(answer["previous_revision"] for answer in documents(advisor, asked))
    assert learner.requests == [], "it is tried again when the evidence has changed"
    bank.add(pair_of(bank, 2))
    documents(advisor, asked)
    assert len(learner.requests) == 1


def test_a_small_panel_is_learned_while_the_question_waits(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learned_states, "SMALL", 2_000)
    asked, learner = questions(bank)[-2:], SlowLearner(bank)
    advisor = advisor_with(bank, learner)
    documents(advisor, asked)
    bank.add(pair_of(bank, 1))
    assert not any(answer["previous_revision"] for answer in documents(advisor, asked))
    assert learner.requests == []
    monkeypatch.setattr(learned_states, "SMALL", 100)
    bank.add(pair_of(bank, 2))
    assert all(answer["previous_revision"] for answer in documents(advisor, asked)), "it has become a large one"
    learner.finish()
    assert documents(advisor, asked) == documents(advisor_with(bank, None), asked)


def test_a_new_skill_is_judged_from_what_was_kept(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = SlowLearner(bank)
    family = bank.tasks()[0].family
    gate = Gate(scope="family")
    asked = [Question("alpha beta", "nobody ran this", family=family, suite="s")]
    bank.add(Batch(skills=[Skill("nobody ran this", "d")]))
    advisor = advisor_with(bank, learner, gate)
    with pytest.raises(NotLearnedYetError):
        advisor.ask(asked[0])
    learner.finish()
    with monkeypatch.context() as patched:
        refuse_to_fit(patched)
        answers = documents(advisor, asked)
    assert answers[0]["explanation"]["components"].keys() == {"suite", "nearest_families"}
    monkeypatch.setattr(Bank, "learned", lambda *_, **__: None)
    assert answers == documents(advisor_with(bank, None, gate), asked)


@pytest.mark.parametrize("behind", [False, True], ids=["learned here", "learned behind"])
def test_old_models_and_their_rows_are_let_go(bank: Bank, behind: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each change of the bank once kept a whole panel for as long as the process lived."""
    learner = SlowLearner(bank) if behind else None
    index = Index(bank, encoder(), bank.agents()[0], suite="s")
    panel = LearnedPanel(index, learner)
    target_text = questions(bank)[-1]
    target = Target(encoder().encode([target_text.text])[0], target_text.text, "", target_text.skill)
    if learner is not None:
        learn_state(index, "all")
    panel.score(target)
    past: list[weakref.ref[Any]] = []
    for number in range(4):
        state = panel._states["all"]
        model = state.model
        past.append(weakref.ref(model))
        if isinstance(model, FittedBlend):
            past.append(weakref.ref(model.support))
            past.append(weakref.ref(model.model))
        bank.add(pair_of(bank, number))
        panel.score(target)
        if learner is not None:
            learner.finish()
        panel.score(target)
        del state, model
    gc.collect()
    assert len(past) >= 4
    assert [reference() for reference in past] == [None] * len(past)


def test_states_for_single_tasks_of_small_panels_are_few(bank: Bank) -> None:
    advisor = advisor_with(bank, None)
    skill_of = {e.task_id: e.skill_id for e in bank.executions() if e.condition == "use"}
    for task in bank.tasks()[:11]:
        advisor.ask(Question(task.text, skill_of[task.task_id], task_id=task.task_id))
    panels = advisor._panels._views.values()
    assert 0 < max(len(view._learned._task_states) for view in panels if view._learned is not None) <= 8
