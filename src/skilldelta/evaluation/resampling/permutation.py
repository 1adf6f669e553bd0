"""What an evaluation shows when gains carry no information: the same scores after the outcomes were shuffled.

Leaving a task out lowers the mean of its neighbors when its gain is high, so that chance is not an AUROC of 0.5: with one
family it is about 0.35. Shuffling whole outcomes between the tasks of a family keeps what families tell and destroys
what tasks tell within them; shuffling across families destroys both. A result is a finding as far as shuffled panels
do not reach it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal

import numpy as np

from skilldelta.arrays import ROUNDING, Floats, Ints, exceeds
from skilldelta.estimators.blend import Blend
from skilldelta.evaluation.metrics import advantage, aurocs
from skilldelta.evaluation.panel_policy import PanelPolicy
from skilldelta.evaluation.resampling.rescoring import LinearRule, averaged_outcomes
from skilldelta.evaluation.results import NullDistribution, PermutationNull, PolicyResult
from skilldelta.evaluation.scored_policies import EvaluationPlan, as_scored
from skilldelta.support import Support

# Between the tasks of a family, or between all tasks.
Shuffled = Literal["within", "across"]
KINDS: tuple[Shuffled, ...] = ("within", "across")

# The least p-value is then 0.005.
SHUFFLES = 199

_CHUNK_CELLS = 2**21

# (n, draws) scores from outcomes y0 and y1, each (n, draws).
Scoring = Callable[[Floats, Floats], Floats]


# By policy, then `within` and `across`.
Nulls = Mapping[str, Mapping[str, PermutationNull]]


def panel_nulls(
    support: Support,
    policies: Mapping[str, PanelPolicy],
    plan: EvaluationPlan,
    linear: Mapping[str, LinearRule],
    *,
    shuffles: int,
    with_blend: bool,
    rng: np.random.Generator,
) -> Nulls:
    """For the linear rules, and for the blend where asked: it is fitted anew each time. Policies see the same shuffles."""
    if not shuffles:
        return {}
    scorings = {name: _linear_scoring(rule) for name, rule in linear.items()}
    if with_blend and "blend" in policies:
        scorings["blend"] = _blend_scoring(as_scored(support, plan.holdout))
    nulls: dict[str, dict[str, PermutationNull]] = {name: {} for name in scorings}
    for kind in KINDS:
        shuffled: dict[str, list[tuple[Floats, Floats]]] = {name: [] for name in scorings}
        for sources in _sources(support, kind, shuffles, rng):
            y0, y1 = support.y0[sources], support.y1[sources]
            for name, scoring in scorings.items():
                shuffled[name].append(_statistics(scoring(y0, y1), y1 - y0, policies[name]))
        for name, found in shuffled.items():
            nulls[name][kind] = _null(policies[name], support, found, shuffles)
    return nulls


def _linear_scoring(rule: LinearRule) -> Scoring:
    """One matrix product for all shuffles."""
    return lambda y0, y1: rule.scores(averaged_outcomes(rule.averaged, y0, y1))


def _blend_scoring(scored: Support) -> Scoring:
    """Everything anew, shuffle by shuffle."""

    def scores(y0: Floats, y1: Floats) -> Floats:
        panels = (scored.with_outcomes(y0[:, b], y1[:, b]) for b in range(y0.shape[1]))
        return np.column_stack([Blend().leave_one_out(panel).values for panel in panels])

    return scores


def _sources(support: Support, kind: Shuffled, shuffles: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Chunks (n, draws): the row whose outcomes each row gets. Tasks are exchanged whole, with all their rows."""
    by_task = np.argsort(support.task_codes, kind="stable")
    sizes = np.bincount(support.task_codes)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    place = np.empty(len(support), np.int64)
    place[by_task] = np.arange(len(support)) - np.repeat(starts, sizes)  # which row of its task
    families = np.unique(support.scope_labels("family"), return_inverse=True)[1][by_task[starts]]
    # Only tasks with the same number of rows can be exchanged.
    strata = sizes if kind == "across" else families * (int(sizes.max()) + 1) + sizes
    base = np.argsort(strata, kind="stable")
    step = max(1, _CHUNK_CELLS // len(support))
    for start in range(0, shuffles, step):
        chunk = np.empty((len(support), min(step, shuffles - start)), np.int64)
        for column in range(chunk.shape[1]):
            other = np.empty(len(sizes), np.int64)
            other[base] = np.lexsort((rng.random(len(sizes)), strata))
            chunk[:, column] = by_task[starts[other[support.task_codes]] + place]
        yield chunk


def _statistics(scores: Floats, gains: Floats, policy: PanelPolicy) -> tuple[Floats, Floats]:
    """(draws,) AUROC and advantage over random of each shuffle."""
    assert policy.threshold is not None
    actions = exceeds(scores, policy.threshold)
    if policy.supported is not None:
        actions &= policy.supported[:, None]
    gained = advantage((actions * gains).mean(axis=0), gains.mean(axis=0), actions.mean(axis=0))
    return aurocs(scores, gains > 0), gained


def _null(
    policy: PanelPolicy, support: Support, shuffled: list[tuple[Floats, Floats]], shuffles: int
) -> PermutationNull:
    assert policy.scores is not None
    auroc, gained = _statistics(policy.scores[:, None], support.gains[:, None], policy)
    return PermutationNull(
        shuffles,
        _distribution(float(auroc[0]), np.concatenate([areas for areas, _ in shuffled])),
        _distribution(float(gained[0]), np.concatenate([values for _, values in shuffled])),
    )


def _distribution(observed: float, shuffled: Floats) -> NullDistribution | None:
    """The panel itself counts as one of the shuffles, which makes the p-value valid at any number of them."""
    if np.isnan(observed):
        return None
    reached = int((shuffled >= observed - ROUNDING).sum())
    low, high = np.quantile(shuffled, [0.025, 0.975])
    return NullDistribution(float(shuffled.mean()), float(low), float(high), (1 + reached) / (1 + len(shuffled)))


def below_chance(policies: Iterable[PolicyResult]) -> tuple[str, ...]:
    """The note on orders that look backward: which are no more than what leaving one out does to shuffled gains."""
    backward = [policy for policy in policies if policy.auroc is not None and policy.auroc < _BACKWARD]
    artefacts = [f"{one.name} {one.auroc:.2f} ({_chance(one):.2f})" for one in backward if _is_artefact(one)]
    notes = []
    if artefacts:
        notes.append(
            "an AUROC below 0.5 that shuffled gains reach as well is an artefact of leaving one out, not a backward order; "
            f"with the shuffled mean in brackets: {', '.join(artefacts)}"
        )
    untested = [f"{one.name} {one.auroc:.2f}" for one in backward if not one.null and one.name in _LEAVES_ONE_OUT]
    if untested:
        notes.append(
            "an AUROC below 0.5 may be an artefact of leaving one out, which lowers a task's score where its gain is high; "
            f"not tested by shuffling: {', '.join(untested)}"
        )
    return tuple(notes)


# Nearer to 0.5 nobody reads an order into it.
_BACKWARD = 0.48
_LEAVES_ONE_OUT = ("paper", "with_skill_only", "tfidf_knn", "family_mean", "blend")


def _is_artefact(policy: PolicyResult) -> bool:
    assert policy.auroc is not None
    return any(null.auroc is not None and policy.auroc >= null.auroc.low for null in policy.null.values())


def _chance(policy: PolicyResult) -> float:
    """The shuffled mean nearest to what was observed."""
    assert policy.auroc is not None
    means = [null.auroc.mean for null in policy.null.values() if null.auroc is not None]
    return min(means, key=lambda mean: abs(mean - policy.auroc))  # type: ignore[operator]
