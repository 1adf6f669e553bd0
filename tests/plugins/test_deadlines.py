"""The JavaScript that adapters share, with servers that hang, drip, die or lie: in node, and in the Bun of OpenCode."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harnesses import installing

SCRIPT = Path(__file__).resolve().parents[2] / "plugins" / "dsh-skilldelta" / "test" / "deadlines.mjs"
TIMEOUT = 0.4
# Seconds that an adapter takes beside the server, and a busy machine on top.
SPARE = 0.1 + 0.3


def decisions(words: list[str], **variables: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [*words, str(SCRIPT), str(TIMEOUT)],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": os.environ["PATH"], **variables},
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def check(rows: list[dict[str, Any]]) -> None:
    assert len(rows) == 38
    for row in rows:
        limit = 2 * TIMEOUT if row["name"] in ("a command that does not end", "work without end") else TIMEOUT
        assert row["seconds"] < limit + SPARE, row
        assert {"text", "skill"} & set(row) == set(), row  # nothing is injected
        is_odd = row["name"] in ("answers odd types", "answers another action") and row["stage"] == "question"
        assert row["via"] == ("server" if is_odd else "fail-mode"), row


@pytest.mark.skipif(sys.platform == "win32", reason="the command of the test is a shell script")
def test_no_server_holds_an_adapter_longer_than_its_limit_in_node() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    check(decisions([node]))


def test_no_server_holds_an_adapter_longer_than_its_limit_in_the_bun_of_opencode() -> None:
    program = installing.program("opencode")
    if program is None:
        pytest.skip("opencode is not installed; make test-harnesses installs it")
    check(decisions([str(program)], BUN_BE_BUN="1", HOME=str(SCRIPT.parent)))
