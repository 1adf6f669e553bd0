"""Panels are read from the bank once, and say what they leave out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from skilldelta.bank import Bank, Batch
from skilldelta.cli.main import run
from skilldelta.errors import InputError
from skilldelta.evaluation.amendments import Correction, Exclusion
from skilldelta.records import Agent, Execution, Task
from skilldelta.studies import EvaluationSettings, PanelChoice, evaluate, load_panel, load_panels

from .conftest import TOY, executions, task, trips


@contextmanager
def counted_reads() -> Iterator[list[str]]:
    """The statements that read executions themselves, and not only count them or look for their tasks."""
    seen: list[str] = []

    def note_read(connection: object, cursor: object, statement: str, *_: object) -> None:
        if re.search(r"\bexecutions\.success", statement) and statement.lstrip().upper().startswith("SELECT"):
            seen.append(statement)

    event.listen(Engine, "before_cursor_execute", note_read)
    try:
        yield seen
    finally:
        event.remove(Engine, "before_cursor_execute", note_read)


def test_loading_and_evaluating_reads_a_panels_executions_once(bank: Bank) -> None:
    with counted_reads() as seen:
        panels = load_panels(bank, corrections=[Correction("units-3", "skip", 0.0, "misread")])
        evaluated = evaluate(panels, EvaluationSettings(resamples=0, shuffles=0))
        assert evaluated.panels[0].panel.noise.tasks == 0
    assert len(seen) == 1


def test_the_count_sees_every_way_of_reading_executions(bank: Bank) -> None:
    with counted_reads() as seen:
        list(bank.executions(agent=TOY))
        bank.pairing(agent=TOY, suite="trips")
        bank.panels()
    assert len(seen) == 3


@pytest.mark.parametrize(
    ("words", "reads"),
    [
        (("evaluate", "--json", "--resamples", "0", "--shuffles", "0"), 1),
        (("report", "--resamples", "0", "--output", "r.html"), 1),
        (("sweep", "threshold", "--json", "--estimator", "family_mean"), 1),
        (("calibrate", "--use-rate", "0.5", "--json", "--estimator", "family_mean", "--resamples", "0"), 1),
    ],
)
def test_a_command_reads_a_panels_executions_once(
    words: tuple[str, ...], reads: int, bank: Bank, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if words[0] == "report":
        pytest.importorskip("vl_convert", reason="the report's figures need the extra plot")
    with counted_reads() as seen:
        assert run([*words, "--bank", "trips.bank"]) == 0
    assert len(seen) == reads


def test_several_panels_are_read_once_each_and_told_apart(bank: Bank) -> None:
    bank.add(trips(Agent("toy", "second")))
    bank.add(trips(suite="voyages"))
    with counted_reads() as seen:
        panels = load_panels(bank)
    assert len(seen) == len(panels) == 3
    assert [panel.title for panel in panels] == [
        "toy@first on trips",
        "toy@first on voyages",
        "toy@second on trips",
    ]
    with pytest.raises(InputError, match="the bank has 3 panels; choose one: --agent toy@first --suite trips"):
        load_panel(bank)
    assert load_panel(bank, PanelChoice("toy@second")).agent.fingerprint == "second"


def test_executions_stand_in_order_of_arrival_whatever_task_they_are_of(bank: Bank) -> None:
    late = executions(task("units", 0), (0, 0), repetition=1)
    bank.add(Batch(executions=late))
    panel = load_panel(bank)
    assert list(panel.executions) == list(bank.executions(agent=TOY, suite="trips"))
    assert list(panel.executions[-2:]) == late
    assert panel.noise.tasks == 1


def test_what_is_corrected_excluded_or_unpaired_is_said(bank: Bank) -> None:
    alone = Execution(TOY, "trips", "units-9", "use", 0, 1.0, "units-skill")
    bank.add(Batch(tasks=[Task("units-9", "one mile?", "units", "trips")], executions=[alone]))
    (panel,) = load_panels(
        bank,
        exclusions=[Exclusion("dates-0", "asked twice")],
        corrections=[Correction("units-3", "skip", 0.0, "misread")],
    )
    assert panel.notes == (
        "1 task lacks an arm and is left out: units-9",
        "1 corrected record counts as corrected: units-3 (skip: 1 counts as 0, misread)",
        "1 task is excluded by name: dates-0 (asked twice)",
    )
    assert (len(panel.recorded), len(panel.support)) == (8, 7)
    units_3 = panel.support.task_ids.tolist().index("units-3")
    assert (panel.support.y0[units_3], panel.recorded.y0[units_3]) == (0.0, 1.0)


def test_unknown_names_and_empty_banks_are_refused(bank: Bank, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="unknown suite 'trip'; did you mean trips"):
        load_panels(bank, PanelChoice(suite="trip"))
    with pytest.raises(InputError, match="unknown agent 'tony'"):
        load_panels(bank, PanelChoice("tony"))
    with pytest.raises(InputError, match="task to exclude"):
        load_panels(bank, exclusions=[Exclusion("units-8")])
    with (
        Bank.open(tmp_path / "empty.bank", create=True) as empty,
        pytest.raises(InputError, match="no complete pair yet"),
    ):
        load_panels(empty)


def test_a_study_tells_its_steps(bank: Bank) -> None:
    told: list[tuple[str, int, int | None]] = []
    panels = load_panels(bank, progress=lambda *step: told.append(step))
    evaluate(panels, EvaluationSettings(resamples=20, shuffles=0), progress=lambda *step: told.append(step))
    assert list(dict.fromkeys(step for step, _, _ in told)) == ["encoding trips", "evaluating"]
    assert told[0] == ("encoding trips", 0, None)
    (done, total), *_ = [(done, total) for step, done, total in told[::-1] if step == "evaluating"]
    assert done == total


def test_a_correction_fits_executions_that_do_not_say_the_version_of_their_skill(bank: Bank) -> None:
    assert not load_panel(bank).executions[0].skill_digest  # though the bank knows the skill's only version
    panel = load_panel(bank, corrections=[Correction("dates-0", "use", 1.0)])
    assert panel.corrected[0].task_id == "dates-0"
    assert panel.support.y1[panel.support.task_ids.tolist().index("dates-0")] == 1.0
