"""What sealed predictions were worth: the outcomes collected since, joined to a panel that nobody has changed.

`audit` refuses, with the reasons, if the sealed file, the support or the settings changed (`tampering`).

`reexecution` asks whether the sealed decisions keep their value when the same tasks are run once more. This is about the
stability of executions on reused tasks, not about new tasks: actions stay as they were sealed, both arms have new
outcomes, and the two batches are compared task by task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from skilldelta.arrays import Floats, Ints
from skilldelta.errors import InputError
from skilldelta.evaluation.amendments import CorrectedRecord, Exclusion, without_excluded
from skilldelta.evaluation.comparison import Comparison, few_tasks, judge
from skilldelta.evaluation.metrics import auroc
from skilldelta.evaluation.panel_policy import Outcomes, PanelPolicy, Totals
from skilldelta.evaluation.prospective.frozen_rule import PAPER_RULE, FrozenRule, why_not_repeated
from skilldelta.evaluation.prospective.seal import SealedPanel, pair_keys
from skilldelta.evaluation.prospective.tampering import SealBrokenError, changes_since, names_of
from skilldelta.evaluation.resampling.bootstrap import (
    Design,
    Inventory,
    count_draws,
    percentile_range,
    resample_policies,
)
from skilldelta.evaluation.results import MARGIN, UNKNOWN, Range, unless_nan
from skilldelta.nouns import plural
from skilldelta.support import Support


@dataclass(frozen=True, slots=True)
class AuditResult:
    """What sealed predictions were worth. Rates are fractions, what is unknown is None."""

    seal: str
    known: int
    """Pairs of the support."""
    targets: int
    evaluated: int
    missing: tuple[str, ...]
    """Targets without outcomes under both conditions; they are left out."""
    off: float
    on: float
    success: float
    success_gain: float
    """Over always-off."""
    use_rate: float
    auroc: float | None
    balanced_accuracy: float | None
    gain_mae: float
    tokens: float | None
    token_saving: float | None
    """Share of always-on's tokens."""
    advantage_vs_random: float
    estimator: str = PAPER_RULE
    """Whose predictions were sealed."""
    intervals: Mapping[str, Range] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    success_vs_always_on: float = 0.0
    verdict: Comparison | None = None
    """Against always using the skill; None without an interval, and for a single task."""
    excluded: tuple[Exclusion, ...] = ()
    """Tasks that were sealed as left out, with their reasons."""
    corrected: tuple[CorrectedRecord, ...] = ()
    """Records that were corrected after they were made."""


@dataclass(frozen=True, slots=True)
class Reexecution:
    """Sealed actions on two batches of outcomes of the same tasks. Rates are fractions."""

    tasks: int
    """Sealed targets with outcomes of both arms in both batches."""
    missing: tuple[str, ...]
    """Targets of the first batch that were not run again under both conditions."""
    first: float
    """Success of the sealed actions on the first outcomes."""
    again: float
    difference: float
    first_vs_always_on: float
    again_vs_always_on: float
    same: float
    """Share of tasks whose chosen arm has the same success in both batches."""
    same_off: float
    same_on: float
    intervals: Mapping[str, Range]
    """95% over tasks, for `again`, `difference` and `again_vs_always_on`."""


def split_outcomes(sealed: SealedPanel, current: Support) -> tuple[Support, Support]:
    """The rows of a panel as it is now: evidence, and outcomes of the sealed targets; sealed exclusions are in neither."""
    current = without_excluded(current, sealed.settings.excluded)
    keys = {(target.task_id, target.skill) for target in sealed.targets}
    is_outcome = np.array([pair in keys for pair in pair_keys(current)], dtype=bool)
    return current.rows(~is_outcome), current.rows(is_outcome)


