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

MOST_LISTED = 12
"""Families, groups, and tasks of each, that one skill shows."""
_TEXT_WIDTH = 120
_NAMED = 3
"""Families that a sentence names."""
_COLUMNS = [
    *columns("Skill", "Verdict", "Gain, points", "Tasks", "Helped", "Harmed", words=2),
    Column("Why", numeric=False),
]
_TONES = {"keep": "good", "drop": "bad", "gate": "", "no effect": "", "not enough evidence": ""}


def skill_sentence(found: SkillVerdict) -> str:
    """`keep: +12.3 points (95%: +5.0 to +19.1), helps in 9 of 10 families`."""
    if found.reason in ("harmed families", "helped families", "held out"):
        return f"{found.ruling}: {skill_reason(found)}; {_gain(found)} on average"
    return f"{found.ruling}: {_gain(found)}, {skill_reason(found)}"


def skill_reason(found: SkillVerdict) -> str:
    """The evidence without the gain, for where the gain stands beside it."""
    if found.reason == "harmed families":
        return f"harms {_names(found.families, 'harms')}"
    if found.reason == "helped families":
        return f"helps only in {_names(found.families, 'helps')}"
    if found.reason == "held out" and found.gate is not None:
        interval = spread(found.gate.interval, as_points=True)
        return (
            f"on unseen tasks the gate uses it on {percent(found.gate.use_rate, 0)} of them and beats always using it by "
            f"{points(found.gate.vs_always_on)} points (95%: {interval})"
        )
    if found.reason == "gain":
        return _helped_families(found)
    if found.reason == "harm":
        return "interval excludes 0"
    if found.reason == "saves tokens":
        return f"hardly any difference, and saves {percent(-(found.token_change or 0.0), 0)} of tokens"
    if found.reason == "no difference":
        change = found.token_change or 0.0
        cost = f" at {1 + change:.1f}× the tokens" if change > 0 else ""
        return f"{percent(found.effect.nothing, 0)} likely to lie within 5 points of zero{cost}"
    return _wanted(found)


def _gain(found: SkillVerdict) -> str:
    return f"{points(found.effect.gain)} points (95%: {spread(found.interval, as_points=True)})"


def _helped_families(found: SkillVerdict) -> str:
    families = found.families
    if len(families) == 1:
        return f"helps in {found.helped} of {plural(found.mean.tasks, 'task')}, harms in {found.harmed}"
    return f"helps in {sum(one.gain > 0 for one in families)} of {plural(len(families), 'family', 'families')}"


def _names(families: Sequence[FamilyEffect], effect: str) -> str:
    names = [f"`{one.family}`" if one.family else NO_FAMILY for one in families if one.effect == effect]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _wanted(found: SkillVerdict) -> str:
    tasks = plural(found.mean.tasks, "task")
    only_alone = excludes_zero(found.mean.interval) and found.mean.tasks >= ENOUGH
    looks = ", clear by itself but not beside the other skills" if only_alone else ""
    looks += f", {percent(found.effect.helps, 0)} likely to help"
    return f"{tasks}{looks}; {settling(found.more_tasks)}"


def certainty_words(found: SkillVerdict) -> str:
    """How sure the verdict is: `sure`, `leaning`, or how likely the skill is to help where there is none."""
    return found.certainty or f"{percent(found.effect.helps, 0)} likely to help"


def cost_words(support: Support, found: SkillVerdict) -> str:
    """`1.31× the tokens`: what the skill costs, where that is known."""
    if found.token_change is None:
        return "its cost in tokens is not recorded throughout"
    return f"{1 + found.token_change:.2f}× the tokens of runs without it"


