"""Rows 29 to 35: collection of evidence, and the gate in use."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from paper.map_checks import shows
from paper.map_folder import MapFolder, Ran

COLLECT = "collect my-suite --base-url http://127.0.0.1:8000/v1 --model my-model --bank arms.bank --retries 0 --json"


def arms(ran: Ran) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Requests without and with the skill, by their task."""
    found: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    for request in sorted(ran.requests, key=lambda one: str(one["messages"][-1])):
        found[len(request["messages"]) == 3].append(request)
    return found


@shows("29")
def conditions_differ_in_the_skill(found: Any, folder: MapFolder) -> None:
    without, with_skill = arms(folder.ran(COLLECT))
    assert (len(without), len(with_skill)) == (6, 6)
    for plain, skilled in zip(without, with_skill, strict=True):
        assert {**skilled, "messages": [skilled["messages"][0], skilled["messages"][2]]} == plain
        assert re.search("first three letters|column by column", skilled["messages"][1]["content"])
        assert plain["temperature"] == 0


@shows("30.1")
def what_counts(found: Any, folder: MapFolder) -> None:
    assert found["executions"] == {"completed": 11, "transport_error": 1}
    (panel,) = found["panels"]
    assert (panel["pairs"], panel["unpaired"]) == (5, 1)


@shows("30.2")
def nothing_is_a_failure(found: Any, folder: MapFolder) -> None:
    pairs = {pair["task_id"]: pair for pair in found["pairs"]}
    assert (pairs["sum-1"]["y0"], pairs["sum-1"]["y1"]) == (0, 1)
    assert "sum-3" not in pairs


@shows("30.3")
def the_manifest(found: Any, folder: MapFolder) -> None:
    kept = folder.path / found["folder"]
    manifest = json.loads((kept / "manifest.json").read_text(encoding="utf-8"))
    digests = [*manifest["tasks"].values(), *manifest["skills"].values(), *manifest["files"].values()]
    assert len(manifest["tasks"]) == 6
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in digests)
    assert manifest["seed"] == 0
    assert "collect my-suite" in manifest["invocations"][0]["command"]
    ledger = [json.loads(line) for line in (kept / "ledger.jsonl").read_text(encoding="utf-8").splitlines()]
    settled = [line["settled"]["tokens"] for line in ledger if "settled" in line]
    assert sum(settled) == found["spend"]["tokens"] == 11 * 12


@shows("32")
def before_any_execution(found: Any, folder: MapFolder) -> None:
    command = next(command for command in folder.answers if "--record" in command)
    assert folder.answers[command].requests == ()
    assert (found["action"], found["skill"]) == ("use", "part-numbers")
    assert found["decision_id"] == 1


@shows("34")
def changed_skills(found: Any, folder: MapFolder) -> None:
    (panel,) = found["panels"]
    assert (panel["stale"], panel["pairs"]) == (1, 1)


@shows("35")
def the_account(found: Any, folder: MapFolder) -> None:
    page = (folder.path / found["report"]).read_text(encoding="utf-8")
    section = page.partition('id="panel-1-accounting"')[2].partition("</section>")[0]
    assert "Has the bank paid for itself?" in section
    pairs = folder.document("bank list")["pairs"]
    spent = sum(pair["r0"] * pair["tokens0"] + pair["r1"] * pair["tokens1"] for pair in pairs)
    assert f"{spent:,.0f}" in section
    assert "Paid after, tasks" in section
    assert spent == pytest.approx(round(spent))
