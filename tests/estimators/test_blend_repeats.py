"""The same support gives the same scores in every process, whatever order its sets have."""

from __future__ import annotations

import os
import subprocess
import sys

_SCRIPT = """
import numpy as np
from skilldelta.estimators.blend import Blend
from skilldelta.paper.simulation.simulated_panel import simulate_panel
support = simulate_panel(np.random.default_rng(0), tasks=60, families=3).support
print(repr(Blend().leave_one_out(support).values.tolist()))
"""


def _scores(seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, "-c", _SCRIPT], env=environment, check=True, capture_output=True, text=True
    ).stdout


def test_scores_do_not_depend_on_the_hash_seed() -> None:
    assert _scores("1") == _scores("2") != ""
