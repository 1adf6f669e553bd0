"""The gate without a transport: the command line's answers, once per conversation, from a bank that changes."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Skilldelta, pair_rows, skilldelta  # noqa: F401
from skilldelta.bank import Bank
from skilldelta.bank.entries import DecisionFilter, RecordedOutcome
from skilldelta.bank.importers import read_source
from skilldelta.encoders import EncoderError
from skilldelta.errors import BankError, InputError, NotRecordedError
from skilldelta.gate import Gate, Question
from skilldelta.records import text_digest
from skilldelta.serve import loaded_bank
from skilldelta.serve.gate_service import GateService, GateSettings
from skilldelta.text_sketch import text_sketch

ASKED = Question("convert four miles to metres", "units-skill")


def rows_file(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("paper", [False, True])
def test_the_answer_is_the_document_of_the_command(
    gate: GateService,
    bank_path: Path,
    skilldelta: Skilldelta,  # noqa: F811
    paper: bool,
) -> None:
    policy = Gate(estimator="paper", scope="family", interval="hoeffding") if paper else None
    words = ["--paper"] if paper else []
    asked = ("predict", "--bank", bank_path, "--skill", ASKED.skill, "--json", "--explain", *words, ASKED.text)
    answer = gate.decide(replace(ASKED, gate=policy, explain=True))
    expected = skilldelta(*asked).document
    assert json.loads(json.dumps(answer.to_dict())) == {**expected, "decision_id": 1, "repeated": False}


def test_a_conversation_that_asks_again_gets_its_first_answer(gate: GateService) -> None:
    first = gate.decide(replace(ASKED, conversation="c"))
    again = gate.decide(replace(ASKED, text="something else", conversation="c"))
    assert (first.repeated, again.repeated) == (False, True)
    assert again.decision_id == first.decision_id
    assert json.loads(json.dumps(again.to_dict())) == {**json.loads(json.dumps(first.to_dict())), "repeated": True}
    assert gate.decide(replace(ASKED, skill="dates-skill", conversation="c")).repeated is False
    assert gate.decide(ASKED).repeated is False


def test_threads_of_one_conversation_share_one_decision(gate: GateService) -> None:
    asked = [replace(ASKED, text=f"convert {i} miles", conversation="c") for i in range(24)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(gate.decide, asked))
    assert {answer.decision_id for answer in answers} == {1}
    assert sum(not answer.repeated for answer in answers) == 1
    assert len({json.dumps({**answer.to_dict(), "repeated": None}, sort_keys=True) for answer in answers}) == 1


def test_a_bundle_is_answered_whatever_the_order_of_its_skills(
    gate: GateService, bank_path: Path, tmp_path: Path
) -> None:
    row = {**pair_rows()[0], "task_id": "both", "text": "convert six miles to yards", "skill": "dates+units"}
    with Bank.open(bank_path) as other:
        other.add(read_source(rows_file(tmp_path / "both.jsonl", [row])))
    answer = gate.decide(replace(ASKED, skill="units+dates"))
    assert (answer.skill, answer.eligible, answer.decision_id) == ("dates+units", 1, 1)


def test_a_grown_bank_is_noticed(gate: GateService, bank_path: Path, tmp_path: Path) -> None:
    before = gate.decide(ASKED).to_dict()["support"]["eligible"]
    row = {**pair_rows()[0], "task_id": "more", "text": "convert six miles to yards", "skill": "units-skill"}
    with Bank.open(bank_path) as other:
        other.add(read_source(rows_file(tmp_path / "more.jsonl", [row])))
    assert gate.decide(ASKED).to_dict()["support"]["eligible"] == before + 1


def test_a_replaced_bank_is_opened_again(gate: GateService, bank_path: Path, tmp_path: Path) -> None:
    gate.decide(ASKED)
    fresh = tmp_path / "fresh.bank"
    rows = [row for row in pair_rows() if row["family"] == "units"][:2]
    with Bank.open(fresh, create=True) as other:
        other.add(read_source(rows_file(tmp_path / "few.jsonl", rows)))
    for beside in ("-wal", "-shm", ".commits"):
        Path(f"{bank_path}{beside}").unlink(missing_ok=True)
    os.replace(fresh, bank_path)
    answer = gate.decide(ASKED)
    assert (answer.to_dict()["support"]["eligible"], answer.decision_id) == (2, 1)
    assert gate.record_outcome(RecordedOutcome(1, 1.0, success=1)).is_new


def test_a_removed_bank_is_an_error_and_is_not_made_anew(gate: GateService, bank_path: Path) -> None:
    gate.decide(ASKED)
    bank_path.unlink()
    with pytest.raises(BankError):
        gate.decide(ASKED)
    assert not bank_path.exists()


@pytest.mark.parametrize(
    ("keep", "text", "digest"),
    [
        ("whole", ASKED.text, text_digest(ASKED.text)),
        ("digest", None, text_digest(ASKED.text)),
        ("nothing", None, None),
    ],
)
def test_the_log_keeps_of_the_text_what_the_setting_says(
    bank_path: Path, keep: Any, text: str | None, digest: str | None
) -> None:
    with GateService.open(bank_path, GateSettings(keep=keep)) as gate:
        gate.decide(replace(ASKED, conversation="secret-conversation-id", source="dsh"))
        entry = gate.explain(1)
    assert (entry["text"], entry["text_digest"], entry["source"]) == (text, digest, "dsh")
    stored = "".join(sqlite3.connect(bank_path).iterdump())
    assert (ASKED.text in stored) == (keep == "whole")
    assert "secret-conversation-id" not in stored


def test_expired_decisions_are_removed(bank_path: Path) -> None:
    now = [1_000_000.0]
    with GateService.open(bank_path, GateSettings(retention_days=2), clock=lambda: now[0]) as gate:
        gate.decide(ASKED)
        now[0] += 86_400
        gate.decide(ASKED)
        assert gate.forget_expired() == 0
        now[0] += 1.5 * 86_400
        assert gate.forget_expired() == 1
        assert [one["decision_id"] for one in gate.decisions(10)["decisions"]] == [2]


def test_a_past_decision_is_explained_with_its_evidence_and_outcome(gate: GateService) -> None:
    answer = gate.decide(ASKED)
    gate.record_outcome(RecordedOutcome(1, 7.0, success=0.5))
    explained = gate.explain(1)
    assert explained["neighbors"] == list(answer.to_dict()["neighbors"])
    assert explained["neighbors"][0]["text"].startswith("convert")
    assert explained["outcomes"] == [{"time": 7.0, "success": 0.5, "tokens": None, "seconds": None, "cost_usd": None}]
    with pytest.raises(NotRecordedError, match="no decision 2"):
        gate.explain(2)


def test_the_log_is_paged(gate: GateService) -> None:
    for _ in range(3):
        gate.decide(ASKED)
    page = gate.decisions(2)
    assert ([one["decision_id"] for one in page["decisions"]], page["next"]) == ([3, 2], 2)
    rest = gate.decisions(2, DecisionFilter(before=page["next"]))
    assert ([one["decision_id"] for one in rest["decisions"]], rest["next"]) == ([1], None)


def test_the_skill_with_the_largest_gain_is_chosen(gate: GateService) -> None:
    skills = ("dates-skill", "units-skill")
    chosen = gate.choose([replace(ASKED, skill=skill) for skill in skills])
    assert chosen.choice == "units-skill"
    assert [answer.to_dict()["skill"] for answer in chosen.answers] == list(skills)
    none = gate.choose([replace(ASKED, skill=skill, gate=Gate(threshold=0.99)) for skill in skills])
    assert none.choice is None


def test_a_batch_with_an_unknown_skill_records_nothing(gate: GateService) -> None:
    with pytest.raises(InputError, match="unknown skill 'unit'"):
        gate.decide_batch([ASKED, replace(ASKED, skill="unit")])
    assert gate.decisions(5)["decisions"] == []


def test_evidence_of_another_version_is_carried_over_and_never_under_the_papers_rule(bank_path: Path) -> None:
    text = "Multiply by the factor between both units, then round to the digits that were given."
    edited = text.replace("digits", "places")
    with Bank.open(bank_path) as bank:
        from skilldelta.bank.skill_versions import add_skill_text

        add_skill_text(bank, "units-skill", text, new_version=True)
    with GateService.open(bank_path) as gate:
        current = gate.decide(replace(ASKED, skill_digest=text_digest(text), include_skill_text=True))
        asked = replace(ASKED, skill_digest=text_digest(edited), skill_sketch=text_sketch(edited))
        other = gate.decide(asked)
        unknown = gate.decide(replace(asked, skill_sketch=""))
        paper = gate.decide(replace(asked, gate=Gate.from_settings({"paper": True})))
    assert current.to_dict()["support"]["eligible"] == 4
    assert current.to_dict()["carried_over"] is None
    assert current.to_dict()["skill_text"] == text
    carried = other.to_dict()["carried_over"]
    assert carried["version"] == text_digest(text)
    assert 0 < carried["changed"] < 0.6
    assert 0 < other.to_dict()["gain"] < current.to_dict()["gain"]
    assert f"carried over from version {text_digest(text)[:4]}…, changed" in other.to_dict()["reason"]
    assert unknown.to_dict()["carried_over"] == {"version": text_digest(text), "changed": None, "trust": 0.5}
    assert (paper.to_dict()["action"], paper.to_dict()["fallback"]) == ("abstain", True)
    assert f"not of {text_digest(edited)[:12]}" in paper.to_dict()["reason"]


class DeafEncoder:
    """An endpoint that does not answer."""

    identity = "deaf/3"

    def encode(self, texts: Any) -> Any:
        raise EncoderError("no answer")


def test_a_routing_failure_is_an_error_or_the_configured_fallback(bank_path: Path) -> None:
    with GateService.open(bank_path, encoder=DeafEncoder()) as gate, pytest.raises(EncoderError):
        gate.decide(ASKED)
    with GateService.open(bank_path, GateSettings(fallback="use"), encoder=DeafEncoder()) as gate:
        answer = gate.decide(ASKED)
        assert (answer.to_dict()["action"], answer.to_dict()["fallback"]) == ("use", True)
        assert "routing failed" in gate.explain(answer.decision_id or 0)["reason"]


def test_a_copied_bank_answers_the_same(gate: GateService, bank_path: Path, tmp_path: Path) -> None:
    answer = gate.decide(ASKED)
    shutil.copy(bank_path, tmp_path / "copy.bank")
    with GateService.open(tmp_path / "copy.bank") as other:
        assert {**other.decide(ASKED).to_dict(), "decision_id": answer.decision_id} == answer.to_dict()


def test_names_and_settings_that_anybody_may_invent_are_not_kept(
    gate: GateService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loaded_bank, "_MOST_ANSWERS", 5)
    for i in range(30):
        asked = replace(ASKED, text=f"convert {i} miles", family=f"invented {i}", record=False)
        gate.decide(asked)
        gate.decide(replace(asked, gate=Gate(estimator="paper", k=i + 1)))
    gate.decide(replace(ASKED, text="convert miles " * 1_000, record=False))
    loaded = gate._loaded
    (advisor,) = loaded._advisors.values()
    panels = advisor._panels
    (index,) = panels._indexes.values()
    assert len(loaded._answers) <= 5
    assert all(len(key.question.text) < 5_000 for key in loaded._answers)
    assert len(index._snapshots) <= 2
    assert len(panels._views) <= 16
    assert len(panels._recorded) == 1


def test_the_log_names_the_recorded_task_whose_text_was_asked_about(bank_path: Path) -> None:
    with GateService.open(bank_path) as gate:
        task = gate.read(lambda bank: bank.tasks()[0])
        gate.decide(Question(text=task.text, skill="units-skill"))
        gate.decide(Question(text="something else", skill="units-skill"))
        other, recorded = gate.decisions(10)["decisions"]
    assert (recorded["recorded_task"], other["recorded_task"]) == (task.task_id, None)
    assert recorded["text"] is None, "the log keeps a digest only"
