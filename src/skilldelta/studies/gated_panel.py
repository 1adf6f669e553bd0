"""A panel with what the gate would have done on every recorded task, each decided without the task's own outcome.

Pages about one skill live on it: the panel is scored once, and a skill is some of its rows. Their tasks are drawn on a
plane, for pictures only: no decision rests on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from skilldelta.arrays import Flags, Floats, Ints, Vectors, exceeds
from skilldelta.errors import unknown_name
from skilldelta.evaluation.panel_policy import Outcomes, PanelPolicy, Totals
from skilldelta.evaluation.results import FamilyCounts
from skilldelta.evaluation.structure import family_counts
from skilldelta.evaluation.sweeps import ThresholdSweep, threshold_sweep
from skilldelta.gate import Gate
from skilldelta.studies.evaluation_study import plan_for, scored_policy
from skilldelta.studies.loaded_panel import LoadedPanel
from skilldelta.support import Support

_DEFAULT_GATE = Gate()
# Rows that a plane is learned from; of more, this many drawn with a fixed seed stand for all.
PLANE_ROWS = 2_000


@dataclass(frozen=True, slots=True, eq=False)
class TaskPlane:
    """The two directions in which vectors differ most.

    The same vectors give the same plane on every machine: principal axes are unique but for their sign, which is fixed
    here.
    """

    centre: Floats  # (dim,)
    axes: Floats  # (2, dim), rows of length 1, or zero where the vectors differ in fewer directions
    shares: tuple[float, float]
    """Of the variance of the vectors, what each axis shows."""

    @classmethod
    def of(cls, vectors: Vectors) -> TaskPlane:
        """The plane of some vectors, at least one."""
        some = vectors[fixed_sample(len(vectors), PLANE_ROWS)].astype(np.float64)
        centre = some.mean(axis=0)
        _, sizes, rows = np.linalg.svd(some - centre, full_matrices=False)
        variances = np.append(sizes**2, [0.0, 0.0])[:2]
        total = float((sizes**2).sum())
        axes = np.zeros((2, vectors.shape[1]))
        for axis in range(2):
            if total > 0 and variances[axis] > 1e-12 * total:
                axes[axis] = rows[axis] * np.sign(rows[axis][np.argmax(np.abs(rows[axis]))])
        first, second = (float(variance / total) if total > 0 else 0.0 for variance in variances)
        return cls(centre, axes, (first, second))

    def places(self, vectors: Vectors) -> Floats:
        """(n, 2) where vectors stand, those that the plane was learned from or others."""
        placed: Floats = (vectors.astype(np.float64) - self.centre) @ self.axes.T
        return placed


def fixed_sample(n: int, size: int) -> Ints:
    """At most `size` of n rows in their order, the same at every call."""
    if n <= size:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, size, replace=False))


@dataclass(frozen=True, slots=True)
class GateValue:
    """What the gate reached on some rows, beside never and always using the skill."""

    off: float
    on: float
    success: float
    use_rate: float
    token_saving: float | None
    """Share of always-on's tokens; None where no tokens are recorded."""


@dataclass(frozen=True, eq=False)
class GatedRows:
    """Rows of a panel and the gate's scores of them."""

    support: Support
    scores: Floats  # (n,) what is compared with the threshold; minus infinity where no threshold uses the skill
    threshold: float

    @cached_property
    def used(self) -> Flags:
        """(n,) whether the gate uses the skill."""
        return exceeds(self.scores, self.threshold)

    @cached_property
    def value(self) -> GateValue:
        """The gate's value on these rows."""
        policy = PanelPolicy("gate", self.used, np.arange(len(self.support)))
        totals = Totals.of(policy, Outcomes.of(self.support, policy.rows))
        saving = float(totals.token_saving[0])
        return GateValue(
            off=float(self.support.y0.mean()),
            on=float(self.support.y1.mean()),
            success=float(totals.success[0]),
            use_rate=float(totals.use_rate[0]),
            token_saving=saving if np.isfinite(saving) else None,
        )

    @cached_property
    def families(self) -> tuple[FamilyCounts, ...]:
        """Help, harm and no change by family."""
        return family_counts(self.support)

    @cached_property
    def sweep(self) -> ThresholdSweep:
        """Success against tokens over every threshold."""
        return threshold_sweep(self.scores, self.support, default=self.threshold)

    @cached_property
    def plane(self) -> TaskPlane:
        """The plane that these tasks are drawn on."""
        return TaskPlane.of(self.support.vectors)

    @property
    def extra_tokens(self) -> float | None:
        """Mean tokens that the skill adds to a task, over rows whose tokens are known in both arms."""
        extra = self.support.tokens1 - self.support.tokens0
        finite = extra[np.isfinite(extra)]
        return float(finite.mean()) if len(finite) else None


class GatedPanel:
    """A scored panel, whole or skill by skill."""

    def __init__(self, panel: LoadedPanel, rows: GatedRows) -> None:
        self.panel = panel
        self.rows = rows
        self._skills: dict[str, GatedRows] = {}

    @property
    def skills(self) -> list[str]:
        """The skills with pairs, in order of first appearance."""
        return list(dict.fromkeys(self.rows.support.skills.tolist()))

    def of_skill(self, skill: str) -> GatedRows:
        """The rows of one skill; what was worked out about them is kept."""
        if skill not in self._skills:
            own = np.flatnonzero(self.rows.support.skills == skill)
            if not len(own):
                raise unknown_name("skill", skill, self.skills)
            self._skills[skill] = GatedRows(self.rows.support.rows(own), self.rows.scores[own], self.rows.threshold)
        return self._skills[skill]


def gated_panel(panel: LoadedPanel, gate: Gate = _DEFAULT_GATE) -> GatedPanel:
    """Decide every task of a panel from the others, as the gate would decide it in `predict`."""
    policy = scored_policy(gate.estimator, panel.support, plan_for(panel, gate))
    return GatedPanel(panel, GatedRows(panel.support, policy.compared, gate.threshold))
