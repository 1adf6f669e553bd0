"""Commands that read leave the bank as it is, to the byte, whatever its schema version; what they compute is cached beside it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path

import pytest

from bank.older import older_bank
from skilldelta.bank.batch import Batch
from skilldelta.bank.migrations import LATEST
from skilldelta.bank.store import Bank
from skilldelta.records import Task

from .conftest import Skilldelta

TASK = ("convert four miles to feet", "--skill", "units-skill")

READING = {
    "bank status": (),
    "bank list": (),
    "bank verify": (),
    "bank use": (),
    "bank export": ("--output", "runs.jsonl"),
    "bank export as arrays": ("--format", "npz", "--output", "panel.npz"),
    "bank backup": ("--output", "copy.bank"),
    "predict": TASK,
    "predict a task": ("--task-id", "units-1", "--skill", "units-skill"),
    "evaluate": (),
    "sweep threshold": (),
    "calibrate": ("--best-value",),
    "skills": (),
    "report": ("--output", "report.html"),
    "doctor": (),
    "freeze": ("--output", "rule.json", "targets.jsonl", "--scope", "skill"),
}


def content(bank: Path) -> dict[str, str]:
    """The digests of the bank's file, and of its log if it holds anything."""
    paths = [bank, Path(f"{bank}-wal"), Path(f"{bank}-journal"), Path(f"{bank}.commits")]
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in paths
        if path.exists() and path.stat().st_size
    }


@pytest.mark.parametrize("version", [1, 4, LATEST])
def test_no_reading_command_changes_a_byte_of_the_bank(
    skilldelta: Skilldelta, toy_bank: str, tmp_path: Path, version: int
) -> None:
    bank = tmp_path / toy_bank
    if version < LATEST:
        bank = tmp_path / "older" / "toy.bank"
        bank.parent.mkdir()
        older_bank(str(bank), version, tmp_path / toy_bank)
    target = {"task_id": "n1", "text": "convert four miles to feet", "skill": "units-skill"}
    Path("targets.jsonl").write_text(json.dumps(target))
    before = content(bank)
    for command, options in READING.items():
        words = command.split(" as ")[0].removesuffix(" a task").split()
        ran = skilldelta(*words, *options, "--bank", bank)
        assert ran.code in (0, 1), (command, ran.err)
        assert content(bank) == before, command
    with Bank.open(bank, readonly=True) as opened:
        assert opened.status().schema_version == version


def test_a_log_that_a_killed_writer_left_is_read_and_left_alone(
    skilldelta: Skilldelta, toy_bank: str, tmp_path: Path
) -> None:
    path = tmp_path / toy_bank
    holder = sqlite3.connect(path)
    with Bank.open(path) as bank:
        holder.execute("BEGIN")
        holder.execute("SELECT count(*) FROM meta").fetchone()
        bank.add(Batch([Task("new", "convert one mile to metres", "units")]))
        file, log = path.read_bytes(), Path(f"{path}-wal").read_bytes()
        holder.close()
    path.write_bytes(file)
    Path(f"{path}-wal").write_bytes(log)
    before = content(path)
    assert len(before) == 3
    assert skilldelta("bank", "status", "--json", "--bank", path).document["tasks"] == 9
    assert skilldelta("predict", *TASK, "--bank", path).code == 0
    assert content(path) == before


def test_what_was_computed_is_used_by_the_next_command(skilldelta: Skilldelta, toy_bank: str) -> None:
    assert skilldelta("predict", *TASK, "--bank", toy_bank).code == 0
    files = {path.name for path in Path(f"{toy_bank}.cache").iterdir()}
    assert "derived.bank" in files
    status = skilldelta("bank", "status", "--json", "--bank", toy_bank).document
    assert sum(status["vectors"].values()) == 8
    assert status["learned"]["states"] >= 1
    changed = (Path(f"{toy_bank}.cache") / "derived.bank").read_bytes()
    assert skilldelta("predict", *TASK, "--bank", toy_bank).code == 0
    assert (Path(f"{toy_bank}.cache") / "derived.bank").read_bytes() == changed, "nothing was computed again"


def test_a_write_to_an_older_bank_names_the_upgrade_and_the_upgrade_its_copy(
    skilldelta: Skilldelta, toy_bank: str, pairs_file: Path, tmp_path: Path
) -> None:
    older_bank("older.bank", 3, tmp_path / toy_bank)
    before = content(Path("older.bank"))
    for words in (("import", pairs_file), ("bank", "forget", "--skill", "units-skill", "--yes")):
        ran = skilldelta(*words, "--bank", "older.bank")
        assert ran.code == 2
        assert ran.err.count("\n") == 1
        assert "upgrade it with: skilldelta bank upgrade --bank older.bank" in ran.err
    assert content(Path("older.bank")) == before
    ran = skilldelta("bank", "upgrade", "--bank", "older.bank", "--json")
    assert ran.document["copy"].endswith("older.bank.schema3")
    assert Path(ran.document["copy"]).exists()
    assert skilldelta("import", pairs_file, "--bank", "older.bank").code == 0
    assert "nothing was changed" in skilldelta("bank", "upgrade", "--bank", "older.bank").out
