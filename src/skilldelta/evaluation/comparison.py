"""A policy against always or never using the skill: the difference, its interval, and the verdict that it allows.

The verdict is read off the interval alone. `equivalent` means that the whole interval lies within a margin around zero;
`better` and `worse` that it excludes zero and reaches beyond the margin; anything else is `not enough evidence`, in a panel
of fewer than 400 tasks `too small to tell`, with how many more tasks would probably settle it. Words are the report's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from skilldelta.arrays import Strings
from skilldelta.errors import InputError
from skilldelta.evaluation.results import MARGIN, UNKNOWN, HeldOutValue, PanelResult, PolicyResult, Range
from skilldelta.nouns import plural

Verdict = Literal["better", "equivalent", "worse", "not enough evidence", "too small to tell"]
# `better_constant` is always or never using the skill, whichever was better on the training folds, where folds disagree.
Constant = Literal["always_on", "always_off", "better_constant"]

_METRICS: dict[Constant, str] = {"always_on": "success_vs_always_on", "always_off": "success_gain"}
# Below this a percentile bootstrap is far too narrow, and of zero width where the few outcomes agree.
ENOUGH = 10
_SOME = 3
# With fewer tasks an AUROC is little more than a draw: 0.00 and 1.00 are common, and it is not shown to people.
FEWEST_FOR_AUROC = 30
# The chance with which a stated number of tasks shows a difference that is there.
POWER = 0.8
# More tasks than this are more than anybody will run to settle one verdict.
MOST_TASKS = 2_000
# Half the length of a 95% interval, in standard errors.
_REACH = NormalDist().inv_cdf(0.975)
# The rule of three: what did not happen in n tasks has, at 95%, a rate below 3 / n.
_UNSEEN = 3.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a policy stands against a constant one on the same rows."""

    policy: str
    against: Constant
    difference: float
    interval: Range
    """95%, of the difference."""
    margin: float
    tasks: int
    verdict: Verdict
    more_tasks: int | None = None
    """More tasks that settle it in 80 of 100 cases, if the difference stays; None where it is settled, or nobody runs so many."""
    token_saving: float | None = None
    """Share of always-on's tokens."""
    is_same: bool = False
    """Whether the policy acts as the constant one on every row."""


def default_gate(panel: PanelResult) -> str:
    """The policy that a verdict is about: the gate, where it was evaluated; else SkillDelta's, else the paper's rule."""
    return next((name for name in (panel.gate, "blend") if name in panel.policies), "paper")


def compare(panel: PanelResult, policy: PolicyResult, against: Constant) -> Comparison | None:
    """The comparison on the policy's own rows, by the panel's margin; None without an interval, and for a single task."""
    arm = panel.support.y1 if against == "always_on" else panel.support.y0
    constant = 1.0 if against == "always_on" else 0.0
    return judge(
        policy.name,
        against,
        difference=policy.success - float(arm[policy.rows].mean()),
        interval=policy.intervals.get(_METRICS[against], UNKNOWN),
        tasks=len(np.unique(panel.support.task_ids[policy.rows])),
        margin=panel.margin,
        is_same=bool((np.asarray(policy.actions, np.float64)[policy.rows] == constant).all()),
        token_saving=policy.token_saving,
    )


def gate_comparison(panel: PanelResult) -> Comparison | None:
    """The panel's verdict: its gate against the better constant policy."""
    own = panel.policies.get(default_gate(panel))
    return None if own is None else compare_with_better_constant(panel, own)


def compare_with_better_constant(panel: PanelResult, policy: PolicyResult) -> Comparison | None:
    """The comparison on which a verdict rests: repeated folds in a small panel, leave-one-task-out in a large one.

    In a small panel the constant is chosen on the training folds, and a difference below twice its spread is too small to
    tell.
    """
    folds, value = panel.repeated_folds, held_out_value(panel, policy.name)
    if folds is None or value is None:
        return compare(panel, policy, better_constant(panel, policy))
    unanimous: dict[float, Constant] = {0.0: "always_off", 1.0: "always_on"}
    return judge(
        policy.name,
        unanimous.get(folds.always_on, "better_constant"),
        difference=value.difference,
        interval=Range(value.difference - 2 * value.spread, value.difference + 2 * value.spread),
        tasks=panel.tasks,
        margin=panel.margin,
        is_same=value.is_same,
        token_saving=policy.token_saving,
        undecided="too small to tell",
    )


