"""Pairs that are read as columns are the pairs of `pairing`, whatever was recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skilldelta.bank.batch import Batch
from skilldelta.bank.pair_columns import read_pair_columns
from skilldelta.bank.pair_reading import PairQuery, read_pairs
from skilldelta.bank.reading import read_versions
from skilldelta.bank.store import Bank
from skilldelta.errors import DamagedBankError, InputError
from skilldelta.records import Execution, Skill, Task

from .small import AGENT, OTHER_AGENT, THREE_PAIRS
from .test_verify import tamper

SKILLS = [("a", ""), ("a", "v1"), ("a", "v2"), ("b", ""), ("b", "w1"), ("c", ""), ("", "")]
STATUSES = ["completed"] * 6 + ["transport_error", "incomplete"]


def random_bank(location: str, rng: np.random.Generator, *, tasks: int, runs: int, skills: int) -> Bank:
    """Executions of every kind: versions, baselines of their own or shared, repetitions, missing grades and tokens."""
    bank = Bank.open(location, create=True)
    rows = [Task(f"t{i}", f"Question {i}?", f"family {i % 3}" if i % 4 else "", f"s{i % 2}") for i in range(tasks)]
    bank.add(Batch(rows))
    for _ in range(runs):
        task = rows[int(rng.integers(tasks))]
        skill_id, digest = SKILLS[int(rng.integers(len(SKILLS) - skills, len(SKILLS)))]
        condition = "use" if skill_id and rng.random() < 0.6 else "skip"
        status = STATUSES[int(rng.integers(len(STATUSES)))]
        success = float(rng.integers(4)) / 3 if status == "completed" and rng.random() < 0.95 else None
        run = Execution(
            agent=AGENT if rng.random() < 0.9 else OTHER_AGENT,
            suite=task.suite,
            task_id=task.task_id,
            condition=condition,  # type: ignore[arg-type]
            repetition=int(rng.integers(4)),
            success=success,
            skill_id=skill_id,
            skill_digest=digest,
            tokens=float(rng.uniform(1, 1000)) if rng.random() < 0.8 else None,
            status=status,  # type: ignore[arg-type]
        )
        try:
            bank.add(Batch(executions=[run]))
        except InputError:  # the same repetition with another outcome
            continue
    return bank


def assert_same_pairs(bank: Bank, asked: PairQuery) -> int:
    """The columns hold what the pairs hold, to the last digit."""
    with bank._database.read() as connection:
        columns = read_pair_columns(connection, asked)
        paired = read_pairs(connection, asked)
        skills = read_versions(connection)
    pairs = paired.pairing.pairs
    expected = sorted(pairs, key=paired.key_of)  # tasks stand in order of arrival
    assert columns.task_keys.tolist() == [paired.key_of(pair) for pair in expected]
    names = [skills[key] for key in columns.skill_keys.tolist()]
    assert [(skill.skill_id, skill.digest) for skill in names] == [(p.skill_id, p.skill_digest) for p in expected]
    for name in ("y0", "y1", "r0", "r1"):
        assert getattr(columns, name).tolist() == [getattr(pair, name) for pair in expected], name
    for name in ("tokens0", "tokens1"):
        values = [None if np.isnan(value) else value for value in getattr(columns, name).tolist()]
        assert values == [getattr(pair, name) for pair in expected], name
    assert (columns.unpaired, columns.stale) == (len(paired.pairing.unpaired), len(paired.pairing.stale))
    return len(expected)


@pytest.mark.parametrize("skills", [2, 4, 7])
def test_columns_and_pairs_agree_on_banks_of_every_kind(tmp_path: Path, rng: np.random.Generator, skills: int) -> None:
    pairs = 0
    for number in range(3):
        bank = random_bank(str(tmp_path / f"{number}.bank"), rng, tasks=12, runs=120, skills=skills)
        with bank:
            for include_stale in (False, True):
                for filters in ({}, {"suite": "s0"}, {"skill_id": "a"}, {"skill_id": "c", "family": "family 1"}):
                    pairs += assert_same_pairs(bank, PairQuery(AGENT, include_stale=include_stale, **filters))
    assert pairs > 20


def test_columns_and_pairs_agree_on_both_engines(location: str, rng: np.random.Generator) -> None:
    with random_bank(location, rng, tasks=10, runs=60, skills=4) as bank:
        assert_same_pairs(bank, PairQuery(AGENT))
        assert_same_pairs(bank, PairQuery(AGENT, suite="s1", include_stale=True))


def test_ordinary_banks_are_read_without_an_object_per_execution(filled: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("an execution became an object")

    monkeypatch.setattr("skilldelta.bank.reading.Execution", refuse)
    rows = filled.scope_rows(PairQuery(AGENT))
    assert (rows.columns.y1 - rows.columns.y0).tolist() == [1.0, 0.0, -1.0]
    assert filled.panels()[0].pairs == 3


@pytest.mark.parametrize("change", ["success = 0.5", "tokens = 0.5", "recorded_at = 5", "repetition = 4"])
def test_a_changed_execution_is_refused(filled: Bank, change: str) -> None:
    tamper(filled, f"UPDATE executions SET {change} WHERE key = 1")
    with pytest.raises(DamagedBankError, match="the execution 1 of the task"):
        filled.scope_rows(PairQuery(AGENT))


def test_a_value_of_another_type_is_refused(sqlite_filled: Bank) -> None:
    tamper(sqlite_filled, "UPDATE executions SET recorded_at = 'now' WHERE key = 1")
    with pytest.raises(DamagedBankError, match="the execution 1 of the task"):
        sqlite_filled.scope_rows(PairQuery(AGENT))


def test_a_bank_without_pairs_has_empty_columns(bank: Bank) -> None:
    bank.add(Batch(THREE_PAIRS.tasks, [Skill.from_text("dates", "x")]))
    assert len(bank.scope_rows(PairQuery(AGENT)).columns) == 0
