"""Answer as a person reads it: the verdict, its reason, a drawing, the nearest tasks; everything else on request.

The drawing shows a gain, its interval and the threshold in one line on a scale from -1 to 1:

    -1 ──────────────0─│──├━━━●━━━━┤─ +1
    ● gain +0.520   ├━┤ 95% +0.250 to +0.860   │ threshold 0.1

Every mark is one character, so that a pipe shows what a terminal shows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console

from skilldelta.cli.output import console, percent, shorten, signed, table
from skilldelta.intervals import Interval
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from rich.console import Group

    from skilldelta.advisor import Answer
    from skilldelta.cli.screen import Screen
    from skilldelta.gate import Explanation, Gate, Neighbor


_VERDICTS = {"use": "Use the skill", "skip": "Skip the skill", "abstain": "Abstain: the evidence does not settle it"}


def show_advice(advice: Answer, gate: Gate, *, explain: bool) -> None:
    """Print it to stdout."""
    out = console()
    out.print(f"{_VERDICTS[advice.decision.action]} ({advice.certainty or 'no evidence'})", style="bold")
    out.print(_sentence(advice.decision.reason))
    _draw(out, advice)
    if advice.basis is not None and advice.estimator != "paper":
        out.print(advice.basis.sentence)
    for line in _cautions(advice, gate, explain=explain):
        out.print(line)
    if explain:
        for line in _explained(advice, gate):
            out.print(line)
    if advice.neighbors:
        out.print(_nearest(advice, explain=explain))


def _draw(out: Screen, advice: Answer) -> None:
    """Gain, interval and threshold on a scale; nothing where there is no evidence."""
    if advice.interval is None:
        return
    marks = marks_of(out)
    scale = GainScale(advice.decision.gain, advice.decision.threshold, advice.interval)
    out.print(scale.drawn(out.width, marks))
    out.print(scale.legend(out.width, marks))


def _cautions(advice: Answer, gate: Gate, *, explain: bool) -> list[str]:
    """What a reader of the verdict must know: a cost that counted, a family without pairs, an unfamiliar task, settings of one's own, a remedy."""
    lines = []
    is_unlike = _is_unlike(advice, gate)
    if gate.scope == "skill-family" and advice.family and advice.scope == "skill":
        lines.append(f"No pair of this skill is of family {advice.family}: pairs of its other families inform.")
    if weighed := _weighed_cost(advice, gate):
        lines.append(weighed)
    if advice.interval is not None and not is_unlike and (explain or advice.is_odd):
        lines.append(f"{advice.familiarity_sentence}.")
    if advice.interval is not None and (words := _settings_in_words(advice, gate)):
        lines.append(words)
    if explain or is_unlike or advice.interval is None or advice.decision.action == "abstain":
        lines.append(f"It would change with {advice.decision.would_change}.")
    return lines


def _weighed_cost(advice: Answer, gate: Gate) -> str:
    """The tokens against the gain, where that decided."""
    rule, explanation = gate.cost_rule, advice.explanation
    if (
        rule is None
        or gate.rule != "plain"
        or explanation is None
        or advice.interval is None
        or _is_unlike(advice, gate)
    ):
        return ""
    return rule.sentence(advice.decision.gain, explanation.cost, threshold=gate.threshold)


def _is_unlike(advice: Answer, gate: Gate) -> bool:
    """Whether the verdict rests on the familiarity limit and nothing else."""
    return advice.familiarity is not None and advice.familiarity < gate.familiarity_floor


def _explained(advice: Answer, gate: Gate) -> list[str]:
    """What the gain is made of, and everything that was chosen or measured on the way."""
    from skilldelta.gate.basis import chance_sentence

    if advice.interval is None:
        return []
    lines = [
        f"{advice.interval_sentence} (method {advice.interval.method}).",
        f"Evidence: scope {advice.scope}{_where(advice)}; effective support {advice.effective:.1f}; "
        f"mean distance {advice.radius:.2f}.",
    ]
    if advice.explanation is not None:
        cost = "" if _weighed_cost(advice, gate) else _cost(advice.explanation)
        chance, usual = advice.explanation.chance, advice.explanation.usual_chance
        words = "" if chance is None or usual is None else _sentence(chance_sentence(chance, usual))
        lines += [words, cost, _components(advice.explanation)]
    return [line for line in lines if line]


def _where(advice: Answer) -> str:
    """The family and the suite of the evidence, where there is one."""
    family = f" {advice.family}" if "family" in advice.scope else ""
    return f"{family} in {advice.suite}" if advice.suite else family


def _settings_in_words(advice: Answer, gate: Gate) -> str:
    """Settings other than the paper's main one, and what they decide; empty where there are none."""
    from skilldelta.predictor import PAPER

    settings = [] if advice.settings.k == PAPER.k else [f"k = {advice.settings.k}"]
    settings += [] if advice.settings.weighting == PAPER.weighting else [f"{advice.settings.weighting} weights"]
    settings += [] if gate.scope in ("skill-family", "family") else [f"scope {gate.scope}"]
    if not settings:
        return ""
    if advice.settings_choose == "gain":
        return f"The paper's rule with {', '.join(settings)}."
    return (
        f"{', '.join(settings).capitalize()}: for the pairs shown and bounded; the gain is the blend's, from all pairs."
    )