def held_out_value(panel: PanelResult, policy: str) -> HeldOutValue | None:
    """A policy's value under repeated folds; None in a large panel, and for policies without."""
    return None if panel.repeated_folds is None else panel.repeated_folds.policies.get(policy)


def better_constant(panel: PanelResult, policy: PolicyResult) -> Constant:
    """The harder of the two constant policies to beat, on the policy's own rows; never, where they are level."""
    on, off = (float(arm[policy.rows].mean()) for arm in (panel.support.y1, panel.support.y0))
    return "always_on" if on > off else "always_off"


def judge(
    policy: str,
    against: Constant,
    *,
    difference: float,
    interval: Range,
    tasks: int,
    margin: float = MARGIN,
    is_same: bool = False,
    token_saving: float | None = None,
    undecided: Verdict = "not enough evidence",
) -> Comparison | None:
    """The verdict that an interval over so many tasks allows; None for a single task or an interval without ends.

    `is_same` says that the policy acts as the constant one everywhere, so that there is no difference to be unsure of.
    `undecided` is the verdict where the interval allows none.
    """
    check_margin(margin)
    if tasks < 2 or interval.low is None or interval.high is None:
        return None
    low, high = interval.low, interval.high
    if low >= high and not is_same:  # from outcomes that never differed, which says only that differences are rare
        rare = min(1.0, _UNSEEN / tasks)
        low, high = max(-1.0, low - rare), min(1.0, high + rare)
    seen, least = Range(low, high), 0 if is_same else ENOUGH
    verdict = verdict_of(seen, tasks, margin, least=least)
    is_open = verdict == "not enough evidence"
    more = more_tasks(difference, (high - low) / 2, tasks, margin, least=least) if is_open else None
    verdict = undecided if is_open else verdict
    return Comparison(policy, against, difference, seen, margin, tasks, verdict, more, token_saving, is_same)


def check_margin(margin: float) -> None:
    """Refuse a margin that no difference of success can be compared with."""
    if not 0 <= margin < 1:
        raise InputError(f"margin must be at least 0 and below 1 (0.02 is 2 points), got {margin}", setting="margin")


def verdict_of(interval: Range, tasks: int, margin: float, *, least: int = ENOUGH) -> Verdict:
    """What an interval of a difference allows; over fewer than `least` tasks it is not to be believed."""
    low, high = interval.low, interval.high
    if tasks < least or low is None or high is None:
        return "not enough evidence"
    if -margin <= low and high <= margin:
        return "equivalent"
    if low > 0:
        return "better"
    return "worse" if high < 0 else "not enough evidence"


def more_tasks(difference: float, half: float | None, tasks: int, margin: float, *, least: int = ENOUGH) -> int | None:
    """How many more tasks settle a verdict in 80 of 100 cases, if the true difference is the one observed.

    Settled means that the 95% interval excludes zero or lies within the margin. Its half-width shrinks with the square root
    of the number of tasks, and its center moves: half of all intervals that are just narrow enough still miss. None where
    nobody will run so many, or no number would do.

    >>> more_tasks(0.1, 0.15, 50, 0.02), more_tasks(0.01, 0.15, 50, 0.02)
    (180, None)
    """
    if half is None:
        return max(0, least - tasks) or None
    size = abs(difference)
    # In standard errors: the interval's reach, and how far its center may move towards what it must not touch. An
    # interval within the margin must not touch either end.
    needed = [
        tasks * (half / room * (_REACH + NormalDist().inv_cdf(chance)) / _REACH) ** 2
        for room, chance in ((size, POWER), (margin - size, (1 + POWER) / 2))
        if room > 0
    ]
    if not needed or min(needed) - tasks > MOST_TASKS:
        return None
    return max(1, math.ceil(min(needed)) - tasks, least - tasks)


def few_tasks(task_ids: Strings) -> tuple[str, ...]:
    """The warning that belongs beside intervals over these rows; none where there are enough tasks."""
    tasks = len(np.unique(task_ids))
    if tasks >= ENOUGH:
        return ()
    verdict = "say nothing" if tasks < _SOME else "are too narrow to be trusted"
    return (f"only {plural(tasks, 'task')}: intervals {verdict}",)
