"""The summary on top: should I use the gate here, how sure are we, and against what.

The gate is compared with the better of its two simplest rivals, always using the skill and never using it. What an
interval allows is `comparison`'s to say; here it becomes words, the same for the page, `evaluate` and `audit`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from skilldelta.estimators.registry import policy_words
from skilldelta.evaluation.comparison import Comparison, compare, compare_with_better_constant, held_out_value
from skilldelta.evaluation.results import UNKNOWN, PanelResult, PolicyResult
from skilldelta.nouns import plural
from skilldelta.report.numbers import certainty, count, distance, percent, points, size, spread

Tone = Literal["yes", "trade", "no", "open"]

# Saved tokens below this share do not decide a verdict.
WORTHWHILE_SAVING = 0.05
# Pairs below which the summary says that the panel is small.
SMALL_PANEL = 50

_RIVALS = {
    "always_on": "always using the skill",
    "always_off": "never using the skill",
    "better_constant": "always or never using the skill, whichever the other tasks favor",
}


@dataclass(frozen=True, slots=True)
class Summary:
    """The answer in one line, and the three things a reader asks next."""

    tone: Tone
    headline: str
    answer: str
    certainty: str
    comparison: str


@dataclass(frozen=True, slots=True)
class Headline:
    """A verdict in one line."""

    tone: Tone
    text: str


def summary(panel: PanelResult, gate: str) -> Summary:
    """Should this gate be used on this panel's kind of task?"""
    own = panel.policies.get(gate)
    if own is None:
        names = ", ".join(panel.policies)
        return Summary("open", f"{policy_words(gate)} was not evaluated here", f"Evaluated were: {names}.", "", "")
    comparison = compare_with_better_constant(panel, own)
    line = gate_headline(panel, own)
    return Summary(
        line.tone, line.text, _answer(panel, own), _certainty(panel, own, comparison), _comparison(panel, own)
    )


def gate_headline(panel: PanelResult, own: PolicyResult) -> Headline:
    """The verdict on a policy against the better constant one, on the policy's own rows."""
    comparison = compare_with_better_constant(panel, own)
    if comparison is None:
        return no_verdict(len(own.rows))
    line = headline(comparison)
    if comparison.verdict in ("better", "worse") or comparison.is_same or comparison.against == "always_off":
        return line
    # Keeping up with always-on is no reason for a gate that never using the skill keeps up with as well.
    never = compare(panel, own, "always_off")
    if never is None or never.verdict == "better":
        return line
    return Headline("open", f"{line.text} It is not shown to beat never using the skill, which is cheapest.")


def headline(comparison: Comparison) -> Headline:
    """A comparison in one line: the verdict first, then the difference, its interval and the tokens."""
    rival = _RIVALS[comparison.against]
    if comparison.is_same:
        return Headline("open", f"It makes no difference. The gate decides the same on every task: {rival} is simpler.")
    numbers = f"{points(comparison.difference)} points (95%: {spread(comparison.interval, as_points=True)})"
    saves = comparison.against != "always_off" and (comparison.token_saving or 0.0) >= WORTHWHILE_SAVING
    saving = f"saves {percent(comparison.token_saving, 0)} of tokens"
    if comparison.verdict == "better":
        return Headline("yes", f"Better than {rival}{f', and {saving}' if saves else ''}: {numbers}.")
    if comparison.verdict == "worse":
        if saves:
            return Headline("trade", f"Worse than {rival}, but {saving}: {numbers}.")
        return Headline("no", f"Worse than {rival}: {numbers}.")
    if comparison.verdict == "equivalent":
        within = f"{numbers}, within the margin of {size(comparison.margin)}"
        if saves:
            return Headline("yes", f"Equivalent to {rival}, and {saving}: {within}.")
        return Headline("open", f"Equivalent to {rival}, which is simpler: {within}.")
    also = f" It {saving}." if saves else ""
    more = settling(comparison.more_tasks)
    verdict = "Too small to tell from" if comparison.verdict == "too small to tell" else "Not enough evidence against"
    return Headline("open", f"{verdict} {rival}: {numbers}. {more[:1].upper()}{more[1:]}.{also}")


def no_verdict(pairs: int) -> Headline:
    """What stands where no interval allows a verdict."""
    if pairs < 2:
        return Headline("open", "No verdict: one pair says nothing about the next. Collect more tasks.")
    return Headline("open", "No verdict: intervals were not computed.")


