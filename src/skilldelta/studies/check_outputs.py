"""A check as what others read: JUnit XML for a CI system, Markdown for a pull request."""

from __future__ import annotations

from skilldelta.nouns import plural
from skilldelta.report.check_words import OUTCOME_WORDS, check_sentence
from skilldelta.report.junit import JUnitCase, junit_xml
from skilldelta.report.markdown import code, details, pipe_table, plain
from skilldelta.report.numbers import points
from skilldelta.studies.check_study import CheckedSkill, SkillsChecked

_SIGNS = {"pass": "✅ holds", "fail": "❌ does not hold", "not enough evidence": "⚪ not enough evidence"}


def check_junit(checked: SkillsChecked, *, fail_on_too_little: bool = False) -> str:
    """One case for each rule of each skill.

    Examples:
        >>> check_junit(check_skills(bank_gains(bank))).count("<skipped")
        2
    """
    cases = [
        JUnitCase(f"{one.agent}.{one.suite}", f"{one.skill}: {check.rule}", check.outcome, check_sentence(check))
        for one in checked.skills
        for check in one.checks
    ]
    cases += [
        JUnitCase(f"{one.agent}.{one.suite}", one.skill, one.outcome, "; ".join(one.remarks))
        for one in checked.skills
        if not one.checks
    ]
    return junit_xml(cases, fail_on_too_little=fail_on_too_little)


def check_markdown(checked: SkillsChecked) -> str:
    """The outcome, a line per skill, and the evidence behind a click.

    Examples:
        >>> check_markdown(check_skills(bank_gains(bank))).splitlines()[0]
        '### Skills: Not enough evidence'
    """
    several = len({(one.agent, one.suite) for one in checked.skills}) > 1
    rows = [_row(one, several) for one in checked.skills]
    columns = ("skill", *(("agent", "suite") if several else ()), "outcome", "gain", "limits", "tasks")
    evidence = "".join(
        f"- {code(one.skill)}: {plain('; '.join([*map(check_sentence, one.checks), *one.remarks]))}\n"
        for one in checked.skills
    )
    settings = checked.settings
    asked = f"Asked: a gain above {points(settings.min_gain)} points, at {100 * settings.confidence:g}% confidence for each skill."
    notes = "".join(f"- {plain(note)}\n" for note in checked.notes)
    return "\n".join(
        [
            f"### Skills: {OUTCOME_WORDS[checked.outcome]}\n",
            f"{plural(len(checked.skills), 'skill')} checked. {asked}\n",
            pipe_table(columns, rows, left=4 if several else 2),
            details("Evidence", evidence),
            *([details("Left out", notes)] if notes else []),
        ]
    )


def _row(one: CheckedSkill, several: bool) -> list[str]:
    where = [code(one.agent), code(one.suite)] if several else []
    gain = next((check for check in one.checks if check.rule == "gain"), None)
    if gain is None:
        return [code(one.skill), *where, _SIGNS[one.outcome], "", "", ""]
    interval = gain.mean.interval
    limits = (
        "" if interval.low is None or interval.high is None else f"{points(interval.low)} to {points(interval.high)}"
    )
    return [code(one.skill), *where, _SIGNS[one.outcome], points(gain.mean.mean), limits, str(gain.mean.tasks)]
