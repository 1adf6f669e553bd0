"""The skills of a panel in the report: verdict and evidence of each, and, opened, the tasks that it breaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skilldelta.evaluation.skill_verdicts import FamilyEffect, HarmGroup, SkillVerdict
from skilldelta.nouns import plural
from skilldelta.report.content import Cell, Column, Table
from skilldelta.report.content_html import table_html
from skilldelta.report.families import NO_FAMILY
from skilldelta.report.html import Markup, element
from skilldelta.report.numbers import cell, count, points, shorten, spread, words_cell
from skilldelta.report.skill_words import skill_reason, skipping_words
from skilldelta.support import Support

MOST_LISTED = 12
"""Families, groups, and tasks of each, that one skill shows."""
_TEXT_WIDTH = 120
_TONES = {"keep": "good", "drop": "bad", "gate": "", "not enough evidence": ""}


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
        table_html(_table(found.verdicts), css="skills"),
        element("p", _WORDS, class_="quiet small"),
        element("h3", "What each skill breaks, and what skipping there would buy") if broken else None,
        *[_skill(found.support, one) for one in broken],
        id=f"{place}-skills",
        class_="long",
    )


_WORDS = (
    "Small print below a gain is its 95% interval over tasks. A family counts as helped or harmed when its exact sign test passes "
    "at a false-discovery rate of 5% over all families of the panel; skills are held to the same rate over all skills."
)


def _table(verdicts: Sequence[SkillVerdict]) -> Table:
    columns = [
        Column("Skill", numeric=False),
        Column("Verdict", numeric=False),
        Column("Gain, points"),
        Column("Tasks"),
        Column("Helped"),
        Column("Harmed"),
        Column("Why", numeric=False),
    ]
    return Table(columns, [_row(one) for one in verdicts])


def _row(one: SkillVerdict) -> list[Cell]:
    interval = spread(one.mean.interval, as_points=True)
    gain = f"{points(one.mean.mean)}\n{interval}" if interval else points(one.mean.mean)
    return [
        words_cell(one.skill),
        words_cell(one.ruling, _TONES[one.ruling]),
        cell(gain, one.mean.mean),
        cell(count(one.mean.tasks), one.mean.tasks),
        cell(count(one.helped), one.helped),
        cell(count(one.harmed), one.harmed),
        words_cell(skill_reason(one)),
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
        element("p", hidden, class_="quiet small") if hidden else None,
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
