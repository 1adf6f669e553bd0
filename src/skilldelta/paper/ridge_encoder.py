"""The Ridge controls on vectors of another encoder than the main tables, as the paper has them for one agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from skilldelta.evaluation.leave_one_out import evaluate_panels
from skilldelta.evaluation.results import PolicyResult
from skilldelta.studies.evaluation_study import Evaluated, EvaluatedPanel, plan_of
from skilldelta.studies.loaded_panel import LoadedPanel

RIDGE = ("ridge", "dual_ridge")


def with_ridge_of(evaluated: Evaluated, panels: Sequence[LoadedPanel]) -> Evaluated:
    """The study with both Ridge controls of panels that have other vectors; panels that are not among them stay.

    Tasks, outcomes and splits are the study's own: only the vectors differ.
    """
    supports = {(panel.support.agent, panel.suite): panel.support for panel in panels}
    others = [
        replace(item.panel.support, vectors=other.vectors, encoder=other.encoder)
        for item in evaluated.panels
        if (other := supports.get((item.result.agent, item.result.suite))) is not None
    ]
    if not others:
        return evaluated
    again = evaluate_panels(
        others,
        rng=np.random.default_rng(evaluated.settings.seed),
        policies=RIDGE,
        plan=plan_of(evaluated),
        resamples=evaluated.settings.resamples,
        shuffles=0,
    )
    results = {(result.agent, result.suite): result.policies for result in again.panels}
    # A mean over panels with different vectors would be neither; the other policies' means stay.
    means = {name: policy for name, policy in evaluated.means.policies.items() if name not in RIDGE}
    if len(others) == len(evaluated.panels):
        means |= again.means.policies
    return replace(
        evaluated,
        panels=tuple(_with_policies(item, results) for item in evaluated.panels),
        means=replace(evaluated.means, policies=means),
    )


def _with_policies(
    item: EvaluatedPanel, results: Mapping[tuple[str, str], Mapping[str, PolicyResult]]
) -> EvaluatedPanel:
    other = results.get((item.result.agent, item.result.suite), {})
    return replace(item, result=replace(item.result, policies={**item.result.policies, **other}))
