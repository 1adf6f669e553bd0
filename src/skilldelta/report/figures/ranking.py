"""Gain ranking: how well each policy's score sorts tasks that the skill helps from the others (AUROC)."""

from __future__ import annotations

from typing import Any

from skilldelta.evaluation.policy_table import policy_words
from skilldelta.evaluation.results import PanelResult, PolicyResult
from skilldelta.nouns import plural
from skilldelta.report.content import Column, Figure, Plot, Spec, Table
from skilldelta.report.numbers import cell, decimal, spread, words_cell
from skilldelta.report.palette import policy_scale
from skilldelta.report.vega import BAR_STEP, base, interval_over_bar, number_axis, reference_line, row_axis, tooltip

CHANCE = 0.5


def ranking(panel: PanelResult, gate: str) -> Figure:
    """AUROC by policy with intervals, best first; policies without a score are left out."""
    ranked = _ranked(panel)
    return Figure(
        name="ranking",
        title="Which score finds the tasks that the skill helps?",
        words=_words(panel, ranked, gate),
        plots=[Plot("ranking", spec(rows(ranked)), "AUROC of each policy, with its 95% interval; 0.5 is chance")]
        if ranked
        else (),
        table=_table(ranked) if ranked else None,
    )


def rows(ranked: list[PolicyResult]) -> list[dict[str, Any]]:
    """One row per policy: its AUROC and the ends of its interval."""
    found = []
    for policy in ranked:
        interval = policy.intervals.get("auroc")
        found.append(
            {
                "name": policy.name,
                "policy": policy_words(policy.name),
                "auroc": policy.auroc,
                "low": interval.low if interval else None,
                "high": interval.high if interval else None,
                "tasks": len(policy.rows),
            }
        )
    return found


def spec(data: list[dict[str, Any]]) -> Spec:
    """Bars from chance, so that their length is what a policy knows beyond a coin."""
    order = [row["policy"] for row in data]
    values = [row[key] for row in data for key in ("auroc", "low", "high") if row[key] is not None]
    domain = [min(CHANCE, *values), max(0.6, *values)]
    y = row_axis("policy", order)
    x = {
        **number_axis("auroc", None, ".2f"),
        "scale": {"domain": domain, "nice": True, "zero": False},
    }
    color = {"field": "policy", "type": "nominal", "scale": policy_scale(row["name"] for row in data), "legend": None}
    hover = tooltip(
        ("policy", "Policy", ""),
        ("auroc", "AUROC", ".3f"),
        ("low", "95% from", ".3f"),
        ("high", "95% to", ".3f"),
        ("tasks", "Tasks", ",d"),
    )
    return base(
        data,
        height={"step": BAR_STEP},
        layer=[
            {
                "mark": {"type": "bar", "height": 13, "cornerRadiusEnd": 1},
                "encoding": {"y": y, "x": x, "x2": {"datum": CHANCE}, "color": color, "tooltip": hover},
            },
            *interval_over_bar("low", "high", y=y, tooltip={"value": None}),
            reference_line(CHANCE),
        ],
    )


def _ranked(panel: PanelResult) -> list[PolicyResult]:
    scored = [policy for policy in panel.policies.values() if policy.auroc is not None and policy.scores is not None]
    return sorted(scored, key=lambda policy: -(policy.auroc or 0.0))


def _words(panel: PanelResult, ranked: list[PolicyResult], gate: str) -> list[str]:
    if not ranked:
        return [
            "No score can be judged here: AUROC needs tasks that the skill helped and tasks that it did not, and this panel "
            "has only one of the two."
        ]
    own = panel.policies.get(gate)
    sentences = [
        "Take one task that the skill helped and one that it did not. AUROC is the chance that a score puts them in the "
        "right order; 0.5 is a coin."
    ]
    if own is not None and own.auroc is not None:
        sentences.append(_gate_sentence(own, ranked))
    split = [policy for policy in ranked if len(policy.rows) < panel.pairs]
    if split:
        names = " and ".join(policy_words(policy.name) for policy in split)
        verb = "is" if len(split) == 1 else "are"
        sentences.append(f"{names} {verb} judged on a test split of {plural(len(split[0].rows), 'pair')} only.")
    return sentences


def _gate_sentence(own: PolicyResult, ranked: list[PolicyResult]) -> str:
    interval = spread(own.intervals.get("auroc"))
    certainty = f" (95% interval {interval})" if interval else ""
    head = f"{policy_words(own.name)} is right in {100 * (own.auroc or 0):.0f} of 100 such comparisons{certainty}"
    others = [policy for policy in ranked if policy.name != own.name and len(policy.rows) == len(own.rows)]
    if not others:
        return head + "."
    best = others[0]
    relation = "behind" if (best.auroc or 0) > (own.auroc or 0) else "ahead of"
    return f"{head}, {relation} {policy_words(best.name)} at {decimal(best.auroc)}, the best of the others on the same pairs."


def _table(ranked: list[PolicyResult]) -> Table:
    columns = [Column("Policy", numeric=False), Column("AUROC"), Column("95% interval"), Column("Pairs")]
    return Table(
        columns,
        [
            [
                words_cell(policy_words(policy.name)),
                cell(decimal(policy.auroc), policy.auroc),
                cell(spread(policy.intervals.get("auroc")) or "–", policy.auroc),
                cell(f"{len(policy.rows):,}", len(policy.rows)),
            ]
            for policy in ranked
        ],
    )
