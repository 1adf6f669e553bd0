"""Rows 43 to 47: the authors' protocol, exact graders, ToolQA's agent, tables beside the paper's, one gate."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from paper.map_checks import shows
from paper.map_folder import MapFolder
from skilldelta.bank import Bank
from skilldelta.collect.suite import load_suite
from skilldelta.paper.suites.lookup_corpora import table_file
from skilldelta.paper.suites.toolqa_environment import ToolEnvironment


@shows("43")
def wording_from_the_checkout(found: Any, folder: MapFolder) -> None:
    assert found["protocol"] == "authors"
    assert any("prompts.py is not the file that the protocol was written from" in note for note in found["notes"])
    suite = load_suite(folder.path / "authors")
    assert suite.agent.skill_prompt == "A sheet for this task:\n{skill}\n\n{task}"
    record = json.loads((folder.path / "authors" / "prepared.json").read_text(encoding="utf-8"))
    assert list(record["checkout_files"]) == ["SR-Agents/src/sragents/prompts.py"]


@shows("44.1")
def known_answers(found: Any, folder: MapFolder) -> None:
    assert found["gold"] == {"answers": 32, "faults": [], "skipped": []}
    suite = load_suite(folder.path / "authors")
    assert {task.grader["mode"] for task in suite.tasks} == {"exact"}


@shows("44.2")
def both_modes(found: Any, folder: MapFolder) -> None:
    (row,) = found["tables"]["graders"]
    assert (row["replies"], row["difference"]) == (16, 0)


@shows("45")
def tables_as_pandas_prints_them(found: Any, folder: MapFolder) -> None:
    assert any("no flights/Combined_Flights_2022.csv" in note for note in found["notes"])
    assert table_file(folder.path / "corpora", "coffee", folder.path / "tables").is_file()

    async def follow() -> list[str]:
        place = folder.path / "worker"
        environment = ToolEnvironment(folder.path / "corpora", folder.path / "tables", place, None, None)  # type: ignore[arg-type]
        actions = ("LoadDB[coffee]", "GetValue[Volume]", "FilterDB[Date=2001-01-02, Note=nan]", "GetValue[Volume]")
        return [(await environment.execute(action)).text for action in actions]

    assert asyncio.run(follow())[1:] == ["7.0, nan", "1 rows are left.", "7.0"]


@shows("46.1")
def tables_beside_the_paper(found: Any, folder: MapFolder) -> None:
    tables = found["tables"]
    assert tables["inventory"][0]["tasks (paper)"] == 760
    (joint,) = [row for row in tables["counts"] if row["the paper's rule has"] == "AUROC above both"]
    assert joint["panels (paper)"] == "10/15"
    printed = {row["policy"]: row["success (paper)"] for row in tables["means"] if row["success (paper)"]}
    assert printed == {"Paper's rule": pytest.approx(0.6312), "Always on": pytest.approx(0.6404)}
    assert "\\label{tab:counts}" in (folder.path / "suite-study" / "tables.tex").read_text(encoding="utf-8")
    assert len(list((folder.path / "suite-study" / "tables").glob("*.csv"))) == 16


@shows("46.2")
def tables_of_runs_and_scores_that_were_chosen(found: Any, folder: MapFolder) -> None:
    (row,) = found["tables"]["no_history"]
    # The scores are 0 1 2 3 0 1 2 3, so tasks 2, 3, 6 and 7 lie above their median.
    with Bank.open(folder.path / "suite-study" / "study.bank", create=False) as bank:
        (agent,) = bank.agents()
        pairs = {pair.task_id: pair for pair in bank.pairing(agent=agent, suite="logicbench").pairs}
    used = {f"logicbench_{n:05}" for n in (2, 3, 6, 7)}
    success = [pair.y1 if name in used else pair.y0 for name, pair in pairs.items()]
    assert row["relevance"] == pytest.approx(sum(success) / 8)
    written = (folder.path / "suite-study" / "tables.md").read_text(encoding="utf-8")
    assert "outcomes of the first run of each arm" in written
    assert "Ridge has the vectors of tfidf" in written


@shows("47")
def one_gate(found: Any, folder: MapFolder) -> None:
    (panel,) = found["panels"]
    rows = [json.loads(line) for line in (folder.path / "study.jsonl").read_text(encoding="utf-8").splitlines()]
    # `predict` scopes by skill and family; every skill of this study has families of its own.
    used = [
        folder.document(f"predict --paper --task-id {row['task_id']} --skill {row['skill']}")["action"] == "use"
        for row in rows
    ]
    assert sum(used) / len(used) == pytest.approx(panel["policies"]["paper"]["use_rate"])
