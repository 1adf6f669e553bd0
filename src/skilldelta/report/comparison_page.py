"""A comparison as one HTML page in the report's look: the verdict, the difference on a line, every task that moved.

The two small drawings are plain elements, so that the page needs no plotting library.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from skilldelta.evaluation.paired_comparison import PairedComparison, TaskDifference
from skilldelta.files import write_text
from skilldelta.nouns import plural
from skilldelta.report.comparison_words import ComparisonReport, comparison_facts, comparison_headline
from skilldelta.report.content import Cell, Column, Table, columns
from skilldelta.report.html import Markup, element, small, table_html
from skilldelta.report.numbers import cell, outcome_words, percent, points, shorten
from skilldelta.report.page import document_html, header_html, sentence, verdict_html
from skilldelta.report.palette import role

# Tasks that the page lists, so that it stays small however large the runs are.
MOST_ROWS = 2_000
TEXT_WIDTH = 160


def write_comparison(report: ComparisonReport, path: Path) -> None:
    """Write the page whole or not at all."""
    write_text(path, comparison_page(report), errors="replace")


def comparison_page(report: ComparisonReport) -> str:
    """The page as text; it loads nothing from anywhere."""
    line = comparison_headline(report.comparison)
    evidence = [(fact.title, sentence(fact.text)) for fact in comparison_facts(report)]
    sides = f"A is {report.a}. B is {report.b}. Differences are B minus A, task by task."
    parts = [
        header_html("SkillDelta comparison", report.title, sides),
        verdict_html("Did B do better?", line.text, line.tone, evidence, warnings=report.warnings),
        _drawings(report.comparison),
        _moved(report),
        _left_out(report),
        _made(report),
    ]
    return document_html(report.title, parts, created=report.created)


def _drawings(comparison: PairedComparison) -> Markup:
    return element(
        "section",
        element("h2", "The difference, and how sure"),
        element("figure", _interval_line(comparison), element("figcaption", element("p", _line_words(comparison)))),
        element("h3", "Which way the tasks went"),
        _bar(comparison),
        id="difference",
    )


def _line_words(comparison: PairedComparison) -> str:
    level = percent(comparison.mean.level, 0)
    return (
        f"The dot is the mean difference over {plural(comparison.mean.tasks, 'task')}, the line its {level} interval (bootstrap "
        f"over tasks, repetitions nested). The shaded band is the margin of {points(comparison.margin)[1:]} points on both sides "
        "of zero, within which a difference counts as none."
    )


def _interval_line(comparison: PairedComparison) -> Markup:
    """The difference on an axis in points that has zero in its middle."""
    low, high = comparison.mean.interval.low, comparison.mean.interval.high
    ends = [comparison.mean.mean, comparison.margin, *(end for end in (low, high) if end is not None)]
    scale = _Scale(1.25 * max(map(abs, ends)))
    tone = "help" if comparison.verdict == "better" else "harm" if comparison.verdict == "worse" else "ink-2"
    parts = [
        element("span", class_="band", style=scale.between(-comparison.margin, comparison.margin)),
        element("span", class_="zero", style=scale.at(0.0)),
    ]
    if low is not None and high is not None:
        parts.append(element("span", class_="reach", style=f"{scale.between(low, high)};background:{role(tone)}"))
        parts += [element("span", points(end), class_="end", style=scale.at(end)) for end in (low, high)]
    parts.append(element("span", class_="dot", style=f"{scale.at(comparison.mean.mean)};background:{role(tone)}"))
    return element("div", *parts, class_="interval", role="img", aria_label=comparison_headline(comparison).text)


@dataclass(frozen=True, slots=True)
class _Scale:
    """Differences as positions between the two edges."""

    reach: float

    def percent(self, value: float) -> float:
        return 50 * (1 + value / self.reach)

    def at(self, value: float) -> str:
        return f"left:{self.percent(value):.2f}%"

    def between(self, low: float, high: float) -> str:
        return f"{self.at(low)};width:{self.percent(high) - self.percent(low):.2f}%"


def _bar(comparison: PairedComparison) -> Markup:
    """Better, the same and worse as one stacked bar."""
    counts = (
        (comparison.better, "help", "better"),
        (comparison.same, "tie", "the same"),
        (comparison.worse, "harm", "worse"),
    )
    total = max(1, sum(count for count, _, _ in counts))
    parts = [element("span", style=f"flex-grow:{count};background:{role(tone)}") for count, tone, _ in counts if count]
    legend = [
        element(
            "span",
            element("i", class_="swatch", style=f"background:{role(tone)}"),
            f"{words}: {count} ({percent(count / total, 0)})",
        )
        for count, tone, words in counts
    ]
    return element(
        "div",
        element("div", *parts, class_="votes", aria_hidden="true"),
        element("div", *legend, class_="legend"),
    )


def _moved(report: ComparisonReport) -> Markup:
    tasks = [*report.comparison.flipped("worse"), *report.comparison.flipped("better")]
    if not tasks:
        return element("section", element("h2", "No task moved"), id="moved")
    titles = columns("Task", "Family", "A", "B", "Difference, points", words=2)
    table = Table(
        [*titles, Column("Flipped", numeric=False)],
        [_row(task, report.texts.get(task.task_id, "")) for task in tasks[:MOST_ROWS]],
    )
    more = f" The first {MOST_ROWS:,} of {len(tasks):,} are listed." if len(tasks) > MOST_ROWS else ""
    return element(
        "section",
        element("h2", "The tasks that moved"),
        small(
            f"A task flips when only one side solves it, in more than half of its runs. Click a heading to sort.{more}"
        ),
        table_html(table, css="windowed"),
        id="moved",
        class_="long",
    )


def _row(task: TaskDifference, text: str) -> list[Cell]:
    words = shorten(text, TEXT_WIDTH)
    tone = "good" if task.delta > 0 else "bad"
    return [
        Cell(f"{task.task_id}\n{words}" if words and words != task.task_id else task.task_id),
        Cell(task.family),
        cell(outcome_words(task.a, task.runs_a, task.passed_a), task.a),
        cell(outcome_words(task.b, task.runs_b, task.passed_b), task.b),
        Cell(points(task.delta, 0), task.delta, tone),
        Cell("yes" if task.is_flipped else ""),
    ]


def _left_out(report: ComparisonReport) -> Markup | None:
    if not report.unpaired:
        return None
    items = [element("li", f"{reason}: {', '.join(tasks[:MOST_ROWS])}") for reason, tasks in report.unpaired.items()]
    return element(
        "section",
        element("h2", "Not compared"),
        small("A task that one side lacks is no failure of that side."),
        element("ul", *items, class_="notes"),
        id="unpaired",
    )


def _made(report: ComparisonReport) -> Markup | None:
    if not report.command:
        return None
    return element(
        "section", element("h2", "How it was made"), element("pre", report.command, class_="command"), id="made"
    )
