"""A comparison as Markdown: what a pull request shows at a glance, with the flipped tasks behind a click."""

from __future__ import annotations

from collections.abc import Sequence

from skilldelta.evaluation.paired_comparison import Outcome, TaskDifference
from skilldelta.nouns import plural
from skilldelta.report.comparison_words import ComparisonReport, comparison_facts, comparison_headline
from skilldelta.report.markdown import code, details, pipe_table, plain
from skilldelta.report.numbers import outcome_words, points

MOST_TASKS = 50
"""Tasks listed for each direction; a comment has to stay readable, and hosts bound its size."""


def comparison_markdown(report: ComparisonReport) -> str:
    """The verdict, the facts, the flipped tasks by name."""
    found = report.comparison
    parts = [
        f"### {plain(comparison_headline(found).text)}\n",
        f"A is {code(report.a)}, B is {code(report.b)}.\n",
        *(f"> **Note:** {plain(warning)}\n" for warning in report.warnings),
        pipe_table(("", ""), [(fact.title, plain(fact.text)) for fact in comparison_facts(report)], left=2),
    ]
    titles: tuple[tuple[Outcome, str], ...] = (("worse", "worse with B"), ("better", "better with B"))
    for outcome, title in titles:
        tasks = found.flipped(outcome)
        if tasks:
            parts.append(details(f"{plural(len(tasks), 'task')} {title}", _tasks(tasks)))
    if report.unpaired:
        listed = [f"- {plain(reason)}: {_names(tasks)}" for reason, tasks in report.unpaired.items()]
        parts.append(details("Tasks that are not compared", "\n".join(listed) + "\n"))
    return "\n".join(parts)


def _tasks(tasks: Sequence[TaskDifference]) -> str:
    rows = [
        (
            code(one.task_id),
            outcome_words(one.a, one.runs_a),
            outcome_words(one.b, one.runs_b),
            points(one.delta, 0),
            "flipped" if one.is_flipped else "",
        )
        for one in tasks[:MOST_TASKS]
    ]
    return pipe_table(("task", "A", "B", "points", ""), rows) + _more(len(tasks))


def _names(tasks: Sequence[str]) -> str:
    return ", ".join(map(code, tasks[:MOST_TASKS])) + _more(len(tasks))


def _more(tasks: int) -> str:
    return f"\nand {tasks - MOST_TASKS} more.\n" if tasks > MOST_TASKS else ""
