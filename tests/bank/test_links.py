"""A bank behind a symbolic link is the same bank: one lock, one log."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skilldelta.bank.store import Bank
from skilldelta.errors import BankError

from .small import THREE_PAIRS


@pytest.fixture
def link(tmp_path: Path) -> Path:
    """A link to real/my.bank in another folder, where nothing is yet."""
    (tmp_path / "real").mkdir()
    (tmp_path / "links").mkdir()
    made = tmp_path / "links" / "link.bank"
    try:
        made.symlink_to(tmp_path / "real" / "my.bank")
    except OSError:
        pytest.skip("links cannot be made here")
    return made


def test_writers_through_a_link_and_through_the_path_see_each_other(link: Path, tmp_path: Path) -> None:
    with Bank.open(tmp_path / "real" / "my.bank", create=True) as direct, Bank.open(link, timeout=0.05) as linked:
        with direct._database.write(), pytest.raises(BankError, match="is held by process"):
            linked.add(THREE_PAIRS)
        assert linked.add(THREE_PAIRS).executions == 6
        assert direct.add(THREE_PAIRS).unchanged == 10


def test_a_bank_is_made_where_a_link_leads(link: Path, tmp_path: Path) -> None:
    with Bank.open(link, create=True) as bank:
        bank.add(THREE_PAIRS)
        assert bank.location == str(link)
    assert os.listdir(tmp_path / "links") == ["link.bank"]
    assert link.is_symlink()
    with Bank.open(tmp_path / "real" / "my.bank") as bank:
        assert len(bank.tasks()) == 3


def test_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    loop = tmp_path / "loop.bank"
    try:
        loop.symlink_to(loop)
    except OSError:
        pytest.skip("links cannot be made here")
    with pytest.raises(BankError, match="is not a SkillDelta bank"):
        Bank.open(loop)
