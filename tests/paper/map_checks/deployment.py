"""Rows 29 to 35: collection of evidence, and the gate in use."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from paper.map_checks import shows
from paper.map_folder import MapFolder, Ran
from skilldelta.collect.suite import load_suite

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


@shows("31.1")
def five_suites(found: Any, folder: MapFolder) -> None:
    counts = [(one["tasks"], one["skills"]) for one in found["suites"]]
    assert counts == [(1430, 14), (1100, 55), (1136, 139), (760, 19), (399, 1)]
    assert all(one["licence"] and "github.com" in one["origin"] for one in found["suites"])


@shows("31.2")
def an_ordinary_suite(found: Any, folder: MapFolder) -> None:
    assert (found["tasks"], found["families"]) == (8, {"logicbench_000": 4, "logicbench_001": 4})
    suite = load_suite(folder.path / "logic")
    assert {task.grader["type"] for task in suite.tasks} == {"logic_answer"}
    assert (suite.repetitions, suite.agent.temperature) == (3, 0.0)


@shows("31.3")
def beside_the_paper(found: Any, folder: MapFolder) -> None:
    assert found["differences"] == ["tasks", "skills", "groups", "tasks per group"]
    assert found["paper"][0] == {"what": "tasks", "paper": "760", "here": "8", "equal": False}


@shows("31.4")
def a_whole_study(found: Any, folder: MapFolder) -> None:
    (row,) = found["tables"]["policies"]
    assert (row["tasks"], row["off"], row["on"]) == (8, 0.5, 1.0)
    assert len(found["tables"]) == 16
    requests = folder.ran(next(command for command in folder.answers if "suite-study" in command)).requests
    asked = [request["messages"][-1]["content"] for request in requests if "USE_SKILL" not in str(request)]
    assert (len(requests), len(asked)) == (24, 16)
    with_skill = [text for text in asked if "lights the lamp" in text]
    assert sorted(text.partition("---\n\n")[2] for text in with_skill) == sorted(set(asked) - set(with_skill))


@shows("31.5")
def sealed_before_outcomes(found: Any, folder: MapFolder) -> None:
    assert (found["audit"]["known"], found["audit"]["evaluated"]) == (4, 4)
    (sealed,) = (folder.path / "sealed-study" / "sealed").iterdir()
    assert found["seal"] in sealed.read_text(encoding="utf-8")


@shows("32")
def before_any_execution(found: Any, folder: MapFolder) -> None:
    command = next(command for command in folder.answers if "--record" in command)
    assert folder.answers[command].requests == ()
    assert (found["action"], found["skill"]) == ("use", "part-numbers")
    assert found["decision_id"] == 1


@shows("33")
def the_plugin_and_its_weightings(found: Any, folder: MapFolder) -> None:
    (patch,) = yaml.safe_load((folder.path / ".dsh" / "cordis.patch.yml").read_text(encoding="utf-8"))
    (row,) = patch["insert"]
    assert row["config"]["skill"] == "part-numbers"
    plugin = Path(row["name"])
    assert plugin.is_file()
    settings = Path(__file__).parents[3] / "plugins" / "dsh-skilldelta" / "shared" / "settings.mjs"
    assert "'weighting'" in settings.read_text(encoding="utf-8")
    gains = [
        folder.document(
            f"predict --paper --k 6 --skill part-numbers --bank collected.bank --weighting {kind} 'A bolt.'"
        )
        for kind in ("cosine", "uniform")
    ]
    assert gains[0]["gain"] != gains[1]["gain"]


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
