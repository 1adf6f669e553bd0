"""Accounting: the bill of the toy bank, worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skilldelta.arrays import Vectors
from skilldelta.evaluation.accounting import RoutingCost
from skilldelta.evaluation.results import PanelResult
from skilldelta.evaluation.scored_policies import Scorer
from skilldelta.records import Agent, Condition, Execution
from skilldelta.report.figures.evidence_value import accounting
from skilldelta.report.gathering import gather, measured_routing
from skilldelta.report.panel import panel_content

from .toy_panel import panel_of, support_of

SKIP: Condition = "skip"
USE: Condition = "use"


class ToyBank:
    """The toy panel's executions, and an encoder that sees every question in one place."""

    def executions(self, result: PanelResult) -> list[Execution]:
        agent, found = Agent("toy-agent"), []
        for row, task in enumerate(result.support.task_ids):
            skill = str(result.support.skills[row])
            for condition, success, tokens in ((SKIP, result.support.y0, 100.0), (USE, result.support.y1, 300.0)):
                run = Execution(
                    agent, "toy", str(task), condition, 0, float(success[row]), skill_id=skill, tokens=tokens
                )
                found.append(run)
        return found

    def routing(self, result: PanelResult) -> RoutingCost | None:
        return measured_routing(result.support, Plane())

    def left_out(self, result: PanelResult) -> tuple[str, ...]:
        return ("3 tasks lack an arm",)

    def votes(self, result: PanelResult) -> None:
        return None

    def scorer(self, policy: str) -> Scorer | None:
        return None


class Plane:
    identity = "plane"

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.tile(np.array([1.0, 0.0], np.float32), (len(texts), 1))


def test_the_bank_has_paid_after_its_cost_over_the_saving(panel: PanelResult) -> None:
    # 8 tasks at 100 + 300 tokens cost 3,200. The gate needs 200 a task instead of 300: paid after 32 tasks.
    (report,) = gather([panel], seed=0, source=ToyBank())
    figure = accounting(report.account, "paper")
    assert figure is not None
    text = " ".join(figure.words)
    assert "16 executions" in text
    assert "The bank cost 3,200 tokens. Paper's rule saves 100 tokens per task against always using the skill" in text
    assert "with success 25.0 points higher: the bank has paid for itself after 32 tasks" in text
    assert "Not recorded: seconds and dollars." in text
    assert "finding its neighbors takes" in text
    lines = figure.plots[0].spec["data"]["values"]
    spent = {(line["name"], line["tasks"]): line["spent"] for line in lines}
    assert spent["always_on", 32] == spent["paper", 32] == 9_600
    assert figure.table is not None
    tokens = next(row for row in figure.table.rows if row[0].text == "tokens")
    assert [cell.text for cell in tokens[1:]] == ["3,200", "100", "300", "200", "0", "100", "32"]


def test_a_gate_that_saves_nothing_never_pays() -> None:
    support = support_of()
    harmful = panel_of(support.with_outcomes(np.ones(8), np.zeros(8)), resamples=0)
    (report,) = gather([harmful], seed=0, source=ToyBank())
    figure = accounting(report.account, "paper")
    assert figure is not None
    assert "does not save tokens against never using it, so they are never won back" in " ".join(figure.words)


def test_without_the_banks_executions_there_is_no_account(panel: PanelResult) -> None:
    (report,) = gather([panel], seed=0)
    assert report.account is None
    assert accounting(None, "paper") is None


def test_a_decision_is_timed_and_costs_no_token(panel: PanelResult) -> None:
    cost = measured_routing(panel.support, Plane())
    assert cost is not None
    assert cost.seconds > 0
    assert cost.tokens == 0


def test_what_the_bank_left_out_is_among_the_remarks(panel: PanelResult) -> None:
    (report,) = gather([panel], seed=0, source=ToyBank())
    assert "3 tasks lack an arm" in panel_content(report, place="p", gate=None, per_kind=1).notes
