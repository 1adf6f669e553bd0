"""Versions with files in the bank: bound to the whole folder, with the digest of the text still understood."""

from __future__ import annotations

from dataclasses import replace

import pytest

from skilldelta.bank.batch import Batch
from skilldelta.bank.skill_versions import add_skill_text
from skilldelta.bank.store import Bank
from skilldelta.errors import InputError
from skilldelta.records import Skill
from skilldelta.skill_folder import FolderFiles

from .small import AGENT, SKILL, use, with_a_script

FIRST = with_a_script("dates", SKILL.text, "print(1)")
SECOND = with_a_script("dates", SKILL.text, "print(2)")


def _beside(skill: Skill) -> FolderFiles:
    return FolderFiles(skill.files, skill.sketch)


def test_runs_that_name_the_digest_of_the_text_are_runs_of_the_first_folder_with_that_text(filled: Bank) -> None:
    before = filled.pairing(agent=AGENT).pairs
    added = add_skill_text(filled, "dates", SKILL.text, beside=_beside(FIRST))
    assert added.stale == 0
    assert [skill for skill in filled.skills() if skill.skill_id == "dates"] == [FIRST]
    assert filled.pairing(agent=AGENT).pairs == tuple(replace(pair, skill_digest=FIRST.digest) for pair in before)
    assert filled.verify() == []


def test_the_same_runs_under_the_old_digest_are_known_and_new_ones_join_the_folder(filled: Bank) -> None:
    filled.add(Batch(skills=[FIRST]))
    again = filled.add(Batch(skills=[SKILL], executions=[use("t1", 1.0, repetition=7)]))
    assert (again.skills, again.executions) == (0, 1)
    assert {run.skill_digest for run in filled.executions(skill_id="dates")} == {FIRST.digest}
    repeated = filled.add(Batch(executions=[use("t1", 1.0, repetition=7)]))
    assert repeated.executions == 0


def test_another_script_is_another_version_and_must_be_meant_so(filled: Bank) -> None:
    filled.add(Batch(skills=[FIRST]))
    with pytest.raises(InputError, match="say --new-version"):
        add_skill_text(filled, "dates", SKILL.text, beside=_beside(SECOND))
    added = add_skill_text(filled, "dates", SKILL.text, beside=_beside(SECOND), new_version=True)
    assert added.is_new
    assert [skill.digest for skill in filled.skills() if skill.skill_id == "dates"] == [FIRST.digest, SECOND.digest]
    assert filled.pairing(agent=AGENT).pairs == ()
    assert {pair.skill_digest for pair in filled.pairing(agent=AGENT).stale} == {FIRST.digest}


def test_a_forgotten_version_leaves_no_files(filled: Bank) -> None:
    filled.add(Batch(skills=[FIRST]))
    filled.forget(skill_id="dates")
    assert filled.verify() == []
    filled.add(Batch(skills=[SKILL]))
    assert [skill.files for skill in filled.skills() if skill.skill_id == "dates"] == [""]
