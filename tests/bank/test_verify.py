"""Verification finds what does not belong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skilldelta.bank.batch import Batch
from skilldelta.bank.store import Bank
from skilldelta.records import Task

from .small import AGENT, TinyEncoder, vector


def tamper(bank: Bank, statement: str) -> None:
    """Change the tables behind the bank's back."""
    backend = bank._database.backend
    engine = backend.writer()
    with engine.connect() as connection:
        if backend.name == "sqlite":
            connection.exec_driver_sql("ROLLBACK")  # references can be switched off outside a transaction only
            connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
            statement = re.sub(r"x'([0-9A-F]+)'", r"'\\x\1'", statement)
        connection.exec_driver_sql(statement)
        connection.commit()
    engine.dispose()


def test_a_sound_bank_has_no_problems(filled: Bank) -> None:
    filled.support(TinyEncoder(), agent=AGENT)
    assert filled.verify() == []


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DELETE FROM tasks WHERE task_id = 't2'", "2 orphan rows in executions: the tasks row is missing"),
        ("DELETE FROM agents", "6 orphan rows in executions: the agents row is missing"),
        ("UPDATE tasks SET text = 'changed' WHERE task_id = 't2'", "the text of task 't2' in suite 'default'"),
        ("UPDATE skills SET text = 'changed' WHERE skill_id = 'dates'", "the text of skill 'dates'"),
        ("UPDATE vectors SET vector = x'00000000'", "3 vectors of 'tiny/3' without 3 values"),
        ("UPDATE vectors SET vector = x'000000000000000000000000'", "3 vectors of 'tiny/3' not of length 1"),
        ("UPDATE executions SET status = 'lost' WHERE success = 0", "2 executions have an unknown status"),
        ("UPDATE executions SET status = 'incomplete' WHERE success = 0", "2 executions have a success though"),
    ],
)
def test_verification_finds_what_does_not_belong(filled: Bank, statement: str, words: str) -> None:
    texts = ("What day is it?", "How late is it?", "How far is it?")
    filled.add(Batch(vectors=[vector(text, 0.0, 0.6, 0.8) for text in texts]))
    tamper(filled, statement)
    problems = filled.verify()
    assert len(problems) <= 3  # its checksum does not fit either
    assert words in problems[0]


def test_verification_finds_a_damaged_page(tmp_path: Path) -> None:
    path = tmp_path / "damaged.bank"
    with Bank.open(path, create=True) as bank:
        bank.add(Batch(tasks=[Task(f"t{i}", f"Question {i}? " * 20, "f") for i in range(500)]))
    raw = bytearray(path.read_bytes())
    raw[-8192:-4096] = b"\xff" * 4096
    path.write_bytes(raw)
    with Bank.open(path) as bank:
        assert any("damaged file" in problem for problem in bank.verify())
