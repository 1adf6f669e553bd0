"""Verdicts on skills: each in one sentence, and all of a panel in the report, with the tasks that each skill breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skilldelta.evaluation.comparison import ENOUGH
from skilldelta.evaluation.skill_verdicts import FamilyEffect, HarmGroup, SkillVerdict, Skipping
from skilldelta.nouns import plural
from skilldelta.report.content import Cell, Column, Table, columns
from skilldelta.report.figures.help_harm import NO_FAMILY
from skilldelta.report.html import Markup, element, small, table_html
from skilldelta.report.numbers import cell, count, excludes_zero, percent, points, shorten, spread
from skilldelta.report.verdict import settling
from skilldelta.support import Support

# Families, groups, and tasks of each, that one skill shows.
MOST_LISTED = 12
_TEXT_WIDTH = 120
# Families that a sentence names.
_NAMED = 3
_COLUMNS = [
    *columns("Skill", "Verdict", "Gain, points", "Tasks", "Helped", "Harmed", words=2),
    Column("Why", numeric=False),
]
_TONES = {"keep": "good", "drop": "bad", "gate": "", "no effect": "", "not enough evidence": ""}


def skill_sentence(verdict: SkillVerdict) -> str:
    """`keep: +12.3 points (95%: +5.0 to +19.1), helps in 9 of 10 families`."""
    if verdict.reason in ("harmed families", "helped families", "held out"):
        return f"{verdict.ruling}: {skill_reason(verdict)}; {_gain(verdict)} on average"
    return f"{verdict.ruling}: {_gain(verdict)}, {skill_reason(verdict)}"


def skill_reason(verdict: SkillVerdict) -> str:
    """The evidence without the gain, for where the gain stands beside it."""
    if verdict.reason == "harmed families":
        return f"harms {_names(verdict.families, 'harms')}"
    if verdict.reason == "helped families":
        return f"helps only in {_names(verdict.families, 'helps')}"
    if verdict.reason == "held out" and verdict.gate is not None:
        interval = spread(verdict.gate.interval, as_points=True)
        return (
            f"on unseen tasks the gate uses it on {percent(verdict.gate.use_rate, 0)} of them and beats always using it by "
            f"{points(verdict.gate.vs_always_on)} points (95%: {interval})"
        )
    if verdict.reason == "gain":
        return _helped_families(verdict)
    if verdict.reason == "harm":
        return f"harms {verdict.harmed} of {plural(verdict.mean.tasks, 'task')}, helps {verdict.helped}"
    if verdict.reason == "saves tokens":
        return f"hardly any difference, and saves {percent(-(verdict.token_change or 0.0), 0)} of tokens"
    if verdict.reason == "no difference":
        change = verdict.token_change or 0.0
        cost = f" at {1 + change:.1f}× the tokens" if change > 0 else ""
        return f"{percent(verdict.effect.nothing, 0)} likely to lie within 5 points of zero{cost}"
    return _wanted(verdict)


def _gain(verdict: SkillVerdict) -> str:
    return f"{points(verdict.effect.gain)} points (95%: {spread(verdict.interval, as_points=True)})"


def _helped_families(verdict: SkillVerdict) -> str:
    families = verdict.families
    if len(families) == 1:
        return f"helps in {verdict.helped} of {plural(verdict.mean.tasks, 'task')}, harms in {verdict.harmed}"
    return f"helps in {sum(family.gain > 0 for family in families)} of {plural(len(families), 'family', 'families')}"


def _names(families: Sequence[FamilyEffect], effect: str) -> str:
    names = [f"`{family.family}`" if family.family else NO_FAMILY for family in families if family.effect == effect]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _wanted(verdict: SkillVerdict) -> str:
    tasks = plural(verdict.mean.tasks, "task")
    only_alone = excludes_zero(verdict.mean.interval) and verdict.mean.tasks >= ENOUGH
    looks = ", clear by itself but not beside the other skills" if only_alone else ""
    looks += f", {percent(verdict.effect.helps, 0)} likely to help"
    return f"{tasks}{looks}; {settling(verdict.more_tasks)}"


def certainty_words(verdict: SkillVerdict) -> str:
    """How sure the verdict is: `sure`, `leaning`, or how likely the skill is to help where there is none."""
    return verdict.certainty or f"{percent(verdict.effect.helps, 0)} likely to help"


def cost_words(support: Support, verdict: SkillVerdict) -> str:
    """`1.31× the tokens`: what the skill costs, where that is known."""
    if verdict.token_change is None:
        return "its cost in tokens is not recorded throughout"
    return f"{1 + verdict.token_change:.2f}× the tokens of runs without it"


def harm_words(support: Support, verdict: SkillVerdict, most: int) -> list[str]:
    """The tasks that a skill harms, the most harmed first, with their numbers and words."""
    rows = [row for family in verdict.families for row in family.rows if support.gains[row] < 0]
    rows.sort(key=lambda row: support.gains[row])
    lines = []
    for row in rows[:most]:
        words = f" “{shorten(support.texts[row], _TEXT_WIDTH // 2)}”" if support.texts else ""
        change = f"{support.y0[row]:.2f} to {support.y1[row]:.2f}"
        lines.append(f"harms {support.task_ids[row]}: {points(support.gains[row], 0)} points ({change}){words}")
    return lines + ([f"and {len(rows) - most} more"] if len(rows) > most else [])


def skipping_words(skipping: Skipping, tasks: int) -> str:
    """What skipping would buy: `skips 12 of 60 tasks: +4.2 points, saves 8% of tokens`."""
    if not skipping.tasks:
        return "skips nothing"
    share, saved = skipping.token_share, ""
    if share is not None:
        saved = f", saves {percent(share, 0)} of tokens" if share >= 0 else f", costs {percent(-share, 0)} more tokens"
    return f"skips {skipping.tasks} of {plural(tasks, 'task')}: {points(skipping.success)} points{saved}"


@dataclass(frozen=True, slots=True, eq=False)
class SkillList:
    """The verdicts of a panel, with the rows that they are about."""

    support: Support
    verdicts: Sequence[SkillVerdict]


def skill_list_html(skill_list: SkillList, place: str) -> Markup:
    """One section: a table of all skills, then those that break tasks, to be opened."""
    broken = [verdict for verdict in skill_list.verdicts if verdict.harmed]
    return element(
        "section",
        element("h2", "Keep, gate or drop each skill"),
        table_html(Table(_COLUMNS, [_row(verdict) for verdict in skill_list.verdicts]), css="skills"),
        small(_WORDS),
        element("h3", "What each skill breaks, and what skipping there would buy") if broken else None,
        *[_skill(skill_list.support, verdict) for verdict in broken],
        id=f"{place}-skills",
        class_="long",
    )


_WORDS = (
    "A gain and the 95% interval below it take in what the other skills of the panel show, which corrects for having looked at "
    "many. A family counts as helped or harmed when its exact sign test passes at a false-discovery rate of 5% over all families."
)


def _row(verdict: SkillVerdict) -> list[Cell]:
    return [
        Cell(verdict.skill),
        Cell(verdict.ruling, tone=_TONES[verdict.ruling]),
        cell(points(verdict.effect.gain), verdict.effect.gain, spread(verdict.interval, as_points=True)),
        *[cell(count(tasks), tasks) for tasks in (verdict.mean.tasks, verdict.helped, verdict.harmed)],
        Cell(skill_reason(verdict)),
    ]


def _skill(support: Support, verdict: SkillVerdict) -> Markup:
    families = [family for family in verdict.families if (support.gains[family.rows] < 0).any()]
    parts = [_family(support, family) for family in families[:MOST_LISTED]]
    groups = [_group(support, number, group) for number, group in enumerate(verdict.groups[:MOST_LISTED], start=1)]
    hidden = _hidden(len(families), "family", "families") + _hidden(len(verdict.groups), "group", "groups")
    return element(
        "details",
        element("summary", f"{verdict.skill}: {verdict.ruling}, harms {plural(verdict.harmed, 'task')}"),
        element("p", _buys(verdict)),
        element("h4", "By family"),
        element("ul", *parts, class_="notes"),
        element("h4", "By nearest neighbors"),
        element("ul", *groups, class_="notes"),
        small(hidden) if hidden else None,
        class_="skill",
    )


def _hidden(number: int, singular: str, many: str) -> str:
    return f"{plural(number - MOST_LISTED, singular, many)} not listed. " if number > MOST_LISTED else ""


def _buys(verdict: SkillVerdict) -> str:
    tasks = verdict.mean.tasks
    held_out = [
        ("the other tasks of its family lost", verdict.skip_by_family),
        ("its nearest tasks lost", verdict.skip_by_neighbors),
    ]
    text = "Skipping a task where " + "; where ".join(
        f"{where}: {skipping_words(skipping, tasks)}" for where, skipping in held_out
    )
    in_hindsight = (
        ""
        if verdict.skip_harmed is None
        else f" In hindsight, skipping the harmed families {skipping_words(verdict.skip_harmed, tasks)}."
    )
    return f"{text}. Each task is decided by other tasks only.{in_hindsight}"


def _family(support: Support, family: FamilyEffect) -> Markup:
    rows = [int(row) for row in family.rows if support.gains[row] < 0]
    head = f"{family.family or NO_FAMILY} ({family.effect}, {points(family.gain)} points over {plural(family.tasks, 'task')}): "
    return element("li", head, _tasks(support, rows))


def _group(support: Support, number: int, group: HarmGroup) -> Markup:
    if group.nearby_gain is None:
        nearby = "no other task nearby"
    else:
        nearby = f"the nearest tasks show {points(group.nearby_gain)} points"
    chance = ", so the harm may be chance" if group.is_isolated else ""
    rows = [int(row) for row in group.rows]
    example = f" “{shorten(support.texts[rows[0]], _TEXT_WIDTH)}”" if support.texts else ""
    return element("li", f"Group {number}, {nearby}{chance}: ", _tasks(support, rows), example)


def _tasks(support: Support, rows: Sequence[int]) -> str:
    names = ", ".join(str(support.task_ids[row]) for row in rows[:MOST_LISTED])
    return names + (f" and {len(rows) - MOST_LISTED} more" if len(rows) > MOST_LISTED else "")
