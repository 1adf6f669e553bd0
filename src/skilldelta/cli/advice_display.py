"""Advice as a person reads it: the verdict, its reason, a drawing, the nearest tasks; everything else on request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skilldelta.cli.output import console, percent, shorten, signed, table
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from rich.console import Group

    from skilldelta.advisor import Advice, Policy
    from skilldelta.advisor.advice import Explanation, Neighbor
    from skilldelta.cli.screen import Screen

_VERDICTS = {"use": "Use the skill", "skip": "Skip the skill", "abstain": "Abstain: the evidence does not settle it"}


def show_advice(advice: Advice, policy: Policy, *, explain: bool) -> None:
    """Print it to stdout."""
    out = console()
    out.print(_VERDICTS[advice.decision.action], style="bold")
    out.print(_sentence(advice.decision.reason))
    _draw(out, advice)
    for line in _cautions(advice, policy, explain=explain):
        out.print(line)
    if explain:
        for line in _explained(advice, policy):
            out.print(line)
    if advice.neighbors:
        out.print(_nearest(advice, explain=explain))


def _draw(out: Screen, advice: Advice) -> None:
    """Gain, interval and threshold on a scale; nothing where there is no evidence."""
    from skilldelta.cli.gain_scale import GainScale, marks_of

    if advice.interval is None:
        return
    marks = marks_of(out)
    scale = GainScale(advice.decision.gain, advice.decision.threshold, advice.interval)
    out.print(scale.drawn(out.width, marks))
    out.print(scale.legend(out.width, marks))


def _cautions(advice: Advice, policy: Policy, *, explain: bool) -> list[str]:
    """What a reader of the verdict must know: a cost that counted, a family without pairs, an unfamiliar task, settings of one's own, a remedy."""
    lines = []
    is_unlike = _is_unlike(advice, policy)
    if policy.scope == "auto" and advice.family and advice.scope == "skill":
        lines.append(f"No pair of this skill is of family {advice.family}: pairs of its other families inform.")
    if weighed := _weighed_cost(advice, policy):
        lines.append(weighed)
    if advice.interval is not None and not is_unlike and (explain or advice.is_odd):
        lines.append(f"{advice.familiarity_sentence}.")
    if advice.interval is not None and (words := _settings_in_words(advice, policy)):
        lines.append(words)
    if explain or is_unlike or advice.interval is None or advice.decision.action == "abstain":
        lines.append(f"It would change with {advice.decision.would_change}.")
    return lines


def _weighed_cost(advice: Advice, policy: Policy) -> str:
    """The tokens against the gain, where that decided."""
    rule, found = policy.cost_rule, advice.explanation
    if rule is None or policy.rule != "plain" or found is None or advice.interval is None or _is_unlike(advice, policy):
        return ""
    return rule.sentence(advice.decision.gain, found.cost, threshold=policy.threshold)


def _is_unlike(advice: Advice, policy: Policy) -> bool:
    """Whether the verdict rests on the familiarity limit and nothing else."""
    return advice.familiarity is not None and advice.familiarity < policy.limit


def _explained(advice: Advice, policy: Policy) -> list[str]:
    """What the gain is made of, and everything that was chosen or measured on the way."""
    if advice.interval is None:
        return []
    lines = [
        f"{advice.interval_sentence} (method {advice.interval.method}).",
        f"Evidence: scope {advice.scope}{_where(advice)}; effective support {advice.effective:.1f}; "
        f"mean distance {advice.radius:.2f}.",
    ]
    if advice.explanation is not None:
        cost = "" if _weighed_cost(advice, policy) else _cost(advice.explanation)
        lines += [_chances(advice.explanation), cost, _components(advice.explanation)]
    return [line for line in lines if line]


def _where(advice: Advice) -> str:
    """The family and the suite of the evidence, where there is one."""
    family = f" {advice.family}" if advice.scope == "family" else ""
    return f"{family} in {advice.suite}" if advice.suite else family


def _settings_in_words(advice: Advice, policy: Policy) -> str:
    """Settings other than the paper's main one, and what they decide; empty where there are none."""
    from skilldelta.predictor import PAPER

    named = [] if advice.settings.k == PAPER.k else [f"k = {advice.settings.k}"]
    named += [] if advice.settings.weighting == PAPER.weighting else [f"{advice.settings.weighting} weights"]
    named += [] if policy.scope in ("auto", "paper") else [f"scope {policy.scope}"]
    if not named:
        return ""
    if advice.settings_choose == "gain":
        return f"The paper's rule with {', '.join(named)}."
    return f"{', '.join(named).capitalize()}: for the pairs shown and bounded; the gain is the stack's, from all pairs."


def _chances(found: Explanation) -> str:
    return "" if found.chance is None else _sentence(found.chance.sentence)


def _cost(found: Explanation) -> str:
    """What the skill is predicted to add; empty where that is unknown."""
    if found.cost is None:
        return ""
    dollars = "" if found.cost.dollars is None else f" (${abs(found.cost.dollars):.2g})"
    verb = "add" if found.cost.tokens >= 0 else "save"
    return f"It is predicted to {verb} {plural(abs(found.cost.tokens), 'token')}{dollars}."


def _components(found: Explanation) -> str:
    from skilldelta.estimators.stack.component_words import SMALLEST_SHARE, component_words

    counted = [
        f"{component_words(name)} {signed(found.components[name])} ({percent(share, 0)})"
        for name, share in sorted(found.shares.items(), key=lambda part: -part[1])
        if share >= SMALLEST_SHARE
    ]
    return "Made of: " + ", ".join(counted) + "." if len(counted) > 1 else ""


def _nearest(advice: Advice, *, explain: bool) -> Group:
    columns = ["task", "text", "cosine", "gain", "without → with"]
    rows = [_row(neighbor) for neighbor in advice.neighbors]
    if explain:
        columns += ["weight", "runs"]
        further = [[f"{n.weight:.3f}", f"{n.r0}/{n.r1}"] for n in advice.neighbors]
        rows = [row + more for row, more in zip(rows, further, strict=True)]
    return table("Nearest tasks with paired executions", columns, rows, left=2)


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
