"""A bank of an older schema version is read as it is, refuses writes in one line, and is upgraded only when asked."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from skilldelta.bank.backup import upgrade_bank
from skilldelta.bank.batch import Batch
from skilldelta.bank.index import Index
from skilldelta.bank.migrations import LATEST
from skilldelta.bank.store import Bank
from skilldelta.errors import BankError, ReplacedBankError

from .older import JUDGEMENT, current_bank, older_bank
from .small import AGENT, OTHER_AGENT, THREE_PAIRS, TinyEncoder, skip
from .test_verify import tamper

VERSIONS = range(1, LATEST)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A bank of the newest version."""
    (tmp_path / "source").mkdir()
    path = tmp_path / "source" / "new.bank"
    current_bank(path)
    return path


@pytest.fixture
def empty_location(request: pytest.FixtureRequest, location: str) -> str:
    """A path without a file, or a database without the bank's schema."""
    if "://" in location:
        return str(request.getfixturevalue("postgres_location"))
    return location


def content(bank: Bank) -> dict[str, object]:
    """What every earlier version could hold."""
    return {
        "executions": list(bank.executions()),
        "runs": list(bank.runs()),
        "tasks": bank.tasks(),
        "skills": bank.skills(),
        "agents": bank.agents(),
        "pairs": bank.pairing(agent=AGENT),
        "judgements": bank.judgements(),
        "support": bank.support(TinyEncoder(), agent=AGENT).gains.tolist(),
        "actions": [(record.action, record.gain, record.evidence) for record in bank.decisions()],
        "revision": bank.revision(),
        "panels": bank.panels(),
        "ages": bank.evidence_ages(),
    }


def digests(folder: Path) -> dict[str, str]:
    """Every file of a folder with the digest of its content, caches left out."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".cache" not in str(path) and not path.name.endswith((".lock", "-shm"))
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_an_older_bank_is_read_as_it_is(empty_location: str, source: Path, version: int) -> None:
    older_bank(empty_location, version, source)
    with Bank.open(source) as new:
        expected = content(new)
    with Bank.open(empty_location) as bank:
        assert bank.status().schema_version == version
        assert content(bank) == expected
        assert bank.verify() == []
        outcomes = [len(record.outcomes) for record in bank.decisions()]
        assert outcomes == [1 if version >= 4 else 0]
        index = Index(bank, TinyEncoder(), AGENT, suite="default")
        assert index.scope(skill="dates").gains.tolist() == [1.0, 0.0, -1.0]
    with Bank.open(empty_location, readonly=True) as bank:
        assert bank.status().schema_version == version


@pytest.mark.parametrize("version", VERSIONS)
def test_reading_an_older_bank_changes_no_byte_of_it(tmp_path: Path, source: Path, version: int) -> None:
    (tmp_path / "old").mkdir()
    path = tmp_path / "old" / "my.bank"
    older_bank(str(path), version, source)
    before = digests(path.parent)
    with Bank.open(path) as bank:
        content(bank)
        bank.verify()
        bank.keep_learned("s", {"part": b"x"}, revision=1)
        assert bank.learned("s", "part", revision=1) == b"x"
    assert digests(path.parent) == before


@pytest.mark.parametrize("version", VERSIONS)
def test_an_older_bank_refuses_writes_in_one_line_that_names_the_upgrade(
    empty_location: str, source: Path, version: int
) -> None:
    older_bank(empty_location, version, source)
    with Bank.open(empty_location, create=True) as bank:
        for change in (
            lambda: bank.add(THREE_PAIRS),
            lambda: bank.forget(suite="default"),
            lambda: bank.add_judgements([JUDGEMENT]),
            lambda: bank.forget_decisions(),
            lambda: bank.use(agent=AGENT),
        ):
            with pytest.raises(BankError) as error:
                change()
            message = str(error.value)
            assert f"has schema version {version} and can only be read until it is upgraded to {LATEST}" in message
            assert "skilldelta bank upgrade --bank" in message
            assert "\n" not in message


@pytest.mark.parametrize("version", VERSIONS)
def test_an_upgrade_keeps_a_copy_and_everything_that_was_there(
    empty_location: str, source: Path, tmp_path: Path, version: int
) -> None:
    older_bank(empty_location, version, source)
    with Bank.open(empty_location) as bank:
        expected = content(bank)
    upgrade = upgrade_bank(empty_location)
    assert (upgrade.old_version, upgrade.new_version) == (version, LATEST)
    with Bank.open(empty_location) as bank:
        assert content(bank) == expected
        assert bank.status().schema_version == LATEST
        assert bank.verify() == []
        assert bank.add(THREE_PAIRS).unchanged == 10
    if upgrade.copy is not None:
        with Bank.open(upgrade.copy, readonly=True) as copy:
            assert copy.status().schema_version == version
            assert content(copy) == expected
    else:
        assert "://" in empty_location
    again = upgrade_bank(empty_location)
    assert (again.old_version, again.copy) == (LATEST, None)


def test_two_upgrades_never_share_the_name_of_their_copies(tmp_path: Path, source: Path) -> None:
    path = tmp_path / "my.bank"
    copies = []
    for _ in range(2):
        path.unlink(missing_ok=True)
        older_bank(str(path), 4, source)
        copies.append(upgrade_bank(path).copy)
    assert copies == [tmp_path / "my.bank.schema4", tmp_path / "my.bank.schema4-2"]


def test_a_bank_that_is_upgraded_while_it_is_open_must_be_opened_again(empty_location: str, source: Path) -> None:
    older_bank(empty_location, 4, source)
    with Bank.open(empty_location) as bank:
        assert len(bank.tasks()) == 3
        upgrade_bank(empty_location)
        for action in (bank.tasks, lambda: bank.panel_revision(AGENT, "default")):
            with pytest.raises(ReplacedBankError, match=r"was upgraded to schema version .* open it again"):
                action()
    with Bank.open(empty_location) as bank:
        assert bank.add(THREE_PAIRS).unchanged == 10


def test_a_change_by_an_older_program_moves_every_panel(filled: Bank) -> None:
    """A program that knows no revisions of panels, and has the bank open since before its upgrade, moves one counter."""
    filled.add(Batch(executions=[skip("t1", 0.0, agent=OTHER_AGENT)]))
    before = [filled.panel_revision(agent, "default") for agent in (AGENT, OTHER_AGENT)]
    tamper(filled, "UPDATE meta SET value = value + 1 WHERE name = 'revision'")
    between = [filled.panel_revision(agent, "default") for agent in (AGENT, OTHER_AGENT)]
    assert all(old != new for old, new in zip(before, between, strict=True))
    filled.add(Batch(executions=[skip("t1", 0.0, agent=OTHER_AGENT, repetition=1)]))
    after = [filled.panel_revision(agent, "default") for agent in (AGENT, OTHER_AGENT)]
    assert all(old not in (first, second) for old, first, second in zip(after, before, between, strict=True))
