"""A comparison of two runs in words: the verdict in one line, then the facts behind it, the same in every output.

As Markdown it is what a pull request shows at a glance, with the flipped tasks behind a click.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skilldelta.evaluation.accounting import Unit
from skilldelta.evaluation.paired_comparison import (
    Outcome,
    PairedComparison,
    SolvedSpending,
    SolvedTable,
    TaskDifference,
)
from skilldelta.nouns import plural
from skilldelta.report.markdown import code, details, pipe_table, plain
from skilldelta.report.numbers import outcome_words, percent, points, size, spread
from skilldelta.report.verdict import Headline, settling

# Tasks listed for each direction; a comment has to stay readable, and hosts bound its size.
MOST_TASKS = 50
_UNITS: Mapping[Unit, str] = {"tokens": "Tokens", "seconds": "Seconds", "usd": "Cost"}


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """Everything that a page, a comment or a terminal says about a comparison."""

    a: str
    b: str
    comparison: PairedComparison
    unpaired: Mapping[str, Sequence[str]]
    """The tasks left out, by reason."""
    uncounted_a: Mapping[str, int]
    uncounted_b: Mapping[str, int]
    warnings: Sequence[str] = ()
    command: str = ""
    created: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    """Of the tasks, by the id that the comparison has for them, as far as they are known."""

    @property
    def title(self) -> str:
        """Who is compared with whom."""
        return f"{self.b} against {self.a}"


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of evidence."""

    title: str
    text: str


def comparison_headline(comparison: PairedComparison) -> Headline:
    """The verdict that the interval allows, then the difference and the interval."""
    mean = comparison.mean
    interval = spread(mean.interval, as_points=True)
    numbers = f"{points(mean.mean)} points{f' ({percent(mean.level, 0)}: {interval})' if interval else ''}"
    over = f"over {plural(mean.tasks, 'task')}"
    if comparison.verdict == "better":
        return Headline("yes", f"B is better: {numbers} {over}.")
    if comparison.verdict == "worse":
        return Headline("no", f"B is worse: {numbers} {over}.")
    if comparison.verdict == "equivalent":
        return Headline("open", f"No difference: {numbers} {over}, within the margin of {size(comparison.margin)}.")
    more = settling(comparison.more_tasks)
    also = f" {more[:1].upper()}{more[1:]}." if interval else ""
    return Headline("open", f"Not enough evidence: {numbers} {over}.{also}")


def comparison_facts(report: ComparisonReport) -> list[Fact]:
    """The evidence, line by line; what is not known is left out."""
    comparison = report.comparison
    facts = [
        Fact("Success", f"A {percent(comparison.a)}, B {percent(comparison.b)}"),
        Fact(
            "Tasks",
            f"{comparison.better} better, {comparison.worse} worse, {comparison.same} the same; sign test "
            f"{_on_equal_runs(comparison.votes != (comparison.better, comparison.worse), comparison.votes)}{p_words(comparison.sign_test_p)}",
        ),
        Fact(
            "Solved",
            f"{comparison.solved.both} by both, {comparison.solved.only_b} only by B, {comparison.solved.only_a} only by A, "
            f"{comparison.solved.neither} by neither; McNemar "
            f"{_on_equal_runs(comparison.solved_alike != comparison.solved, _only(comparison.solved_alike))}{p_words(comparison.solved_alike.p)}",
        ),
    ]
    if comparison.mean.detectable is not None:
        facts.append(
            Fact("Power", f"{size(comparison.mean.detectable)} or more would be found in 80 of 100 such studies")
        )
    facts.append(Fact("Noise floor", comparison.noise.sentence))
    facts += [Fact(_UNITS[spending.unit], _spent(spending, comparison.mean.level)) for spending in comparison.spending]
    facts += [Fact("Unpaired", f"{plural(len(tasks), 'task')}: {reason}") for reason, tasks in report.unpaired.items()]
    counts = (("A", report.uncounted_a), ("B", report.uncounted_b))
    lost = [
        f"{side} {plural(count, 'run')} ({status})"
        for side, comparison in counts
        for status, count in comparison.items()
    ]
    if lost:
        facts.append(Fact("Not counted", ", ".join(lost)))
    return facts


def _on_equal_runs(is_needed: bool, votes: tuple[int, int]) -> str:
    """The votes that a test counts, where they are not the tasks: the arms have unequally many runs."""
    return f"on as many runs of each side ({votes[0]} for B, {votes[1]} for A) " if is_needed else ""


def _only(solved: SolvedTable) -> tuple[int, int]:
    return solved.only_b, solved.only_a


def p_words(p: float) -> str:
    """`p = 0.031`, or `p < 0.001`."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}" if p < 0.1 else f"p = {p:.2f}"


def _spent(spending: SolvedSpending, level: float) -> str:
    amounts = " to ".join(_amount(spending.unit, value) for value in (spending.a, spending.b))
    interval = spending.ratio_interval
    ends = "" if interval.low is None or interval.high is None else f"{_times(interval.low)} to {_times(interval.high)}"
    certainty = f" ({percent(level, 0)}: {ends})" if ends else ""
    ratio = "" if spending.ratio is None else f", {_times(spending.ratio)}×{certainty}"
    return f"{amounts} per run{ratio}, over {plural(spending.tasks, 'task')} that both solve"


def _times(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.3g}"


def _amount(unit: Unit, value: float) -> str:
    if unit == "tokens":
        return f"{value:,.0f}"
    return f"${value:.4g}" if unit == "usd" else f"{value:,.1f}"


def comparison_markdown(report: ComparisonReport) -> str:
    """The verdict, the facts, the flipped tasks by name."""
    comparison = report.comparison
    parts = [
        f"### {plain(comparison_headline(comparison).text)}\n",
        f"A is {code(report.a)}, B is {code(report.b)}.\n",
        *(f"> **Note:** {plain(warning)}\n" for warning in report.warnings),
        pipe_table(("", ""), [(fact.title, plain(fact.text)) for fact in comparison_facts(report)], left=2),
    ]
    titles: tuple[tuple[Outcome, str], ...] = (("worse", "worse with B"), ("better", "better with B"))
    for outcome, title in titles:
        tasks = comparison.flipped(outcome)
        if tasks:
            parts.append(details(f"{plural(len(tasks), 'task')} {title}", _tasks(tasks)))
    if report.unpaired:
        listed = [
            f"- {plain(reason)}: {', '.join(map(code, tasks[:MOST_TASKS]))}{_more(len(tasks))}"
            for reason, tasks in report.unpaired.items()
        ]
        parts.append(details("Tasks that are not compared", "\n".join(listed) + "\n"))
    return "\n".join(parts)


def _tasks(tasks: Sequence[TaskDifference]) -> str:
    rows = [
        (
            code(task.task_id),
            outcome_words(task.a, task.runs_a, task.passed_a),
            outcome_words(task.b, task.runs_b, task.passed_b),
            points(task.delta, 0),
            "flipped" if task.is_flipped else "",
        )
        for task in tasks[:MOST_TASKS]
    ]
    return pipe_table(("task", "A", "B", "points", ""), rows) + _more(len(tasks))


def _more(tasks: int) -> str:
    return f"\nand {tasks - MOST_TASKS} more.\n" if tasks > MOST_TASKS else ""
