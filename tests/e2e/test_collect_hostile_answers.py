"""Answers that try to stop a collection, to get at the user's keys, or to fall out of the evidence."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from collect.endpoint import serving
from collect.suites import write_suite
from skilldelta.bank import Bank
from skilldelta.cli.main import run

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

CANARY = "canary-19c3e7"
PLAIN = "plain-words-88b1"
ANSWERS = {
    "forged failure": "echo 'bwrap: x' >&2; exit 1",
    "exit 127": "exit 127",
    "nested": "python3 -c \"import os\nfor _ in range(1500): os.mkdir('d'); os.chdir('d')\"; exit 1",
    "closed": "mkdir -p a/b; chmod 0 a/b a; mkfifo f; ln -s l l; exit 1",
    "link": "rm answer.txt; ln -s /etc/passwd answer.txt; exit 1",
    "right": "exit 0",
}


def test_no_answer_stops_the_collection_or_falls_out_of_it(tmp_path: Path) -> None:
    rows = [
        {"task_id": name, "text": name, "skill": "arith", "grader": {"type": "command", "run": "sh ./answer.txt"}}
        for name in ANSWERS
    ]
    suite = write_suite(tmp_path / "suite", rows=rows)

    def reply(request: dict[str, Any]) -> str:
        return ANSWERS[request["messages"][-1]["content"]]

    with serving(reply) as endpoint:
        options = ["--base-url", endpoint.url, "--model", "m", "--bank", str(tmp_path / "b.bank")]
        assert run(["collect", str(suite), *options]) == 0
    with Bank.open(tmp_path / "b.bank") as bank:
        found = {(one.task_id, one.status, one.success) for one in bank.executions()}
    assert found == {(name, "completed", float(name == "right")) for name in ANSWERS}
    manifest = json.loads(next(tmp_path.rglob("manifest.json")).read_text())
    assert manifest["invocations"][0]["sandbox"] == "bubblewrap"
    assert manifest["invocations"][0]["limits_held_by"] in ("cgroup", "watchdog")


READ_KEYS = """
    import glob
    return " ".join(open(path, errors="replace").read() for path in glob.glob("/proc/[0-9]*/environ")) or "nothing"
"""


def test_code_of_an_agent_brings_no_key_into_transcript_logs_or_bank(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SKILLDELTA_API_KEY", CANARY)
    # Nothing but the sandbox keeps this one back: neither its name nor its place gives it away to the redaction.
    monkeypatch.setenv("PLAIN_VARIABLE", PLAIN)
    suite = write_suite(tmp_path / "suite", tasks=1, settings="agent: {solver: code, system: Write solve().}")
    with serving(lambda request: READ_KEYS) as endpoint:
        options = ["--base-url", endpoint.url, "--model", "m", "--bank", str(tmp_path / "b.bank")]
        assert run(["collect", str(suite), *options]) == 0
    transcript = next(tmp_path.rglob("transcript.jsonl")).read_text()
    assert '"status"' in transcript
    printed = "".join(capsys.readouterr())
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    for canary in (CANARY, PLAIN):
        assert canary not in printed
        assert canary.encode() not in written
