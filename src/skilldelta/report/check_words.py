"""The outcome of a check in words."""

from __future__ import annotations

from skilldelta.evaluation.gain_checks import CheckOutcome, GainCheck
from skilldelta.nouns import plural
from skilldelta.report.numbers import percent, points
from skilldelta.report.verdict import settling

OUTCOME_WORDS: dict[CheckOutcome, str] = {
    "pass": "Every skill holds",
    "fail": "A skill does not hold",
    "not enough evidence": "Not enough evidence",
}


def check_sentence(check: GainCheck) -> str:
    """`gain +12.0 points, at least +5.1 at 95% over 60 tasks: above +0.0`."""
    about = "gain" if check.rule == "gain" else "gain against the baseline"
    over = f"over {plural(check.mean.tasks, 'task')}"
    if not check.mean.tasks:
        return f"{about}: no task in common"
    value = f"{about} {points(check.mean.mean)} points"
    low, high, sure = check.mean.interval.low, check.mean.interval.high, percent(check.confidence, 0)
    if check.cannot_decide:
        return (
            f"{value} {over}: so few can neither pass nor fail at {sure}, whatever they show; it takes at least "
            f"{check.least_tasks}{_more(check)}"
        )
    if low is None or high is None:
        return f"{value} {over}: not enough evidence{_more(check)}"
    if check.outcome == "pass":
        return f"{value}, at least {points(low)} at {sure} {over}: above {points(check.bound)}"
    if check.outcome == "fail":
        bound = "below the bound of " + points(check.bound) if check.rule == "gain" else "worse than it was"
        return f"{value}, at most {points(high)} at {sure} {over}: {bound}"
    return f"{value}, between {points(low)} and {points(high)} at {sure} each {over}: not enough evidence{_more(check)}"


def _more(check: GainCheck) -> str:
    return f", {settling(check.more_tasks)}"
