"""A gated panel agrees with the evaluation, and a skill's part of it with a count by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from skilldelta.bank import Bank
from skilldelta.errors import InputError
from skilldelta.studies import EvaluationSettings, evaluate, load_panel
from skilldelta.studies.gated_panel import gated_panel


def test_the_gate_is_worth_what_the_evaluation_says(bank: Bank) -> None:
    panel = load_panel(bank)
    (result,) = evaluate([panel], EvaluationSettings(resamples=0, shuffles=0)).results
    found, own = gated_panel(panel).rows, result.policies["stack"]
    assert found.value.success == pytest.approx(own.success)
    assert found.value.use_rate == pytest.approx(own.use_rate)
    assert found.value.token_saving == pytest.approx(own.token_saving)
    assert (found.value.off, found.value.on) == (result.off, result.on)
    assert (found.used == own.actions).all()


def test_a_skill_has_its_own_rows_families_sweep_and_plane(bank: Bank) -> None:
    gated = gated_panel(load_panel(bank))
    assert gated.skills == ["units-skill", "dates-skill"]
    units = gated.of_skill("units-skill")
    assert [(one.family, one.help, one.harm, one.tie) for one in units.families] == [("units", 3, 0, 1)]
    assert units.extra_tokens == 50.0
    assert units.sweep.success[0] == 1.0  # always on
    assert units.sweep.success[-1] == 0.25  # always off
    assert units.plane.places(units.support.vectors).shape == (4, 2)
    assert gated.of_skill("units-skill") is units


def test_a_task_is_judged_without_its_own_outcome(bank: Bank) -> None:
    """Turning a task's outcome around moves the scores of others, never its own."""
    panel = load_panel(bank)
    scores = gated_panel(panel).rows.scores
    support = panel.support
    turned = support.with_outcomes(np.where(np.arange(8) == 0, support.y1, support.y0), support.y1)
    again = gated_panel(replace(panel, support=turned)).rows.scores
    assert again[0] == pytest.approx(scores[0])


def test_an_unknown_skill_is_refused_with_the_nearest(bank: Bank) -> None:
    with pytest.raises(InputError, match="did you mean units-skill"):
        gated_panel(load_panel(bank)).of_skill("unit-skill")
