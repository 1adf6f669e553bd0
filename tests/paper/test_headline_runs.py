"""Tables that count the first runs of each arm, while evidence curves use all of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from skilldelta.bank import Bank, Batch
from skilldelta.errors import InputError
from skilldelta.evaluation.evidence_scaling import repetition_sweep
from skilldelta.paper.headline_runs import HeadlineRuns, first_runs, headline_panels
from skilldelta.paper.paper_tables import paper_tables
from skilldelta.records import CONDITIONS, Agent, Execution, Skill, Task
from skilldelta.studies import EvaluationSettings, LoadedPanel, evaluate, load_panels

# Success of three runs: without the skill, with it.
RUNS = {
    "t0": ((1, 0, 0), (0, 1, 1)),
    "t1": ((0, 0, 0), (1, 1, 1)),
    "t2": ((0, 1, 0), (1, 0, 1)),
    "t3": ((1, 1, 1), (1, 1, 0)),
}


def loaded(folder: Path, *agents: str) -> list[LoadedPanel]:
    skill = Skill.from_text("lamps", "An even number lights the lamp.")
    with Bank.open(folder / "runs.bank", create=True) as bank:
        bank.add(
            Batch(
                tasks=[Task(name, f"the {name} lamp", "f", "trips") for name in RUNS],
                skills=[skill],
                # Later repetitions arrive first, so that only their number says which run was the first.
                executions=[
                    Execution(
                        Agent(agent, agent),
                        "trips",
                        name,
                        condition,
                        repetition,
                        success=float(arm[repetition]),
                        skill_id="lamps",
                        skill_digest=skill.digest,
                        tokens=100.0 * (repetition + 1),
                    )
                    for agent in agents or ("ada",)
                    for name, arms in RUNS.items()
                    for condition, arm in zip(CONDITIONS, arms, strict=True)
                    for repetition in (2, 1, 0)
                ],
            )
        )
        return load_panels(bank)


def test_only_the_first_run_of_each_arm_counts(tmp_path: Path) -> None:
    (panel,) = loaded(tmp_path)
    first = first_runs(panel, 1)

    assert dict(zip(first.support.task_ids.tolist(), first.support.gains.tolist(), strict=True)) == {
        "t0": -1.0,
        "t1": 1.0,
        "t2": 1.0,
        "t3": 0.0,
    }
    assert first.support.tokens0.tolist() == [100.0] * 4
    assert set(first.support.r0.tolist()) == set(first.support.r1.tolist()) == {1}
    assert [pair.y0 for pair in first.pairing.pairs] == first.support.y0.tolist()
    np.testing.assert_array_equal(first.support.vectors, panel.support.vectors)


def test_two_runs_are_their_mean_and_more_than_there_are_is_all(tmp_path: Path) -> None:
    (panel,) = loaded(tmp_path)

    assert first_runs(panel, 2).support.y1.tolist() == [0.5, 1.0, 0.5, 1.0]
    np.testing.assert_allclose(first_runs(panel, 9).support.gains, panel.support.gains)


def test_the_last_number_that_fits_a_panel_counts(tmp_path: Path) -> None:
    panels = loaded(tmp_path, "ada", "bob")
    runs = HeadlineRuns.parse(["1", "bob=3"])

    assert {panel.agent.name: runs.of(panel) for panel in panels} == {"ada": 1, "bob": 3}
    counts = {panel.agent.name: set(panel.support.r0.tolist()) for panel in headline_panels(panels, runs)}
    assert counts == {"ada": {1}, "bob": {3}}
    assert runs.note(panels).startswith("outcomes of the first run of each arm on ada on trips, the first 3 runs")
    assert HeadlineRuns().note(panels) == ""


@pytest.mark.parametrize("text", ["0", "x", "=3", "ada=", "-1", "1.5"])
def test_what_is_no_number_of_runs_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="headline runs must be like 1 or logicbench=3"):
        HeadlineRuns.parse([text])


def test_a_name_that_no_panel_has_is_refused_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"trip.*trips"):
        headline_panels(loaded(tmp_path), HeadlineRuns.parse(["trip=1"]))


def test_tables_count_one_run_and_curves_three(tmp_path: Path) -> None:
    every_run = loaded(tmp_path)
    runs = HeadlineRuns.parse(["1"])
    evaluated = evaluate(headline_panels(every_run, runs), EvaluationSettings(resamples=0, shuffles=0))
    tables = {table.key: table for table in paper_tables(evaluated, every_run=every_run, outcomes_note="one run")}

    policies = dict(zip([c.name for c in tables["policies"].columns], tables["policies"].rows[0], strict=True))
    assert (policies["off"], policies["on"]) == (0.5, 0.75)  # of the first runs: 2 of 4, 3 of 4
    assert tables["policies"].note.endswith("one run")
    evidence = [
        dict(zip([c.name for c in tables["evidence"].columns], row, strict=True)) for row in tables["evidence"].rows
    ]
    assert {row["over"]: row["to"] for row in evidence}["repetitions"] == 3
    assert "one run" not in tables["evidence"].note
    # With the headline's one run there would be no curve over repetitions.
    rng = np.random.default_rng(0)
    assert repetition_sweep(evaluated.panels[0].panel.support, rng).amounts.tolist() == [1]
    assert json.dumps(tables["structure"].rows)
