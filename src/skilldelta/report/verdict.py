"""The summary on top: should I use the gate here, how sure are we, and against what.

The gate is compared with the better of its two simplest rivals, always using the skill and never using it. Everything is
read from intervals that the evaluation made; nothing is resampled here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from skilldelta.evaluation.results import PanelResult, PolicyResult, Range
from skilldelta.nouns import plural
from skilldelta.report.numbers import percent, points, size, spread
from skilldelta.report.palette import policy_words

Tone = Literal["yes", "trade", "no", "open"]

WORTHWHILE_SAVING = 0.05
"""Saved tokens below this share do not decide a verdict."""
WORTHWHILE_GAIN = 0.02
"""Success above never using the skill, below which a gain that may be chance does not speak for the gate."""
SMALL_PANEL = 50
"""Pairs below which the summary says that the panel is small."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer in one line, and the three things a reader asks next."""

    tone: Tone
    headline: str
    answer: str
    certainty: str
    comparison: str


@dataclass(frozen=True, slots=True)
class _Rival:
    """The better constant policy and how the gate stands against it."""

    words: str
    is_on: bool
    difference: float
    interval: Range | None

    @property
    def is_beaten(self) -> bool:
        return self.interval is not None and self.interval.low is not None and self.interval.low > 0

    @property
    def is_better(self) -> bool:
        return self.interval is not None and self.interval.high is not None and self.interval.high < 0


def default_gate(panel: PanelResult) -> str:
    """The policy that the summary is about: the product's own estimator where it was evaluated, else the paper's rule."""
    return "stack" if "stack" in panel.policies else "skilldelta"


def verdict(panel: PanelResult, gate: str) -> Verdict:
    """Should this gate be used on this panel's kind of task?"""
    own = panel.policies.get(gate)
    if own is None:
        known = ", ".join(panel.policies)
        return Verdict("open", f"{policy_words(gate)} was not evaluated here", f"Evaluated were: {known}.", "", "")
    rival = _rival(panel, own)
    tone, headline = _decision(own, rival)
    return Verdict(tone, headline, _answer(panel, own), _certainty(panel, own, rival), _comparison(panel, own))


def _rival(panel: PanelResult, own: PolicyResult) -> _Rival:
    if panel.on > panel.off:
        return _Rival("always using the skill", True, own.success - panel.on, own.intervals.get("success_vs_always_on"))
    return _Rival("never using the skill", False, own.success - panel.off, own.intervals.get("success_gain"))


def _decision(own: PolicyResult, rival: _Rival) -> tuple[Tone, str]:
    saving = own.token_saving or 0.0
    saves = rival.is_on and saving >= WORTHWHILE_SAVING
    if rival.is_beaten:
        return "yes", f"Yes. The gate does better than {rival.words}" + (
            f" and saves {percent(saving, 0)} of tokens." if saves else "."
        )
    if rival.is_better:
        if saves:
            return (
                "trade",
                f"Only if tokens matter. The gate saves {percent(saving, 0)} of them and costs {size(rival.difference)} of success.",
            )
        return "no", f"No. {rival.words.capitalize()} does better."
    if own.use_rate in (0.0, 1.0):
        return "open", f"It makes no difference. The gate decides the same on every task: {rival.words} is simpler."
    if saves and own.success_gain < WORTHWHILE_GAIN and not _excludes_zero(own.intervals.get("success_gain")):
        return (
            "open",
            "Not clear yet. No reliable difference from always or never using the skill; never is the cheapest.",
        )
    if saves:
        same = (
            "about the same success as"
            if rival.interval is not None
            else f"{size(rival.difference)} {_side(rival.difference)}"
        )
        return "yes", f"Yes, to save tokens. {same.capitalize()} {rival.words}, with {percent(saving, 0)} fewer tokens."
    if rival.interval is None or rival.interval.low is None:
        return (
            "open",
            f"Undecided. {size(rival.difference).capitalize()} {_side(rival.difference)} {rival.words}, without an interval.",
        )
    return "open", f"Not clear yet. No reliable difference from {rival.words}."


def _answer(panel: PanelResult, own: PolicyResult) -> str:
    """What the gate did and reached, against always-on, in one sentence."""
    difference = own.success - panel.on
    where = "exactly as often as" if abs(difference) < 5e-4 else f"{size(difference)} {_side(difference)}"
    tokens = ""
    if own.token_saving is not None:
        verb, joint = ("saving", own.token_saving) if own.token_saving >= 0 else ("spending", -own.token_saving)
        tokens = f", {verb} {percent(joint, 0)} {'of' if own.token_saving >= 0 else 'more'} tokens"
    return (
        f"{policy_words(own.name)} used the skill on {percent(own.use_rate, 0)} of tasks and reached {percent(own.success)}, "
        f"{where} always using it ({percent(panel.on)}){tokens}. Never using it reached {percent(panel.off)}."
    )


def _certainty(panel: PanelResult, own: PolicyResult, rival: _Rival) -> str:
    scored = f"Every task was scored from other tasks only, {plural(len(own.rows), 'pair')} in all."
    if not spread(rival.interval):
        return f"{scored} Intervals were not computed, so chance is not ruled out."
    if rival.interval is not None and rival.interval.low == rival.interval.high == 0:
        return f"{scored} Where its decisions differ from {rival.words}, both outcomes were the same."
    text = (
        f"{scored} The difference to {rival.words} is {points(rival.difference)} points, with a 95% interval of "
        f"{spread(rival.interval, as_points=True)}."
    )
    by_family = own.intervals.get("success_vs_always_on_by_family" if rival.is_on else "success_gain_by_family")
    if spread(by_family):
        text += (
            f" For tasks of new families, rather than new tasks of these, it is {spread(by_family, as_points=True)}."
        )
    if panel.pairs < SMALL_PANEL:
        text += " That is a small panel; more pairs would narrow it."
    return text


def _comparison(panel: PanelResult, own: PolicyResult) -> str:
    parts = []
    if not 0.0 < own.use_rate < 1.0:
        parts.append("A gate that always decides the same cannot be told from a constant rule.")
    else:
        interval = spread(own.intervals.get("advantage_vs_random"), as_points=True)
        certainty = f" (95% interval {interval})" if interval else ""
        parts.append(
            f"It is {size(own.advantage_vs_random)} {_side(own.advantage_vs_random)} random use at the same rate{certainty}."
        )
    best = _best_control(panel, own)
    if best is not None:
        difference = own.success - best.success
        relation = (
            "the same" if abs(difference) < 5e-4 else f"{size(difference)} {'less' if difference > 0 else 'more'}"
        )
        parts.append(
            f"The strongest other rule, {policy_words(best.name)}, reached {percent(best.success)}: {relation}."
        )
    parts.append(f"Knowing every outcome beforehand would reach {percent(panel.oracle)}.")
    return " ".join(parts)


def _best_control(panel: PanelResult, own: PolicyResult) -> PolicyResult | None:
    """The best other policy on the same rows; constants and random are compared elsewhere."""
    plain = {"always_off", "always_on", "random_matched", own.name}
    others = [p for p in panel.policies.values() if p.name not in plain and len(p.rows) == len(own.rows)]
    return max(others, key=lambda policy: policy.success, default=None)


def _excludes_zero(found: Range | None) -> bool:
    return found is not None and found.low is not None and found.high is not None and (found.low > 0 or found.high < 0)


def _side(difference: float) -> str:
    return "above" if difference >= 0 else "below"
