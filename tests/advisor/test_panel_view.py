"""A blend that another process has learned gives the same answers bit by bit, and is trusted only where it fits."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skilldelta import Advisor, Gate, Question, load_encoder, packing
from skilldelta.advisor import learned_states
from skilldelta.bank import Bank
from skilldelta.bank.importers import read_source
from skilldelta.estimators.blend import Blend, FittedBlend
from skilldelta.estimators.blend import blend as blend_module
from skilldelta.estimators.blend import kept as kept_module
from skilldelta.paper.simulation.simulated_panel import SimulatedPanel, simulate_panel
from skilldelta.support import Support

QUESTIONS = ("alpha beta gamma of the first kind", "count 3 items and 4 more")


def rows_of(panel: SimulatedPanel) -> list[dict[str, Any]]:
    support = panel.support
    return [
        {
            "task_id": str(support.task_ids[i]),
            "text": support.texts[i],
            "family": str(support.families[i]),
            "skill": str(support.skills[i]),
            "agent": "g",
            "suite": "s",
            "y0": panel.successes0[i].tolist(),
            "y1": panel.successes1[i].tolist(),
        }
        for i in range(len(support))
    ]


def bank_of(rows: list[dict[str, Any]], path: Path) -> Bank:
    source = path.with_suffix(".jsonl")
    source.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    bank = Bank.open(path, create=True)
    bank.add(read_source(source))
    return bank


@pytest.fixture(params=["a family each", "two families a skill"])
def bank(request: pytest.FixtureRequest, tmp_path: Path, rng: np.random.Generator) -> Iterator[Bank]:
    """48 tasks in four families, of four skills or of two."""
    skills = None if request.param == "a family each" else 2
    panel = simulate_panel(rng, tasks=48, families=4, kind="mixed", r0=2, r1=2, skills=skills)
    with bank_of(rows_of(panel), tmp_path / "b.bank") as opened:
        yield opened


def questions(bank: Bank) -> list[Question]:
    tasks = {task.family: task for task in bank.tasks()}
    skills = sorted({skill.skill_id for skill in bank.skills()})
    with_family = [
        Question(text=text, skill=skill, family=task.family)
        for text in QUESTIONS
        for task in tasks.values()
        for skill in skills
    ]
    return [*with_family, *(Question(text=text, skill=skill) for text in QUESTIONS for skill in skills)]


def answers(bank: Bank, asked: list[Question]) -> list[dict[str, Any]]:
    advisor = Advisor(bank, load_encoder(), agent=bank.resolve_agent(None))
    return [advisor.ask(question, explain=True).to_dict() for question in asked]


def refuse_to_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("the blend was fitted again")

    monkeypatch.setattr(Blend, "fit", fail)


def test_kept_answers_are_the_fresh_ones_bit_by_bit(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = questions(bank)
    with monkeypatch.context() as patched:
        patched.setattr(Bank, "keep_learned", lambda *_, **__: False)
        fresh = answers(bank, asked)
    assert bank.status().learned.states == 0
    first = answers(bank, asked[-1:] + asked)[1:]  # a question without a family first: groups by skill are kept too
    assert bank.status().learned.states == 1
    refuse_to_fit(monkeypatch)
    assert answers(bank, asked) == fresh == first


def test_a_recorded_task_of_a_large_panel_is_answered_from_its_folds_kept_blend(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blend_module, "_LARGE", 40)
    skill_of = {e.task_id: e.skill_id for e in bank.executions() if e.condition == "use"}
    asked = [Question(task.text, skill_of[task.task_id], task_id=task.task_id) for task in bank.tasks()[:2]]
    with monkeypatch.context() as patched:
        patched.setattr(Bank, "keep_learned", lambda *_, **__: False)
        fresh = answers(bank, asked)
    answers(bank, asked)
    assert bank.status().learned.states >= 2, "the whole blend, which knows the tasks, and one for each fold asked"
    refuse_to_fit(monkeypatch)
    assert answers(bank, asked) == fresh


def test_a_recorded_task_never_meets_a_blend_that_saw_it(tmp_path: Path, rng: np.random.Generator) -> None:
    """Its own outcome, flipped, changes nothing, with what was learned before in the bank."""
    rows = rows_of(simulate_panel(rng, tasks=60, families=2, kind="local_only"))
    recorded_answers = []
    for name, flipped in (("one", False), ("other", True)):
        own = rows[7]
        changed = {**own, "y0": [1 - y for y in own["y0"]], "y1": [1 - y for y in own["y1"]]} if flipped else own
        with bank_of([*rows[:7], changed, *rows[8:]], tmp_path / f"{name}.bank") as bank:
            asked = [Question(text="something else", skill=own["skill"])]
            answers(bank, asked)  # keeps the whole blend, which saw the task
            recorded = Question(text=own["text"], skill=own["skill"], family=own["family"], task_id=own["task_id"])
            advisor = Advisor(bank, load_encoder(), gate=Gate(interval="conformal", rule="conservative"))
            recorded_answers.append((answers(bank, [recorded]), advisor.ask(recorded).to_dict()))
    assert recorded_answers[0] == recorded_answers[1]


def test_more_evidence_another_encoder_and_other_code_learn_anew(bank: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = questions(bank)[:1]
    answers(bank, asked)
    fitted: list[int] = []
    fit = Blend.fit

    def counted(self: Blend, support: Support) -> FittedBlend:
        fitted.append(len(support))
        return fit(self, support)

    monkeypatch.setattr(Blend, "fit", counted)
    answers(bank, asked)
    assert fitted == []
    advisor = Advisor(bank, load_encoder("tfidf", corpus=[task.text for task in bank.tasks()]), agent=bank.agents()[0])
    advisor.ask(asked[0])
    assert len(fitted) == 1
    monkeypatch.setattr(learned_states, "code_version", lambda: "other code")
    answers(bank, asked)
    assert len(fitted) == 2


def test_damaged_parts_are_learned_again(bank: Bank) -> None:
    asked = questions(bank)[:2]
    fresh = answers(bank, asked)
    with sqlite3.connect(bank.location) as connection:
        connection.execute("UPDATE learned_states SET data = substr(data, 1, 40)")
    connection.close()
    assert answers(bank, asked) == fresh
    assert bank.verify() == []


def test_a_part_that_passes_its_checksum_but_is_no_blend_is_learned_again(bank: Bank) -> None:
    from skilldelta.bank.schema import row_checksum

    asked = questions(bank)[:2]
    fresh = answers(bank, asked)
    with sqlite3.connect(bank.location) as connection:
        for name, part, *when in connection.execute(
            "SELECT name, part, revision, kept_at FROM learned_states"
        ).fetchall():
            row = (b"not packed", row_checksum((name, part, *when, b"not packed")), name, part)
            connection.execute("UPDATE learned_states SET data = ?, checksum = ? WHERE name = ? AND part = ?", row)
    connection.close()
    assert answers(bank, asked) == fresh


def test_a_group_of_other_outcomes_than_the_evidence_has_is_not_trusted(
    bank: Bank, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the evidence had changed without its revision."""
    asked = questions(bank)[:1]
    fresh = answers(bank, asked)
    unpacked = packing.unpack

    def other(data: bytes, kind: type[Any]) -> Any:
        value = unpacked(data, kind)
        if hasattr(value, "mean_shares"):
            value.gains[0] += 0.5
        return value

    monkeypatch.setattr(kept_module, "unpack", other)
    assert answers(bank, asked) == fresh


def test_the_version_of_the_code_is_that_of_its_sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = kept_module.code_version()
    kept_module.code_version.cache_clear()
    monkeypatch.setattr(kept_module, "_SOURCES", ())
    assert kept_module.code_version() != before
    kept_module.code_version.cache_clear()
