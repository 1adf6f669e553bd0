"""Damage is said in one line by every reader, and what is damaged is never handed out as if it were whole."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from skilldelta.bank.batch import Batch
from skilldelta.bank.index import Index
from skilldelta.bank.store import Bank
from skilldelta.errors import BankError, DamagedBankError, SkillDeltaError

from .older import current_bank
from .small import AGENT, DECISION, TinyEncoder, skip
from .test_verify import tamper

Reader = Callable[[Bank], object]

TASKS: dict[str, Reader] = {
    "tasks": lambda bank: bank.tasks(),
    "a task": lambda bank: bank.tasks(task_id="t1"),
    "executions": lambda bank: list(bank.executions()),
    "runs": lambda bank: list(bank.runs()),
    "pairs": lambda bank: bank.pairing(agent=AGENT),
    "a panel": lambda bank: bank.panel_records(AGENT, "default"),
    "support": lambda bank: bank.support(TinyEncoder(), agent=AGENT),
    "a scope": lambda bank: Index(bank, TinyEncoder(), AGENT).scope(skill="dates"),
}
NAMES: dict[str, Reader] = {
    **{name: read for name, read in TASKS.items() if name not in ("tasks", "a task")},
    "agents": lambda bank: bank.agents(),
    "an agent": lambda bank: bank.resolve_agent(None),
    "panels": lambda bank: bank.panels(),
    "an addition": lambda bank: bank.add(Batch(executions=[skip("t1", 1.0, repetition=9)])),
}
SKILLS: dict[str, Reader] = {
    "skills": lambda bank: bank.skills(),
    "a skill": lambda bank: bank.resolve_skill("dates"),
    "ages": lambda bank: bank.evidence_ages(),
    **{name: TASKS[name] for name in ("executions", "pairs", "a panel", "a scope")},
}
DAMAGE = [
    ("UPDATE tasks SET text = 'What day is he?' WHERE task_id = 't1'", TASKS),
    ("UPDATE tasks SET family = 'travel' WHERE task_id = 't1'", TASKS),
    ("UPDATE agents SET name = 'model-A'", NAMES),
    ("UPDATE skills SET text = 'Write dates.' WHERE skill_id = 'dates'", SKILLS),
    ("UPDATE skills SET digest = 'f' || substr(digest, 2) WHERE skill_id = 'dates'", SKILLS),
]


@pytest.mark.parametrize(("damage", "readers"), DAMAGE, ids=[change[7:40] for change, _ in DAMAGE])
def test_a_damaged_name_or_text_is_refused_by_every_reader(
    filled: Bank, damage: str, readers: dict[str, Reader]
) -> None:
    tamper(filled, damage)
    for name, read in readers.items():
        with pytest.raises(DamagedBankError, match="was changed by something other than SkillDelta") as error:
            read(filled)
        assert "\n" not in str(error.value), name


@pytest.mark.parametrize("change", ["task_id = 't7'", "suite = 'defaulT'"])
def test_a_damaged_id_is_refused(filled: Bank, change: str) -> None:
    tamper(filled, f"UPDATE tasks SET {change} WHERE task_id = 't1'")
    for read in (lambda: filled.tasks(), lambda: list(filled.executions())):
        with pytest.raises(DamagedBankError, match="the task 't"):
            read()


@pytest.mark.parametrize("change", ["evidence = '{'", "gain = 0.5", "action = 'skip'"])
def test_a_damaged_decision_is_refused(filled: Bank, change: str) -> None:
    decision = filled.record_decision(DECISION)
    tamper(filled, f"UPDATE decisions SET {change}")
    for read in (filled.decisions, lambda: filled.decision(decision)):
        with pytest.raises(DamagedBankError, match=f"the decision {decision} in the bank was changed"):
            read()


def test_a_missing_agent_is_damage_and_no_traceback(sqlite_filled: Bank) -> None:
    tamper(sqlite_filled, "DELETE FROM agents")
    with pytest.raises(DamagedBankError, match="the agent with the key 1"):
        list(sqlite_filled.executions())
    assert "6 orphan rows in executions" in sqlite_filled.verify()[0]


def damaged(raw: bytes, rng: random.Random) -> bytes:
    """A file with bytes changed in its first page, which holds the tables' definitions, or in another one."""
    content = bytearray(raw)
    page = 8192 * (0 if rng.random() < 0.7 else rng.randrange(len(raw) // 8192))
    start = page + rng.randrange(100, 8100)
    for place in range(start, start + rng.choice([1, 3, 40])):
        content[place] = rng.randrange(256)
    return bytes(content)


def lines_about(path: Path, problems: list[str]) -> list[str]:
    """What readers say about a file; anything but one line of an error that people are meant to read fails the test."""
    readers: list[Reader] = [
        *NAMES.values(),
        *SKILLS.values(),
        lambda bank: bank.status(),
        lambda bank: bank.decisions(),
    ]
    lines = []
    for read in readers:
        try:
            with Bank.open(path) as bank:
                read(bank)
        except SkillDeltaError as error:
            lines.append(str(error))
    try:
        with Bank.open(path) as bank:
            problems += bank.verify()
    except BankError as error:
        problems.append(str(error))
    return lines


@pytest.mark.filterwarnings("ignore::skilldelta.errors.BankWarning")
def test_no_damaged_page_gives_a_traceback_or_an_escape_code(tmp_path: Path) -> None:
    current_bank(tmp_path / "source.bank")
    raw = (tmp_path / "source.bank").read_bytes()
    rng = random.Random(24)
    noticed = 0
    for number in range(25):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "my.bank").write_bytes(damaged(raw, rng))
        problems: list[str] = []
        lines = lines_about(folder / "my.bank", problems)
        noticed += bool(lines or problems)
        for line in [*lines, *problems]:
            assert line.isprintable(), line
    assert noticed > 3
