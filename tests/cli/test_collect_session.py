from __future__ import annotations

import pytest

from cli.conftest import Skilldelta


@pytest.mark.parametrize(("line", "told"), [("it's my agent", "No closing quotation"), (" ", "the command is empty")])
def test_a_command_line_that_cannot_be_read_is_one_line(skilldelta: Skilldelta, line: str, told: str) -> None:
    assert skilldelta("suite", "init", "suite").code == 0
    ran = skilldelta("collect", "suite", "--command", line, "--dry-run")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert told in ran.err
