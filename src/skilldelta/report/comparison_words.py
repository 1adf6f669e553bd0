"""A comparison of two runs in words: the verdict in one line, then the facts behind it, the same in every output.

As Markdown it is what a pull request shows at a glance, with the flipped tasks behind a click.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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

MOST_TASKS = 50
"""Tasks listed for each direction; a comment has to stay readable, and hosts bound its size."""
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

    @property
    def title(self) -> str:
        """Who is compared with whom."""
        return f"{self.b} against {self.a}"


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of evidence."""

    title: str
    text: str


def comparison_headline(found: PairedComparison) -> Headline:
    """The verdict that the interval allows, then the difference and the interval."""
    mean = found.mean
    interval = spread(mean.interval, as_points=True)
    numbers = f"{points(mean.mean)} points{f' ({percent(mean.level, 0)}: {interval})' if interval else ''}"
    over = f"over {plural(mean.tasks, 'task')}"
    if found.verdict == "better":
        return Headline("yes", f"B is better: {numbers} {over}.")
    if found.verdict == "worse":
        return Headline("no", f"B is worse: {numbers} {over}.")
    if found.verdict == "equivalent":
        return Headline("open", f"No difference: {numbers} {over}, within the margin of {size(found.margin)}.")
    more = settling(found.more_tasks)
    also = f" {more[:1].upper()}{more[1:]}." if interval else ""
    return Headline("open", f"Not enough evidence: {numbers} {over}.{also}")


def comparison_facts(report: ComparisonReport) -> list[Fact]:
    """The evidence, line by line; what is not known is left out."""
    found = report.comparison
    facts = [
        Fact("Success", f"A {percent(found.a)}, B {percent(found.b)}"),
        Fact(
            "Tasks",
            f"{found.better} better, {found.worse} worse, {found.same} the same; sign test "
            f"{_on_equal_runs(found.votes != (found.better, found.worse), found.votes)}{p_words(found.sign_test_p)}",
        ),
        Fact(
            "Solved",
            f"{found.solved.both} by both, {found.solved.only_b} only by B, {found.solved.only_a} only by A, "
            f"{found.solved.neither} by neither; McNemar "
            f"{_on_equal_runs(found.solved_alike != found.solved, _only(found.solved_alike))}{p_words(found.solved_alike.p)}",
        ),
    ]
    if found.mean.detectable is not None:
        facts.append(Fact("Power", f"{size(found.mean.detectable)} or more would be found in 80 of 100 such studies"))
    facts.append(Fact("Noise floor", found.noise.sentence))
    facts += [Fact(_UNITS[one.unit], _spent(one, found.mean.level)) for one in found.spending]
    facts += [Fact("Unpaired", f"{plural(len(tasks), 'task')}: {reason}") for reason, tasks in report.unpaired.items()]
    counts = (("A", report.uncounted_a), ("B", report.uncounted_b))
    lost = [f"{side} {plural(count, 'run')} ({status})" for side, found in counts for status, count in found.items()]
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


def _spent(one: SolvedSpending, level: float) -> str:
    amounts = " to ".join(_amount(one.unit, value) for value in (one.a, one.b))
    interval = one.ratio_interval
    ends = "" if interval.low is None or interval.high is None else f"{_times(interval.low)} to {_times(interval.high)}"
    certainty = f" ({percent(level, 0)}: {ends})" if ends else ""
    ratio = "" if one.ratio is None else f", {_times(one.ratio)}×{certainty}"
    return f"{amounts} per run{ratio}, over {plural(one.tasks, 'task')} that both solve"


def _times(ratio: float) -> str:
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.3g}"


def _amount(unit: Unit, value: float) -> str:
    if unit == "tokens":
        return f"{value:,.0f}"
    return f"${value:.4g}" if unit == "usd" else f"{value:,.1f}"


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
        listed = [
            f"- {plain(reason)}: {', '.join(map(code, tasks[:MOST_TASKS]))}{_more(len(tasks))}"
            for reason, tasks in report.unpaired.items()
        ]
        parts.append(details("Tasks that are not compared", "\n".join(listed) + "\n"))
    return "\n".join(parts)


def _tasks(tasks: Sequence[TaskDifference]) -> str:
    rows = [
        (
            code(one.task_id),
            outcome_words(one.a, one.runs_a, one.passed_a),
            outcome_words(one.b, one.runs_b, one.passed_b),
            points(one.delta, 0),
            "flipped" if one.is_flipped else "",
        )
        for one in tasks[:MOST_TASKS]
    ]
    return pipe_table(("task", "A", "B", "points", ""), rows) + _more(len(tasks))


def _more(tasks: int) -> str:
    return f"\nand {tasks - MOST_TASKS} more.\n" if tasks > MOST_TASKS else ""
