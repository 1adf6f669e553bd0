"""The policy table: numbers that can be worked out by hand."""

from __future__ import annotations

import pytest

from skilldelta.evaluation.results import PanelResult
from skilldelta.report.figures.score_quality import ranking
from skilldelta.report.panel import COLUMNS, policy_table

from .toy_panel import panel_of, support_of


def _cells(panel: PanelResult, policy: str) -> dict[str, str]:
    row = next(row for row in policy_table(panel).rows if row[0].text.split("\n")[0] == policy)
    return {column.title: cell.text.split("\n")[0] for column, cell in zip(COLUMNS, row, strict=True)}


def test_constant_policies_have_the_success_and_tokens_of_their_arm(panel: PanelResult) -> None:
    off, on = _cells(panel, "Always off"), _cells(panel, "Always on")
    assert (off["Success"], off["Use rate"], off["Tokens"], off["Tokens saved"]) == ("62.5%", "0.0%", "100", "66.7%")
    assert (on["Success"], on["vs always on"], on["Tokens"], on["Tokens saved"]) == ("75.0%", "+0.0", "300", "0.0%")


def test_a_constant_policy_compared_with_itself_has_no_interval(panel: PanelResult) -> None:
    row = next(row for row in policy_table(panel).rows if row[0].text == "Always on")
    assert row[2].text == "+0.0"


def test_the_gate_uses_the_skill_in_the_family_that_it_helps(panel: PanelResult) -> None:
    # All four sums are used (4 solved), no name is (4 solved): 8 of 8, half the uses, a third of the tokens saved.
    own = _cells(panel, "Paper's rule")
    assert (own["Success"], own["vs always on"], own["Use rate"]) == ("100.0%", "+25.0", "50.0%")
    assert (own["Tokens"], own["Tokens saved"]) == ("200", "33.3%")


def test_the_oracle_is_the_better_arm_of_every_task(panel: PanelResult) -> None:
    assert _cells(panel, "Oracle")["Success"] == "100.0%"


def test_unknown_tokens_are_dashes_and_never_zero() -> None:
    own = _cells(panel_of(support_of(tokens=False), resamples=0), "Paper's rule")
    assert (own["Tokens"], own["Tokens saved"]) == ("–", "–")


def test_unknown_values_have_no_number_to_sort_by(panel: PanelResult) -> None:
    always_on = next(row for row in policy_table(panel).rows if row[0].text == "Always on")
    auroc = [column.title for column in COLUMNS].index("AUROC")
    assert always_on[auroc].value is None


def test_no_auroc_is_shown_of_fewer_than_thirty_tasks(panel: PanelResult, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("figures.score_quality", "panel"):
        monkeypatch.setattr(f"skilldelta.report.{module}.FEWEST_FOR_AUROC", 30)
    column = [one.title for one in COLUMNS].index("AUROC")
    assert {row[column].text for row in policy_table(panel).rows} == {"–"}
    figure = ranking(panel, "blend")
    assert figure.plots == ()
    assert figure.table is None
    assert figure.words == ["AUROC is not shown for 8 tasks: below 30 it says more about chance than about the scores."]
