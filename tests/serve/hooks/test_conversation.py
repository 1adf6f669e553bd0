from __future__ import annotations

import os
import stat
import sys
import time
from pathlib import Path

import pytest

from skilldelta.serve.hooks.conversation import Conversation, HookDecision
from skilldelta.serve.hooks.failure_log import FILE_NAME, last_failures, log_failure

DECISION = HookDecision("counting", "use", "it helps", 0.25, 7, chosen=True)


def test_the_first_decision_of_a_conversation_counts(tmp_path: Path) -> None:
    one = Conversation(tmp_path / "state", "codex", "s1")
    assert one.known() is None
    assert one.keep((DECISION,))
    assert one.keep((DECISION._replace(action="skip"),))
    assert one.known() == (DECISION,)
    assert Conversation(tmp_path / "state", "codex", "s2").known() is None
    assert Conversation(tmp_path / "state", "gemini", "s1").known() is None


def test_each_entry_answers_once(tmp_path: Path) -> None:
    one = Conversation(tmp_path, "codex", "s1")
    assert [one.claim(1), one.claim(2), one.claim(1), one.claim(2)] == [
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"decisions": 3}', '{"decisions": [{"action": "dance"}]}'])
def test_a_damaged_file_means_that_nothing_is_known(tmp_path: Path, content: str) -> None:
    one = Conversation(tmp_path, "codex", "s1")
    assert one.keep((DECISION,))
    next(tmp_path.glob("*.json")).write_text(content)
    assert one.known() is None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
def test_what_is_kept_is_for_its_owner_alone(tmp_path: Path) -> None:
    one = Conversation(tmp_path / "state", "codex", "../../s1")
    one.keep((DECISION,))
    files = list((tmp_path / "state").iterdir())
    assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600]
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700


def test_a_folder_that_cannot_be_made_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    one = Conversation(tmp_path / "file" / "state", "codex", "s1")
    assert not one.keep((DECISION,))
    assert one.known() is None
    one.tidy()


def test_old_conversations_are_removed(tmp_path: Path) -> None:
    Conversation(tmp_path, "codex", "old").keep((DECISION,))
    for file in tmp_path.iterdir():
        os.utime(file, (time.time() - 40 * 86_400,) * 2)
    for number in range(60):  # one in sixteen looks for old ones
        Conversation(tmp_path, "codex", f"new-{number}").keep((DECISION,))
        Conversation(tmp_path, "codex", f"new-{number}").tidy()
    assert Conversation(tmp_path, "codex", "old").known() is None
    assert all(Conversation(tmp_path, "codex", f"new-{number}").known() == (DECISION,) for number in range(60))


def test_failures_are_kept_for_the_doctor_and_do_not_grow_for_ever(tmp_path: Path) -> None:
    assert last_failures(tmp_path) == []
    for number in range(3):
        log_failure(tmp_path, "codex", f"failure {number}")
    assert [row["failure"] for row in last_failures(tmp_path, 2)] == ["failure 2", "failure 1"]
    for _ in range(40):
        log_failure(tmp_path, "codex", "x" * 20_000)
    assert (tmp_path / FILE_NAME).stat().st_size < 400_000