def audit(
    sealed: SealedPanel,
    support: Support,
    outcomes: Support,
    *,
    rule: FrozenRule | None = None,
    published_seal: str | None = None,
    resamples: int = 0,
    rng: np.random.Generator | None = None,
    margin: float = MARGIN,
    corrected: Sequence[CorrectedRecord] = (),
) -> AuditResult:
    """Evaluate sealed predictions on outcomes, or raise `SealBrokenError` with every change found.

    `support` is the evidence as it is now, without the targets (`split_outcomes`). `rule` is what the caller believes
    was frozen, `published_seal` a seal noted elsewhere; each is compared where it is given. `corrected` are records
    that were corrected since: those of targets are in the outcomes, those of the support leave it as it was sealed.
    """
    changes = changes_since(sealed, support, outcomes, rule=rule, published_seal=published_seal)
    if changes:
        raise SealBrokenError(changes)
    if not len(outcomes):
        raise InputError(
            f"none of the {plural(len(sealed.targets), 'target')} has outcomes yet; collect them, then audit"
        )
    predictions = {(item.task_id, item.skill): item for item in sealed.predictions}
    joined = pair_keys(outcomes)
    scores = np.array([predictions[key].gain for key in joined])
    actions = np.array([predictions[key].action == "use" for key in joined])
    policy = PanelPolicy("sealed", actions, np.arange(len(joined)), scores=scores, is_gain=True)
    recorded = Outcomes.of(outcomes, policy.rows)
    totals = Totals.of(policy, recorded)
    intervals = _intervals(policy, recorded, outcomes, resamples, rng)
    present = set(joined)
    missing = tuple(target.task_id for target in sealed.targets if (target.task_id, target.skill) not in present)
    return AuditResult(
        seal=sealed.seal,
        known=len(sealed.support),
        targets=len(sealed.targets),
        evaluated=len(joined),
        missing=missing,
        off=float(outcomes.y0.mean()),
        on=float(outcomes.y1.mean()),
        success=float(totals.success[0]),
        success_gain=float(totals.success_gain[0]),
        use_rate=float(totals.use_rate[0]),
        auroc=auroc(scores, recorded.positive),
        balanced_accuracy=unless_nan(totals.balanced_accuracy[0]),
        gain_mae=float(totals.gain_mae[0]),
        tokens=unless_nan(totals.mean_tokens[0]),
        token_saving=unless_nan(totals.token_saving[0]),
        advantage_vs_random=float(totals.advantage_vs_random[0]),
        estimator=sealed.settings.present_estimator,
        intervals=intervals,
        success_vs_always_on=float(totals.success_vs_always_on[0]),
        verdict=judge(
            sealed.settings.present_estimator,
            "always_on",
            difference=float(totals.success_vs_always_on[0]),
            interval=intervals.get("success_vs_always_on", UNKNOWN),
            tasks=len(np.unique(outcomes.task_ids)),
            margin=margin,
            is_same=bool(actions.all()),
            token_saving=unless_nan(totals.token_saving[0]),
        ),
        excluded=sealed.settings.excluded,
        corrected=tuple(corrected),
        notes=(*_notes(sealed, missing, recorded), *(few_tasks(outcomes.task_ids) if resamples else ())),
    )


def _intervals(
    policy: PanelPolicy, recorded: Outcomes, outcomes: Support, resamples: int, rng: np.random.Generator | None
) -> dict[str, Range]:
    """Task resamples with predictions and actions fixed."""
    if not resamples:
        return {}
    if rng is None:
        raise InputError("intervals need a random generator; give rng, or resamples=0")
    design = Design.tasks(outcomes.task_ids, Inventory.of([outcomes]))
    samples = resample_policies([policy], recorded, design, draws=resamples, rng=rng)[policy.name]
    return {name: percentile_range(values) for name, values in samples.items()}


def _notes(sealed: SealedPanel, missing: Sequence[str], recorded: Outcomes) -> tuple[str, ...]:
    notes = [reason] if (reason := why_not_repeated(sealed.settings)) else []
    if missing:
        notes.append(f"left out, without outcomes under both conditions: {names_of('target', missing)}")
    if recorded.positive.all() or not recorded.positive.any():
        kind = "positive" if recorded.positive.any() else "not positive"
        notes.append(f"every observed gain is {kind}, so that AUROC and balanced accuracy are undefined")
    if not recorded.has_tokens.any():
        notes.append("no target has tokens under both conditions, so that savings are unknown")
    return tuple(notes)


def reexecution(
    sealed: SealedPanel, first: Support, again: Support, *, resamples: int, rng: np.random.Generator
) -> Reexecution:
    """Compare the outcomes of sealed targets (`split_outcomes`) with those of their re-execution."""
    uses = {(item.task_id, item.skill): item.action == "use" for item in sealed.predictions}
    places = {key: row for row, key in enumerate(pair_keys(again)) if key in uses}
    keys = pair_keys(first)
    rows = np.array([row for row, key in enumerate(keys) if key in places], np.int64)
    if not len(rows):
        raise InputError("none of the sealed targets was executed again under both conditions; collect them first")
    then, now = first.rows(rows), again.rows([places[keys[row]] for row in rows])
    used = np.array([uses[keys[row]] for row in rows])
    chosen = [np.where(used, batch.y1, batch.y0) for batch in (then, now)]
    columns = {
        "again": chosen[1],
        "difference": chosen[1] - chosen[0],
        "again_vs_always_on": chosen[1] - now.y1,
    }
    return Reexecution(
        tasks=len(np.unique(then.task_ids)),
        missing=tuple(key[0] for key in keys if key not in places),
        first=float(chosen[0].mean()),
        again=float(chosen[1].mean()),
        difference=float(columns["difference"].mean()),
        first_vs_always_on=float((chosen[0] - then.y1).mean()),
        again_vs_always_on=float(columns["again_vs_always_on"].mean()),
        same=float((chosen[0] == chosen[1]).mean()),
        same_off=float((then.y0 == now.y0).mean()),
        same_on=float((then.y1 == now.y1).mean()),
        intervals=_resampled_means(columns, then.task_codes, resamples, rng),
    )


def _resampled_means(
    columns: Mapping[str, Floats], tasks: Ints, resamples: int, rng: np.random.Generator
) -> dict[str, Range]:
    if not resamples:
        return {}
    table = np.column_stack(list(columns.values()))
    design = Design(int(tasks.max()) + 1, tasks)
    drawn = count_draws(design, resamples, rng)
    means = np.vstack([counts.astype(np.float64) @ table / counts.sum(axis=1)[:, None] for counts in drawn])
    return {name: percentile_range(means[:, place]) for place, name in enumerate(columns)}
