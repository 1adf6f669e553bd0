"""Status, verification, removal, export, and what is kept beside the evidence."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from skilldelta.bank.batch import Batch
from skilldelta.bank.entries import DecisionRecord, Forgotten, Judgement
from skilldelta.bank.export import export_panel, export_runs, run_lines
from skilldelta.bank.importers import read_source
from skilldelta.bank.store import Bank
from skilldelta.errors import InputError
from skilldelta.records import Agent, Skill, Task, text_digest

from .small import AGENT, NEW_SKILL, OTHER_AGENT, SKILL, TASKS, THREE_PAIRS, TinyEncoder, skip, use

OTHER_SKILL = Skill.from_text("units", "Convert to SI units.")
DECISION = DecisionRecord(
    time=1_700_000_000.5,
    agent=AGENT,
    skill_id="dates",
    text_digest=text_digest("What day is it?"),
    action="use",
    gain=0.25,
    threshold=0.0,
    reason="predicted gain +0.250 is above the threshold 0",
    evidence={"neighbors": [{"task_id": "t2", "weight": 1.0}]},
    skill_digest=SKILL.digest,
    task_id="t1",
)


def tamper(bank: Bank, statement: str, *values: object) -> None:
    """Change the file behind the bank's back."""
    connection = sqlite3.connect(bank.location)
    with connection:
        connection.execute(statement, values)
    connection.close()


# -- status and verification ------------------------------------------------------------------------------------------


def test_status_counts_everything(filled: Bank) -> None:
    filled.add(Batch(skills=[NEW_SKILL], executions=[skip("t1", None, repetition=1, status="transport_error")]))
    filled.support(TinyEncoder(), agent=AGENT, include_stale=True)
    filled.record_decision(DECISION)
    status = filled.status()
    assert (status.agents, status.suites, status.tasks, status.skills, status.skill_versions) == (1, 1, 3, 1, 2)
    assert status.executions == {"completed": 6, "transport_error": 1}
    assert status.vectors == {"tiny/3": 3}
    assert (status.decisions, status.judgements) == (1, 0)
    assert status.size_bytes > 0
    assert [panel.stale for panel in status.panels] == [3]


def test_a_sound_bank_has_no_problems(filled: Bank) -> None:
    filled.support(TinyEncoder(), agent=AGENT)
    assert filled.verify() == []


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DELETE FROM tasks WHERE task_id = 't2'", "2 orphan rows in executions: their tasks row is missing"),
        ("DELETE FROM agents", "6 orphan rows in executions: their agents row is missing"),
        ("UPDATE tasks SET text = 'changed' WHERE task_id = 't2'", "the text of task 't2' in suite 'default'"),
        ("UPDATE skills SET text = 'changed' WHERE skill_id = 'dates'", "the text of skill 'dates'"),
        ("UPDATE vectors SET vector = x'00000000'", "3 vectors of 'tiny/3' do not have 3 values"),
        ("UPDATE vectors SET vector = x'000000000000000000000000'", "3 vectors of 'tiny/3' are not of length 1"),
        ("UPDATE executions SET status = 'lost' WHERE success = 0", "2 executions have an unknown status"),
        ("UPDATE executions SET status = 'incomplete' WHERE success = 0", "2 executions have a success though"),
    ],
)
def test_verification_finds_what_does_not_belong(filled: Bank, statement: str, words: str) -> None:
    filled.support(TinyEncoder(), agent=AGENT)
    tamper(filled, statement)
    problems = filled.verify()
    assert len(problems) <= 2
    assert words in problems[0]


def test_verification_finds_a_damaged_page(tmp_path: Path) -> None:
    path = tmp_path / "damaged.bank"
    with Bank.open(path) as bank:
        bank.add(Batch(tasks=[Task(f"t{i}", f"Question {i}? " * 20, "f") for i in range(500)]))
    raw = bytearray(path.read_bytes())
    raw[-8192:-4096] = b"\xff" * 4096
    path.write_bytes(raw)
    with Bank.open(path) as bank:
        assert any("damaged file" in problem for problem in bank.verify())


# -- removal ----------------------------------------------------------------------------------------------------------


def test_forgetting_a_task_takes_its_executions_its_text_and_its_vectors(filled: Bank) -> None:
    filled.support(TinyEncoder(), agent=AGENT)
    revision = filled.revision()
    assert filled.forget(task_id="t2") == Forgotten(executions=2, tasks=1, vectors=1)
    assert [task.task_id for task in filled.tasks()] == ["t1", "t3"]
    assert filled.revision() > revision
    assert filled.verify() == []


def test_forgetting_a_skill_keeps_the_baselines_that_others_share(filled: Bank) -> None:
    filled.add(Batch(skills=[OTHER_SKILL], executions=[use("t1", 0.5, OTHER_SKILL)]))
    assert filled.forget(skill_id="dates") == Forgotten(executions=3, skills=1)
    assert filled.skills() == [OTHER_SKILL]
    assert [pair.gain for pair in filled.pairing(agent=AGENT).pairs] == [0.5]


def test_forgetting_an_agent_keeps_what_others_did(filled: Bank) -> None:
    filled.add(Batch(executions=[skip("t1", 0.0, agent=OTHER_AGENT), use("t1", 1.0, agent=OTHER_AGENT)]))
    gone = filled.forget(agent=AGENT)
    assert (gone.executions, gone.tasks, gone.agents, gone.skills) == (6, 2, 1, 0)
    assert filled.agents() == [OTHER_AGENT]
    assert len(filled.pairing(agent=OTHER_AGENT).pairs) == 1