def settling(more: int | None) -> str:
    """What it takes to settle a verdict, as a clause: a number of tasks, or that nobody will run so many."""
    if more is None:
        return "settling it takes more tasks than you will run, if the difference stays"
    return f"about {about_tasks(more)} would settle it with a chance of 80%, if the difference stays"


def about_tasks(more: int) -> str:
    """`120 more tasks`, rounded up: two digits are all that an estimate deserves."""
    step = int(10 ** max(0, len(str(more)) - 2))
    about = -(-more // step) * step
    return "1 more task" if about == 1 else f"{count(about)} more tasks"


def _answer(panel: PanelResult, own: PolicyResult) -> str:
    """What the gate did and reached, against always-on, in one sentence."""
    on, off = (float(arm[own.rows].mean()) for arm in (panel.support.y1, panel.support.y0))
    value = held_out_value(panel, own.name) or own
    difference = value.success - on
    where = "exactly as often as" if abs(difference) < 5e-4 else distance(difference)
    tokens = ""
    if own.token_saving is not None:
        verb, joint = ("saving", own.token_saving) if own.token_saving >= 0 else ("spending", -own.token_saving)
        tokens = f", {verb} {percent(joint, 0)} {'of' if own.token_saving >= 0 else 'more'} tokens"
    return (
        f"{policy_words(own.name)} used the skill on {percent(value.use_rate, 0)} of tasks and reached {percent(value.success)}, "
        f"{where} always using it ({percent(on)}){tokens}. Never using it reached {percent(off)}."
    )


def _certainty(panel: PanelResult, own: PolicyResult, comparison: Comparison | None) -> str:
    scored = f"Every task was scored from other tasks only, {plural(len(own.rows), 'pair')} in all."
    folds = panel.repeated_folds
    if folds is not None and own.name in folds.policies:
        scored = (
            f"Every fifth of the {plural(panel.tasks, 'task')} was decided from the other four fifths, under {folds.repeats} "
            "random divisions."
        )
    if comparison is None:
        return f"{scored} Intervals were not computed, so chance is not ruled out."
    rival = _RIVALS[comparison.against]
    if (
        comparison.difference == 0
        and not comparison.is_same
        and own.intervals.get(_metric(comparison), UNKNOWN).low == 0
    ):
        scored += f" Where its decisions differ from {rival}, both outcomes were the same."
    text = (
        f"{scored} The difference to {rival} is {points(comparison.difference)} points, with a 95% interval of "
        f"{spread(comparison.interval, as_points=True)}."
    )
    by_family = own.intervals.get(f"{_metric(comparison)}_by_family")
    if spread(by_family):
        text += (
            f" For tasks of new families, rather than new tasks of these, it is {spread(by_family, as_points=True)}."
        )
    if panel.pairs < SMALL_PANEL:
        text += " That is a small panel; more pairs would narrow it."
    return text


def _metric(comparison: Comparison) -> str:
    return "success_gain" if comparison.against == "always_off" else "success_vs_always_on"


def _comparison(panel: PanelResult, own: PolicyResult) -> str:
    parts = []
    if not 0.0 < own.use_rate < 1.0:
        parts.append("A gate that always decides the same cannot be told from a constant rule.")
    else:
        interval = certainty(own.intervals.get("advantage_vs_random"), as_points=True)
        parts.append(f"It is {distance(own.advantage_vs_random)} random use at the same rate{interval}.")
    best = _best_control(panel, own)
    if best is not None:
        difference = own.success - best.success
        relation = (
            "the same" if abs(difference) < 5e-4 else f"{size(difference)} {'less' if difference > 0 else 'more'}"
        )
        parts.append(
            f"The strongest other rule, {policy_words(best.name)}, reached {percent(best.success)}: {relation}."
        )
    if panel.oracle_corrected is None:
        parts.append(f"Knowing every outcome beforehand would reach {percent(panel.oracle)}.")
    else:
        parts.append(
            f"Knowing the better condition of every task would reach about {percent(panel.oracle_corrected)}; the "
            f"{percent(panel.oracle)} that the better recorded outcomes add up to contain run-to-run noise."
        )
    return " ".join(parts)


def _best_control(panel: PanelResult, own: PolicyResult) -> PolicyResult | None:
    """The best other policy on the same rows; constants and random are compared elsewhere."""
    plain = {"always_off", "always_on", "random_matched", own.name}
    others = [p for p in panel.policies.values() if p.name not in plain and len(p.rows) == len(own.rows)]
    return max(others, key=lambda policy: policy.success, default=None)
