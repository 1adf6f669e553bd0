"""An evaluation as tables: what each policy bought, how it chose, the means over panels, and the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from skilldelta.cli.output import console, percent, signed, table
from skilldelta.evaluation.policy_table import policy_words
from skilldelta.nouns import plural

if TYPE_CHECKING:
    from skilldelta.evaluation.results import Estimate, Means, PanelResult, PolicyMeans, PolicyResult, Range
    from skilldelta.evaluation.structure import CoveragePoint

_BOUGHT = ("policy", "success", "vs off", "vs on", "95%", "uses", "saved")
_CHOSE = ("policy", "AUROC", "95%", "vs random", "95%", "p in", "p all")
_MEANS = ("policy", "success", "vs on", "95%", "wins", "vs random", "95%", "wins")


def show_panel(panel: PanelResult) -> None:
    """What the policies of one panel bought, how they chose, and what a reader must know."""
    title = f"{panel.agent} on {panel.suite}: {plural(panel.tasks, 'task')} in {plural(panel.families, 'family', 'families')}"
    bought = [_bought(policy) for policy in panel.policies.values()]
    off, on = panel.oracle - panel.off, panel.oracle - panel.on
    bought.append([policy_words("oracle"), percent(panel.oracle), _points(off), _points(on), "", "", ""])
    with_p = len(_CHOSE) if any(policy.null for policy in panel.policies.values()) else len(_CHOSE) - 2
    chose = [_chose(policy)[:with_p] for policy in panel.policies.values() if policy.auroc is not None]
    out = console()
    out.print(table(title, _BOUGHT, bought))
    if chose:
        out.print(table("How they chose", _CHOSE[:with_p], chose))
    for remark in _remarks(panel):
        out.remark(remark, style="dim")


def show_risk(points: tuple[CoveragePoint, ...]) -> None:
    """What the stack loses and gains when its most unlike tasks are skipped; nothing where that is not known."""
    if not points:
        return
    rows = [
        [
            percent(point.coverage),
            "–" if point.familiarity is None else f"{point.familiarity:.3f}",
            f"{100 * point.risk:.1f}",
            percent(point.success),
        ]
        for point in points
    ]
    title = f"{policy_words('stack')} when the tasks most unlike the others are skipped"
    console().print(table(title, ("decided", "familiarity from", "points lost there", "success on all"), rows))


def show_means(means: Means) -> None:
    """Means over panels of equal weight, with the number of panels in which a policy is ahead."""
    rows = [_mean_row(name, policy, means.panels) for name, policy in means.policies.items()]
    console().print(table(f"Mean over {plural(means.panels, 'panel')} of equal weight", _MEANS, rows))


def show_verdicts(panels: Sequence[PanelResult]) -> None:
    """One line per panel, the last that an evaluation prints: what its interval allows to say of the gate."""
    from skilldelta.evaluation.comparison import default_gate
    from skilldelta.report.verdict import gate_headline

    for panel in panels:
        own = panel.policies.get(default_gate(panel))
        if own is None:
            continue
        where = f"{panel.agent} on {panel.suite}, " if len(panels) > 1 else ""
        line = f"{where}{policy_words(own.name)}: {gate_headline(panel, own).text}"
        console().print(line.replace("\u2212", "-"), style="bold", markup=False)  # not every terminal has that minus


def _bought(policy: PolicyResult) -> list[str]:
    return [
        policy_words(policy.name),
        percent(policy.success),
        _points(policy.success_gain),
        _points(policy.success_vs_always_on),
        _range(policy.intervals.get("success_vs_always_on"), is_open=True),
        percent(policy.use_rate, 0),
        percent(policy.token_saving),
    ]


def _chose(policy: PolicyResult) -> list[str]:
    p_values = [policy.null[kind].auroc if kind in policy.null else None for kind in ("within", "across")]
    return [
        policy_words(policy.name),
        f"{policy.auroc:.3f}",
        _range(policy.intervals.get("auroc"), scale=1, digits=2),
        _points(policy.advantage_vs_random),
        _range(policy.intervals.get("advantage_vs_random")),
        *("" if found is None else f"{found.p:.3f}" for found in p_values),
    ]


def _remarks(panel: PanelResult) -> list[str]:
    remarks = list(panel.notes)
    if {"skilldelta", "stack"} <= set(panel.policies):
        own, paper = policy_words("stack"), policy_words("skilldelta")
        remarks.insert(0, f"{paper} is the paper's rule, {own} what predict uses unless told otherwise")
    if any(policy.null for policy in panel.policies.values()):
        remarks.insert(
            0, "p: how often gains shuffled within families (p in), or among all tasks (p all), reach such an AUROC"
        )
    for policy in panel.policies.values():
        remarks += [f"{policy_words(policy.name)}: {remark}" for remark in policy.notes]
        if len(policy.rows) < panel.pairs:
            remarks.append(f"{policy_words(policy.name)}: on its rows always on reaches {percent(policy.always_on)}")
    return remarks


def _mean_row(name: str, policy: PolicyMeans, panels: int) -> list[str]:
    on, random = policy.metrics["success_vs_always_on"], policy.metrics["advantage_vs_random"]
    return [
        policy_words(name),
        percent(policy.metrics["success"].value),
        _points(on.value),
        _mean_range(on),
        f"{policy.wins['success_vs_always_on']}/{panels}",
        _points(random.value),
        _mean_range(random),
        f"{policy.wins['advantage_vs_random']}/{panels}",
    ]


def _mean_range(found: Estimate) -> str:
    return _range(found.interval, is_open=True)


def _points(value: float) -> str:
    return signed(100 * value, 1)


def _range(found: Range | None, *, scale: int = 100, digits: int = 1, is_open: bool = False) -> str:
    """An interval, empty where there is none; `is_open` also leaves out one without width."""
    if found is None or found.low is None or found.high is None or (is_open and found.low == found.high):
        return ""
    low, high = (round(scale * end, digits) + 0.0 for end in (found.low, found.high))
    return f"{low:.{digits}f}…{high:.{digits}f}"