def test_forgetting_takes_only_what_fits_every_filter(filled: Bank) -> None:
    filled.add(Batch([replace(TASKS[0], suite="other")], executions=[skip("t1", 1.0, suite="other")]))
    assert filled.forget(suite="other", agent=OTHER_AGENT) == Forgotten()
    assert filled.forget(suite="other").executions == 1
    assert filled.suites() == ["default"]


def test_forgetting_by_time_takes_what_was_recorded_before(tmp_path: Path) -> None:
    now = [100.0]
    with Bank.open(tmp_path / "time.bank", clock=lambda: now[0]) as bank:
        bank.add(THREE_PAIRS)
        now[0] = 200.0
        bank.add(Batch(executions=[use("t1", 0.0, repetition=1)]))
        assert bank.forget(before=200.0).executions == 6
        assert len(list(bank.executions())) == 1
        assert [task.task_id for task in bank.tasks()] == ["t1"]


def test_a_forgotten_attempt_leaves_room_for_the_next(tmp_path: Path) -> None:
    now = [100.0]
    with Bank.open(tmp_path / "time.bank", clock=lambda: now[0]) as bank:
        bank.add(Batch(TASKS, executions=[skip("t1", None, status="transport_error")]))
        now[0] = 200.0
        bank.add(Batch(executions=[skip("t1", None, status="incomplete")]))
        bank.forget(before=150.0)
        assert bank.add(Batch(executions=[skip("t1", 1.0)])).executions == 1


def test_what_was_forgotten_can_be_added_again(filled: Bank) -> None:
    filled.forget(suite="default")
    assert filled.add(THREE_PAIRS).executions == 6


def test_forgetting_without_a_filter_is_refused(filled: Bank) -> None:
    with pytest.raises(InputError, match="at least one of agent, suite, skill, task and before"):
        filled.forget()
    assert len(list(filled.executions())) == 6


# -- export -----------------------------------------------------------------------------------------------------------


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
    with Bank.open(tmp_path / "copy.bank") as copy:
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
    with pytest.raises(ZeroDivisionError):
        export_panel(filled, tmp_path / "panel.npz", TinyEncoder(), agent=AGENT, progress=lambda done, total: 1 // 0)
    assert not list(tmp_path.glob("*.npz"))


# -- beside the evidence ----------------------------------------------------------------------------------------------


def test_decisions_are_kept_newest_first_and_move_no_revision(filled: Bank) -> None:
    revision = filled.revision()
    assert [filled.record_decision(DECISION), filled.record_decision(replace(DECISION, action="skip"))] == [1, 2]
    newest, oldest = filled.decisions()
    assert newest == replace(DECISION, action="skip", decision_id=2)
    assert oldest == replace(DECISION, decision_id=1)
    assert filled.decisions(limit=1) == [newest]
    assert filled.revision() == revision


def test_judgements_are_kept_once_and_never_changed(filled: Bank) -> None:
    judgement = Judgement(AGENT, "default", "t1", "dates", SKILL.digest, use=True, tokens=12.0, answer="yes")
    assert filled.add_judgements([judgement]) == 1
    assert filled.add_judgements([judgement]) == 0
    assert filled.judgements(AGENT, "default") == [judgement]
    assert filled.judgements(OTHER_AGENT, "default") == []
    with pytest.raises(InputError, match="came again"):
        filled.add_judgements([replace(judgement, use=False)])
    assert filled.forget(skill_id="dates").judgements == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"agent": Agent("model-x")}, "unknown agent 'model-x'; did you mean model-a"),
        ({"skill_id": "date"}, "unknown skill 'date'; did you mean dates"),
        ({"task_id": "t"}, "unknown task 't'"),
    ],
)
def test_a_judgement_about_something_unknown_is_refused(filled: Bank, change: dict[str, object], words: str) -> None:
    judgement = Judgement(AGENT, "default", "t1", "dates", SKILL.digest, use=True)
    with pytest.raises(InputError) as error:
        filled.add_judgements([replace(judgement, **change)])  # type: ignore[arg-type]
    assert words in str(error.value)


# -- names ------------------------------------------------------------------------------------------------------------


def test_an_unknown_name_is_refused_with_the_nearest_ones(filled: Bank) -> None:
    with pytest.raises(InputError, match="unknown skill 'datse'; did you mean dates"):
        filled.resolve_skill("datse")
    with pytest.raises(InputError, match="unknown agent 'modela'; did you mean model-a"):
        filled.resolve_agent("modela")


def test_an_agent_is_found_by_name_and_fingerprint(filled: Bank) -> None:
    assert filled.resolve_agent(None) == AGENT
    one, two = Agent("model-c", "abc123"), Agent("model-c", "abd456")
    filled.add(Batch(executions=[skip("t1", 1.0, agent=one), skip("t1", 1.0, agent=two)]))
    assert filled.resolve_agent("model-a") == AGENT
    assert filled.resolve_agent("model-c@abd") == two
    for doubtful in (None, "model-c"):
        with pytest.raises(InputError, match=r"choose one: .*model-c@abc123, model-c@abd456"):
            filled.resolve_agent(doubtful)
    with pytest.raises(InputError, match="unknown agent 'model-c@zzz'"):
        filled.resolve_agent("model-c@zzz")


def test_an_empty_bank_says_that_it_has_nothing_yet(bank: Bank) -> None:
    with pytest.raises(InputError, match="no agent yet; import or collect"):
        bank.resolve_agent(None)
    with pytest.raises(InputError, match="the bank has none yet"):
        bank.resolve_skill("dates")
