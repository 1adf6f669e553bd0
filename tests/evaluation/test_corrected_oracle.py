"""The oracle without the headroom that noise alone shows."""

from __future__ import annotations

import numpy as np
import pytest

from skilldelta.evaluation.corrected_oracle import corrected_oracle
from skilldelta.paper.simulation.simulated_panel import simulate_panel
from skilldelta.support import Support


def _support(y0: list[float], y1: list[float], runs: int) -> Support:
    n = len(y0)
    return Support.from_arrays(
        task_ids=[f"t{i}" for i in range(n)],
        families=["f"] * n,
        skills=["s"] * n,
        vectors=np.eye(n),
        y0=y0,
        y1=y1,
        r0=[runs] * n,
        r1=[runs] * n,
    )


def test_without_a_repetition_nothing_can_be_corrected() -> None:
    assert corrected_oracle(_support([0, 1], [1, 0], 1)) is None


def test_runs_that_never_differ_leave_the_oracle_as_it_is() -> None:
    assert corrected_oracle(_support([0, 1, 1, 0], [1, 0, 1, 0], 2)) == pytest.approx(0.75)


def test_it_lies_between_the_better_constant_and_the_raw_oracle(rng: np.random.Generator) -> None:
    for kind in ("no_effect", "mixed", "family_only"):
        support = simulate_panel(rng, tasks=80, kind=kind, r0=2, r1=3).support
        corrected = corrected_oracle(support)
        assert corrected is not None
        raw = float(np.maximum(support.y0, support.y1).mean())
        assert max(support.y0.mean(), support.y1.mean()) <= corrected <= raw


@pytest.mark.parametrize(("kind", "runs"), [("no_effect", 2), ("always_helps", 3), ("mixed", 3), ("local_only", 2)])
def test_most_of_the_headroom_that_is_noise_is_taken_away_and_true_headroom_stays(kind: str, runs: int) -> None:
    true, raw, corrected = [], [], []
    for seed in range(20):
        panel = simulate_panel(np.random.default_rng(seed), tasks=150, kind=kind, r0=runs, r1=runs)
        support = panel.support
        true.append(float(np.maximum(panel.mu0, panel.mu1).mean()))
        raw.append(float(np.maximum(support.y0, support.y1).mean()))
        corrected.append(corrected_oracle(support) or 0.0)
    excess = float(np.mean(raw) - np.mean(true))
    assert abs(float(np.mean(corrected) - np.mean(true))) < excess / 3
