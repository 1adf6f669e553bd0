"""The policy table: every policy of a panel with its success, use rate, tokens and errors, one row each."""

from __future__ import annotations

from skilldelta.evaluation.policy_table import ORACLE, policies, policy_words
from skilldelta.evaluation.results import PanelResult, PolicyResult, Range
from skilldelta.nouns import plural
from skilldelta.report.content import Cell, Column, Table
from skilldelta.report.numbers import cell, count, decimal, percent, percent_spread, points, spread

COLUMNS = (
    Column("Policy", numeric=False),
    Column("Success", meaning="share of tasks solved under the policy's choices"),
    Column("vs always on", meaning="difference of success to always using the skill, in points"),
    Column("Use rate", meaning="share of tasks on which the skill is used"),
    Column("Tokens", meaning="mean tokens of a task, a router call included"),
    Column("Tokens saved", meaning="share of always-on's tokens not spent"),
    Column("AUROC", meaning="chance that a helped task is scored above one that is not"),
    Column("Balanced accuracy", meaning="mean of the shares decided rightly among helped and not-helped tasks"),
    Column("Gain error", meaning="mean absolute error of the predicted gain"),
)


def policy_table(panel: PanelResult) -> Table:
    """One row per policy in the order of the evaluation, then the oracle; intervals stand below their number."""
    rows = [_row(panel, policy) for policy in panel.policies.values()]
    oracle = [Cell("Oracle"), cell(percent(panel.oracle), panel.oracle)]
    vs_on = panel.oracle - panel.on
    oracle += [cell(points(vs_on), vs_on), *[Cell("–")] * (len(COLUMNS) - 3)]
    return Table(COLUMNS, [*rows, oracle])


def meanings(panel: PanelResult) -> list[tuple[str, str]]:
    """What each evaluated policy does, in words."""
    names = [*panel.policies, "oracle"]
    known = {**policies(), ORACLE.name: ORACLE}
    return [(known[name].title, known[name].meaning) for name in names if name in known]


def _row(panel: PanelResult, policy: PolicyResult) -> list[Cell]:
    # A policy judged on its own test split is compared with always-on on that split.
    rows = policy.rows
    split = (
        ""
        if len(rows) == panel.pairs
        else f"\non {plural(len(rows), 'test pair')}, always on {percent(policy.always_on)}"
    )
    return [
        Cell(policy_words(policy.name) + split, tone=policy.name),
        _with(percent(policy.success), percent_spread(_open(policy, "success")), policy.success),
        _with(
            points(policy.success_vs_always_on),
            spread(_open(policy, "success_vs_always_on"), as_points=True),
            policy.success_vs_always_on,
        ),
        cell(percent(policy.use_rate), policy.use_rate),
        cell(count(policy.tokens), policy.tokens),
        _with(percent(policy.token_saving), percent_spread(_open(policy, "token_saving")), policy.token_saving),
        _with(decimal(policy.auroc), spread(policy.intervals.get("auroc")), policy.auroc),
        cell(percent(policy.balanced_accuracy), policy.balanced_accuracy),
        cell(decimal(policy.gain_mae), policy.gain_mae),
    ]


def _open(policy: PolicyResult, metric: str) -> Range | None:
    """The interval, unless it is a point: a constant policy compared with itself has nothing uncertain."""
    found = policy.intervals.get(metric)
    return None if found is None or found.low == found.high else found


def _with(text: str, interval: str, value: float | None) -> Cell:
    """A number with its interval on a second line."""
    return cell(f"{text}\n{interval}" if interval else text, value)
