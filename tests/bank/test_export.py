"""Out of the bank, and in again elsewhere."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skilldelta.bank.batch import Batch
from skilldelta.bank.entries import RecordedOutcome
from skilldelta.bank.export import export_decisions, export_panel, export_runs, run_lines
from skilldelta.bank.importers import read_source
from skilldelta.bank.store import Bank
from skilldelta.errors import InputError
from skilldelta.records import Agent, Skill, Task

from .small import AGENT, DECISION, NEW_SKILL, SKILL, TinyEncoder, skip, use

OTHER_SKILL = Skill.from_text("units", "Convert to SI units.")


def test_exported_runs_give_the_same_evidence_elsewhere(filled: Bank, tmp_path: Path) -> None:
    settings = Agent("model-c", "temperature 0")
    filled.add(
        Batch(
            [Task("ü1", 'Größe? "quoted"\nsecond line', "", "other")],
            [NEW_SKILL],
            [
                use("t1", None, NEW_SKILL, status="transport_error", seconds=1.5),
                use("t1", 1.0, NEW_SKILL, cost_usd=0.01),
                skip("ü1", 0.5, agent=settings, suite="other", repetition=3),
            ],
        )
    )
    file = tmp_path / "runs.jsonl"
    assert export_runs(filled, file) == 9
    with Bank.open(tmp_path / "copy.bank", create=True) as copy:
        copy.add(read_source(file))
        assert list(copy.executions()) == list(filled.executions())
        assert copy.tasks() == filled.tasks()
        assert copy.pairing(agent=AGENT) == filled.pairing(agent=AGENT)
        assert filled.add(read_source(file)).executions == 0


def test_an_exported_line_has_the_documented_keys(filled: Bank) -> None:
    first, second, *_ = (json.loads(line) for line in run_lines(filled))
    assert first == {
        "task_id": "t1",
        "text": "What day is it?",
        "family": "calendar",
        "skill": "",
        "agent": "model-a",
        "suite": "default",
        "condition": "skip",
        "repetition": 0,
        "success": 0.0,
        "tokens": 10.0,
        "status": "completed",
    }
    assert (second["skill"], second["skill_digest"]) == ("dates", SKILL.digest)


def test_the_export_of_a_skill_brings_the_baselines_of_its_tasks(filled: Bank) -> None:
    filled.add(Batch(skills=[OTHER_SKILL], executions=[use("t1", 0.5, OTHER_SKILL)]))
    lines = [json.loads(line) for line in run_lines(filled, skill_id="units")]
    assert [(line["condition"], line["skill"]) for line in lines] == [("skip", ""), ("use", "units")]


def test_an_exported_panel_holds_its_arrays_in_one_order(filled: Bank, tmp_path: Path) -> None:
    file = tmp_path / "panel.npz"
    assert export_panel(filled, file, TinyEncoder(), agent=AGENT, suite="default") == 3
    with np.load(file, allow_pickle=False) as panel:
        assert sorted(panel) == sorted(
            ["task_id", "family", "skill", "vectors", "y0", "y1", "r0", "r1", "tokens0", "tokens1"]
        )
        assert panel["task_id"].tolist() == ["t1", "t2", "t3"]
        assert (panel["y1"] - panel["y0"]).tolist() == [1.0, 0.0, -1.0]
        assert panel["vectors"].shape == (3, 3)


def test_an_export_that_fails_leaves_no_file(filled: Bank, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write"):
        export_runs(filled, tmp_path / "no such folder" / "runs.jsonl")

    def fail(done: int, total: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        export_panel(filled, tmp_path / "panel.npz", TinyEncoder(), agent=AGENT, progress=fail)
    assert not list(tmp_path.glob("*.npz"))


def test_the_decision_log_is_written_with_its_outcomes(filled: Bank, tmp_path: Path) -> None:
    first = filled.record_decision(DECISION)
    filled.record_decision(replace(DECISION, action="skip", text="What day is it?"))
    filled.record_outcome(RecordedOutcome(first, 1_700_000_001.5, success=1, tokens=20))
    assert export_decisions(filled, tmp_path / "log.jsonl") == 2
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [(line["action"], line["text"]) for line in lines] == [("use", None), ("skip", "What day is it?")]
    assert [(outcome["success"], outcome["tokens"]) for outcome in lines[0]["outcomes"]] == [(1.0, 20.0)]
    assert lines[0]["evidence"] == DECISION.evidence
    assert lines[0]["agent"] == {"name": "model-a", "fingerprint": ""}