def _cost(explanation: Explanation) -> str:
    """What the skill is predicted to add; empty where that is unknown."""
    if explanation.cost is None:
        return ""
    dollars = "" if explanation.cost.dollars is None else f" (${abs(explanation.cost.dollars):.2g})"
    verb = "add" if explanation.cost.tokens >= 0 else "save"
    return f"It is predicted to {verb} {plural(abs(explanation.cost.tokens), 'token')}{dollars}."


def _components(explanation: Explanation) -> str:
    from skilldelta.estimators.blend.blend import SMALLEST_SHARE, component_words

    counted = [
        f"{component_words(name)} {signed(explanation.components[name])} ({percent(share, 0)})"
        for name, share in sorted(explanation.shares.items(), key=lambda part: -part[1])
        if share >= SMALLEST_SHARE
    ]
    return "Made of: " + ", ".join(counted) + "." if len(counted) > 1 else ""


def _nearest(advice: Answer, *, explain: bool) -> Group:
    columns = ["task", "text", "cosine", "gain", "without → with"]
    rows = [_row(neighbor) for neighbor in advice.neighbors]
    if explain:
        columns += ["weight", "runs"]
        further = [[f"{n.weight:.3f}", f"{n.r0}/{n.r1}"] for n in advice.neighbors]
        rows = [row + more for row, more in zip(rows, further, strict=True)]
    return table(f"Nearest tasks with paired executions{_neighbor_share(advice)}", columns, rows, left=2)


def _neighbor_share(advice: Answer) -> str:
    """What part of the answer the nearest tasks are; empty where they are all of it."""
    if advice.basis is None or advice.estimator == "paper":
        return ""
    share = advice.basis.neighbors
    return f", {percent(share, 0)} of the answer" if share >= 0.005 else ", for comparison: no part of the answer"


def _row(neighbor: Neighbor) -> list[str]:
    return [
        shorten(neighbor.task_id, 28),
        shorten(neighbor.text, 60),
        f"{neighbor.similarity:.3f}",
        signed(neighbor.gain, 2),
        f"{percent(neighbor.y0, 0)} → {percent(neighbor.y1, 0)}",
    ]


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."


_ENDS = ("-1 ", " +1")
_WIDEST, _NARROWEST = 80, 11


@dataclass(frozen=True, slots=True)
class Marks:
    """The characters of a drawing."""

    axis: str
    band: str
    low: str
    high: str
    gain: str
    threshold: str
    both: str
    """Where gain and threshold share a place."""
    left: str
    """A threshold below the scale."""
    right: str
    """A threshold above the scale."""


UNICODE = Marks(axis="─", band="━", low="├", high="┤", gain="●", threshold="│", both="◆", left="◀", right="▶")
ASCII = Marks(axis="-", band="=", low="[", high="]", gain="*", threshold="|", both="#", left="<", right=">")


def marks_for(encoding: str) -> Marks:
    """The fine marks where an encoding has all of them."""
    try:
        "".join(getattr(UNICODE, name) for name in UNICODE.__slots__).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def marks_of(console: Console) -> Marks:
    """The marks that a console can show; those of old Windows consoles lack glyphs that their encoding has."""
    return ASCII if console.legacy_windows else marks_for(console.encoding)


@dataclass(frozen=True, slots=True)
class GainScale:
    """What is drawn. What is not a number is not drawn."""

    gain: float
    threshold: float
    interval: Interval | None

    def drawn(self, width: int, marks: Marks) -> str:
        """The line, at most `width` characters; an odd number of places, so that 0 is the middle one."""
        places = max(min(width, _WIDEST) - sum(map(len, _ENDS)), _NARROWEST)
        places -= 1 - places % 2
        line = [marks.axis] * places
        if self.interval is not None and math.isfinite(self.interval.low + self.interval.high):
            first, last = _place(self.interval.low, places), _place(self.interval.high, places)
            line[first : last + 1] = marks.band * (last + 1 - first)
            line[first], line[last] = marks.low, marks.high
        line[places // 2] = "0"
        gain_mark, threshold_mark = self._marks(places, marks)
        for value, mark in ((self.threshold, threshold_mark), (self.gain, gain_mark)):
            if math.isfinite(value):
                line[_place(value, places)] = mark
        return "".join(line).join(_ENDS)

    def legend(self, width: int, marks: Marks) -> str:
        """The marks of `drawn` at the same width, with their numbers."""
        places = len(self.drawn(width, marks)) - sum(map(len, _ENDS))
        gain_mark, threshold_mark = self._marks(places, marks)
        parts = [f"{gain_mark} gain {signed(self.gain)}"]
        if self.interval is not None:
            ends = f"{signed(self.interval.low)} to {signed(self.interval.high)}"
            parts.append(f"{marks.low}{marks.band}{marks.high} {100 * self.interval.level:.4g}% {ends}")
        return "   ".join([*parts, f"{threshold_mark} threshold {self.threshold:.4g}"])

    def _marks(self, places: int, marks: Marks) -> tuple[str, str]:
        """The mark of the gain and that of the threshold."""
        if self.threshold < -1:
            return marks.gain, marks.left
        if self.threshold > 1:
            return marks.gain, marks.right
        is_known = math.isfinite(self.gain) and math.isfinite(self.threshold)
        if is_known and _place(self.gain, places) == _place(self.threshold, places):
            return marks.both, marks.both
        return marks.gain, marks.threshold


def _place(value: float, places: int) -> int:
    """Where a value stands; beyond the ends it stands at the end."""
    return math.floor((min(max(value, -1.0), 1.0) + 1) / 2 * (places - 1) + 0.5)
