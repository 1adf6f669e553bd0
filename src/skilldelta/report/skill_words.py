"""A verdict on a skill in one sentence: the ruling first, then the evidence for it."""

from __future__ import annotations

from collections.abc import Sequence

from skilldelta.evaluation.comparison import ENOUGH
from skilldelta.evaluation.results import Range
from skilldelta.evaluation.skill_verdicts import FamilyEffect, SkillVerdict, Skipping
from skilldelta.nouns import plural
from skilldelta.report.families import NO_FAMILY
from skilldelta.report.numbers import percent, points, spread
from skilldelta.report.verdict import about_tasks

_NAMED = 3


def skill_sentence(found: SkillVerdict) -> str:
    """`keep: +12.3 points (95%: +5.0 to +19.1), helps in 9 of 10 families`."""
    return f"{found.ruling}: {_evidence(found)}"


def skill_reason(found: SkillVerdict) -> str:
    """The evidence without the gain, for where the gain stands beside it."""
    if found.reason == "harmed families":
        return f"harms {_names(found.families, 'harms')}"
    if found.reason == "helped families":
        return f"helps only in {_names(found.families, 'helps')}"
    if found.reason == "gain":
        return _families(found)
    if found.reason == "harm":
        return "interval excludes 0"
    if found.reason == "saves tokens":
        return f"no difference, and saves {percent(-(found.token_change or 0.0), 0)} of tokens"
    if found.reason == "no difference":
        return f"no difference{_price(found)}"
    return _wanted(found)


def _evidence(found: SkillVerdict) -> str:
    if found.reason in ("harmed families", "helped families"):
        return f"{skill_reason(found)}; {_gain(found)} on average"
    return f"{_gain(found)}, {skill_reason(found)}"


def _gain(found: SkillVerdict) -> str:
    interval = spread(found.mean.interval, as_points=True)
    return f"{points(found.mean.mean)} points{f' (95%: {interval})' if interval else ''}"


def _families(found: SkillVerdict) -> str:
    families = found.families
    if len(families) == 1:
        return f"helps in {found.helped} of {plural(found.mean.tasks, 'task')}, harms in {found.harmed}"
    return f"helps in {sum(one.gain > 0 for one in families)} of {plural(len(families), 'family', 'families')}"


def _names(families: Sequence[FamilyEffect], effect: str) -> str:
    names = [f"`{one.family}`" if one.family else NO_FAMILY for one in families if one.effect == effect]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _price(found: SkillVerdict) -> str:
    if found.token_change is None or found.token_change <= 0:
        return ""
    return f" at {1 + found.token_change:.1f}× the tokens"


def _wanted(found: SkillVerdict) -> str:
    tasks = plural(found.mean.tasks, "task")
    only_alone = _excludes_zero(found.mean.interval) and found.mean.tasks >= ENOUGH
    looks = ", not clear after the correction for many skills" if only_alone else ""
    if found.more_tasks is None:
        return f"{tasks}{looks}"
    return f"{tasks}{looks}; about {about_tasks(found.more_tasks)} would settle it"


def _excludes_zero(interval: Range) -> bool:
    return interval.low is not None and interval.high is not None and (interval.low > 0 or interval.high < 0)


def skipping_words(found: Skipping, tasks: int) -> str:
    """What skipping would buy: `skips 12 of 60 tasks: +4.2 points, saves 8% of tokens`."""
    if not found.tasks:
        return "skips nothing"
    saved = "" if found.token_share is None else _saved(found.token_share)
    return f"skips {found.tasks} of {plural(tasks, 'task')}: {points(found.success)} points{saved}"


def _saved(share: float) -> str:
    return f", saves {percent(share, 0)} of tokens" if share >= 0 else f", costs {percent(-share, 0)} more tokens"