def harm_words(support: Support, found: SkillVerdict, most: int) -> list[str]:
    """The tasks that a skill harms, the most harmed first, with their numbers and words."""
    rows = [row for family in found.families for row in family.rows if support.gains[row] < 0]
    rows.sort(key=lambda row: support.gains[row])
    lines = []
    for row in rows[:most]:
        words = f" “{shorten(support.texts[row], _TEXT_WIDTH // 2)}”" if support.texts else ""
        change = f"{support.y0[row]:.2f} to {support.y1[row]:.2f}"
        lines.append(f"harms {support.task_ids[row]}: {points(support.gains[row], 0)} points ({change}){words}")
    return lines + ([f"and {len(rows) - most} more"] if len(rows) > most else [])


def skipping_words(found: Skipping, tasks: int) -> str:
    """What skipping would buy: `skips 12 of 60 tasks: +4.2 points, saves 8% of tokens`."""
    if not found.tasks:
        return "skips nothing"
    share, saved = found.token_share, ""
    if share is not None:
        saved = f", saves {percent(share, 0)} of tokens" if share >= 0 else f", costs {percent(-share, 0)} more tokens"
    return f"skips {found.tasks} of {plural(tasks, 'task')}: {points(found.success)} points{saved}"


@dataclass(frozen=True, slots=True, eq=False)
class SkillList:
    """The verdicts of a panel, with the rows that they are about."""

    support: Support
    verdicts: Sequence[SkillVerdict]


def skill_list_html(found: SkillList, place: str) -> Markup:
    """One section: a table of all skills, then those that break tasks, to be opened."""
    broken = [one for one in found.verdicts if one.harmed]
    return element(
        "section",
        element("h2", "Keep, gate or drop each skill"),
        table_html(Table(_COLUMNS, [_row(one) for one in found.verdicts]), css="skills"),
        small(_WORDS),
        element("h3", "What each skill breaks, and what skipping there would buy") if broken else None,
        *[_skill(found.support, one) for one in broken],
        id=f"{place}-skills",
        class_="long",
    )


_WORDS = (
    "A gain and the 95% interval below it take in what the other skills of the panel show, which corrects for having looked at "
    "many. A family counts as helped or harmed when its exact sign test passes at a false-discovery rate of 5% over all families."
)


def _row(one: SkillVerdict) -> list[Cell]:
    return [
        Cell(one.skill),
        Cell(one.ruling, tone=_TONES[one.ruling]),
        cell(points(one.effect.gain), one.effect.gain, spread(one.interval, as_points=True)),
        *[cell(count(tasks), tasks) for tasks in (one.mean.tasks, one.helped, one.harmed)],
        Cell(skill_reason(one)),
    ]


def _skill(support: Support, one: SkillVerdict) -> Markup:
    families = [family for family in one.families if (support.gains[family.rows] < 0).any()]
    parts = [_family(support, family) for family in families[:MOST_LISTED]]
    groups = [_group(support, number, group) for number, group in enumerate(one.groups[:MOST_LISTED], start=1)]
    hidden = _hidden(len(families), "family", "families") + _hidden(len(one.groups), "group", "groups")
    return element(
        "details",
        element("summary", f"{one.skill}: {one.ruling}, harms {plural(one.harmed, 'task')}"),
        element("p", _buys(one)),
        element("h4", "By family"),
        element("ul", *parts, class_="notes"),
        element("h4", "By nearest neighbours"),
        element("ul", *groups, class_="notes"),
        small(hidden) if hidden else None,
        class_="skill",
    )


def _hidden(number: int, one: str, many: str) -> str:
    return f"{plural(number - MOST_LISTED, one, many)} not listed. " if number > MOST_LISTED else ""


def _buys(one: SkillVerdict) -> str:
    tasks = one.mean.tasks
    held_out = [
        ("the other tasks of its family lost", one.skip_by_family),
        ("its nearest tasks lost", one.skip_by_neighbors),
    ]
    text = "Skipping a task where " + "; where ".join(
        f"{where}: {skipping_words(found, tasks)}" for where, found in held_out
    )
    in_hindsight = (
        ""
        if one.skip_harmed is None
        else f" In hindsight, skipping the harmed families {skipping_words(one.skip_harmed, tasks)}."
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
