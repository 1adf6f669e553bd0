"""A policy is fixed actions on a panel; its value is read off the recorded outcomes, nothing is executed again.

`Totals` holds the sums from which every value of a policy follows, for the panel as it is or for many resamples of it,
so that an estimate and its interval come from the same formulas.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from skilldelta.arrays import Flags, Floats, Ints, Strings, exceeds
from skilldelta.errors import InputError
from skilldelta.estimators.base import Scores
from skilldelta.evaluation.comparison import few_tasks
from skilldelta.evaluation.metrics import advantage, auroc, decompose
from skilldelta.evaluation.results import PolicyResult, Range, unless_nan
from skilldelta.gate import PanelDecisions
from skilldelta.nouns import plural
from skilldelta.support import Support


@dataclass(frozen=True, slots=True, eq=False)
class PanelPolicy:
    """What to do with every row of a panel. Actions are probabilities where the policy is random."""

    name: str
    actions: Flags | Floats  # (n,)
    rows: Ints  # (m,) rows that are evaluated
    scores: Floats | None = None  # (n,)
    threshold: float | None = None
    is_gain: bool = False
    router_tokens: Floats | None = None  # (n,)
    groups: Strings | None = None  # (n,) what is resampled together, where it is not the task
    supported: Flags | None = None  # (n,) rows with evidence; None where every score is an estimate
    notes: tuple[str, ...] = ()
    decisions: PanelDecisions | None = None
    """What the gate decided, where the policy is the gate."""

    @classmethod
    def constant(cls, name: str, use: float, n: int) -> PanelPolicy:
        """The same probability of use everywhere."""
        actions = np.full(n, use) if 0 < use < 1 else np.full(n, use == 1)
        return cls(name, actions, np.arange(n))

    @classmethod
    def from_scores(cls, name: str, scores: Scores, *, threshold: float | None = None) -> PanelPolicy:
        """Use where the score exceeds the threshold (the scores' own unless given); equality and no evidence skip."""
        cut = scores.threshold if threshold is None else threshold
        is_scored = np.isfinite(scores.values)
        if not is_scored.any():
            raise InputError(f"the policy {name} scored no task at all; nothing can be evaluated")
        return cls(
            name,
            actions=exceeds(sweepable(scores.values, scores.supported), cut),
            rows=np.flatnonzero(is_scored),
            scores=scores.values,
            threshold=cut,
            is_gain=scores.is_gain,
            router_tokens=scores.router_tokens,
            groups=scores.groups,
            supported=scores.supported,
            notes=scores.notes,
        )

    @classmethod
    def from_decisions(cls, name: str, decisions: PanelDecisions) -> PanelPolicy:
        """The gate's own row: its actions; what it abstains from is skipped, which is the fallback."""
        scores, gate = decisions.scores, decisions.gate
        notes = list(scores.notes)
        if decisions.unlike.any():
            unlike = plural(int(decisions.unlike.sum()), "pair is", "pairs are")
            notes.append(f"{unlike} less familiar than {gate.familiarity_floor:.4g}, and skipped")
        if decisions.abstains.any():
            notes.append(f"abstains from {plural(int(decisions.abstains.sum()), 'pair')}, which the fallback skips")
        return cls(
            name,
            actions=decisions.uses,
            rows=np.flatnonzero(np.isfinite(scores.values)),
            scores=scores.values,
            threshold=gate.threshold,
            is_gain=scores.is_gain,
            router_tokens=scores.router_tokens,
            groups=scores.groups,
            supported=decisions.supported & ~decisions.unlike,
            notes=tuple(notes),
            decisions=decisions,
        )

    @property
    def compared(self) -> Floats:
        """(n,) what is compared with the threshold; minus infinity where no threshold uses a row."""
        if self.decisions is not None:
            return self.decisions.compared
        assert self.scores is not None
        return sweepable(self.scores, self.supported)


def sweepable(scores: Floats, supported: Flags | None) -> Floats:
    """(n,) scores under which no threshold uses a row without evidence: minus infinity there."""
    return scores if supported is None else np.where(supported | np.isnan(scores), scores, -np.inf)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """The recorded outcomes of the rows that a policy is evaluated on."""

    task_ids: Strings
    families: Strings
    """The groups of the decomposition; a row without a family belongs to its skill."""
    y0: Floats
    y1: Floats
    tokens0: Floats
    tokens1: Floats

    @classmethod
    def of(cls, support: Support, rows: Ints) -> Outcomes:
        """Some rows of a panel; the vectors stay where they are."""
        names = ("y0", "y1", "tokens0", "tokens1")
        families = support.scope_labels("family")
        return cls(support.task_ids[rows], families[rows], *(getattr(support, name)[rows] for name in names))

    @cached_property
    def gains(self) -> Floats:
        """(m,) observed gains."""
        return self.y1 - self.y0

    @cached_property
    def positive(self) -> Flags:
        """(m,) whether the skill helped."""
        return self.gains > 0

    @cached_property
    def has_tokens(self) -> Flags:
        """(m,) whether both arms' tokens are known: one arm alone cannot price a choice."""
        return np.isfinite(self.tokens0) & np.isfinite(self.tokens1)


def columns(policy: PanelPolicy, outcomes: Outcomes) -> NDArray[np.float64]:
    """(m, columns) what each row adds to the totals of a policy."""
    a = np.asarray(policy.actions, np.float64)[policy.rows]
    gains, positive = outcomes.gains, outcomes.positive
    router = np.zeros(len(a)) if policy.router_tokens is None else policy.router_tokens[policy.rows]
    priced = outcomes.has_tokens & np.isfinite(router)
    tokens = np.where(priced, outcomes.tokens0 + a * (outcomes.tokens1 - outcomes.tokens0) + router, 0.0)
    scores = policy.scores[policy.rows] if policy.scores is not None and policy.is_gain else np.full(len(a), np.nan)
    error = scores - gains
    return np.column_stack(  # in the order of `Totals`
        [
            np.ones(len(a)),
            outcomes.y0,
            gains,
            positive,
            a,
            a * gains,
            a * positive,
            priced,
            tokens,
            np.where(priced, outcomes.tokens1, 0.0),
            np.abs(error),
            error**2,
        ]
    )


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums over a panel, or over each resample of it; what is unknown is NaN."""

    weight: Floats  # (draws,) rows
    off: Floats
    gain: Floats
    positive: Floats
    use: Floats
    used_gain: Floats
    used_positive: Floats
    priced: Floats
    tokens: Floats
    tokens_on: Floats
    absolute_error: Floats
    squared_error: Floats

    @classmethod
    def of(cls, policy: PanelPolicy, outcomes: Outcomes) -> Totals:
        """One policy on the panel as it is: one draw."""
        return cls.from_sums(columns(policy, outcomes).sum(axis=0, keepdims=True))

    @classmethod
    def from_sums(cls, sums: NDArray[np.float64]) -> Totals:
        """Sums (draws, columns) in the order of the fields."""
        return cls(*sums.T)

    def metrics(self) -> dict[str, Floats]:
        """(draws,) every value by its name in results."""
        return {name: getattr(self, name) for name in _VALUES} | {"tokens": self.mean_tokens}

    @property
    def success(self) -> Floats:
        """The chosen arm's mean success."""
        with np.errstate(invalid="ignore"):  # a draw without any of a policy's rows has no success: NaN
            return (self.off + self.used_gain) / self.weight

    @property
    def success_gain(self) -> Floats:
        """Success over always-off."""
        return self.used_gain / self.weight

    @property
    def success_vs_always_on(self) -> Floats:
        """Success over always-on."""
        return (self.used_gain - self.gain) / self.weight

    @property
    def use_rate(self) -> Floats:
        """Share of rows with the skill."""
        return self.use / self.weight

    @property
    def mean_tokens(self) -> Floats:
        """Tokens of the chosen arm and of the router, over rows whose tokens are known."""
        return _ratio(self.tokens, self.priced)

    @property
    def token_saving(self) -> Floats:
        """Share of always-on's tokens not spent."""
        return 1 - _ratio(self.tokens, self.tokens_on)

    @property
    def advantage_vs_random(self) -> Floats:
        """Success over random activation at the same rate, the rate taken anew in every resample."""
        return advantage(self.used_gain / self.weight, self.gain / self.weight, self.use_rate)

    @property
    def balanced_accuracy(self) -> Floats:
        """Mean of the use rate of positives and the skip rate of the others."""
        others = self.weight - self.positive
        return (_ratio(self.used_positive, self.positive) + 1 - _ratio(self.use - self.used_positive, others)) / 2

    @property
    def gain_mae(self) -> Floats:
        """Mean absolute error of predicted against observed gains."""
        return self.absolute_error / self.weight

    @property
    def gain_mse(self) -> Floats:
        """Mean squared error of predicted against observed gains."""
        return self.squared_error / self.weight


_VALUES = (
    "success",
    "success_gain",
    "success_vs_always_on",
    "use_rate",
    "token_saving",
    "advantage_vs_random",
    "balanced_accuracy",
    "gain_mae",
    "gain_mse",
)


def _ratio(over: Floats, under: Floats) -> Floats:
    return np.where(under > 0, over / np.where(under > 0, under, 1.0), np.nan)


def policy_result(policy: PanelPolicy, support: Support, intervals: Mapping[str, Range]) -> PolicyResult:
    """The value of fixed actions on a panel, from its recorded outcomes."""
    outcomes = Outcomes.of(support, policy.rows)
    # Contiguous rows, because numpy adds those pairwise: constant actions then have no advantage to the last digit.
    totals = Totals.from_sums(np.ascontiguousarray(columns(policy, outcomes).T).sum(axis=1)[None, :])
    actions = policy.actions[policy.rows]
    parts = decompose(actions, outcomes.gains, outcomes.families)
    router = None if policy.router_tokens is None else policy.router_tokens[policy.rows]
    is_part = len(policy.rows) < len(support)  # the panel's own notes speak for policies on all of it
    return PolicyResult(
        name=policy.name,
        success=float(totals.success[0]),
        success_gain=float(totals.success_gain[0]),
        always_on=float(outcomes.y1.mean()),
        use_rate=float(totals.use_rate[0]),
        tokens=unless_nan(totals.mean_tokens[0]),
        token_saving=unless_nan(totals.token_saving[0]),
        auroc=None if policy.scores is None else auroc(policy.scores[policy.rows], outcomes.positive),
        balanced_accuracy=unless_nan(totals.balanced_accuracy[0]),
        advantage_vs_random=float(totals.advantage_vs_random[0]),
        within_group=parts.within_group,
        between_group=parts.between_group,
        gain_mae=unless_nan(totals.gain_mae[0]),
        gain_mse=unless_nan(totals.gain_mse[0]),
        intervals={name: interval for name, interval in intervals.items() if interval.low is not None},
        threshold=policy.threshold,
        scores=policy.scores,
        actions=policy.actions,
        rows=policy.rows,
        supported=policy.supported,
        abstained=None if policy.decisions is None else int(policy.decisions.abstains[policy.rows].sum()),
        unlike=None if policy.decisions is None else int(policy.decisions.unlike[policy.rows].sum()),
        router_tokens=None if router is None or not np.isfinite(router).any() else float(np.nanmean(router)),
        notes=(*policy.notes, *(few_tasks(outcomes.task_ids) if intervals and is_part else ())),
    )
