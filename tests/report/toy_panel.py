"""A panel that can be checked by hand: eight tasks in two families, one where the skill helps and one where it harms."""

from __future__ import annotations

import numpy as np

from skilldelta.evaluation.leave_one_out import evaluate_panel
from skilldelta.evaluation.results import PanelResult
from skilldelta.support import Support

POLICIES = ("always_off", "always_on", "random_matched", "paper", "with_skill_only", "family_mean")

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
"""A task text that would run if any place in the page forgot to escape it."""


def support_of(*, agent: str = "toy-agent", suite: str = "toy", tokens: bool = True, text: str = "count") -> Support:
    """Sums: 1 of 4 solved without the skill, 4 of 4 with it. Names: 4 of 4 without, 2 of 4 with it."""
    angles = np.array([0.0, 0.1, 0.2, 0.3, 1.6, 1.7, 1.8, 1.9])
    return Support.from_arrays(
        task_ids=[f"sum/{i}" for i in range(4)] + [f"name/{i}" for i in range(4)],
        families=["sums"] * 4 + ["names"] * 4,
        skills=["arithmetic"] * 4 + ["naming"] * 4,
        vectors=np.column_stack([np.cos(angles), np.sin(angles)]),
        y0=[0, 0, 0, 1, 1, 1, 1, 1],
        y1=[1, 1, 1, 1, 1, 0, 1, 0],
        tokens0=[100.0] * 8 if tokens else None,
        tokens1=[300.0] * 8 if tokens else None,
        texts=[f"{text} {i}" for i in range(8)],
        encoder="plane",
        agent=agent,
        suite=suite,
    )


def panel_of(support: Support, *, resamples: int = 100) -> PanelResult:
    """The panel evaluated with the policies whose values a reader can work out."""
    return evaluate_panel(support, policies=POLICIES, rng=np.random.default_rng(0), resamples=resamples)
