"""The toy panel, evaluated once for all tests of the report."""

from __future__ import annotations

import pytest

from skilldelta.evaluation.results import PanelResult

from .toy_panel import panel_of, support_of


@pytest.fixture(scope="session")
def panel() -> PanelResult:
    """The toy panel with intervals."""
    return panel_of(support_of())


@pytest.fixture(autouse=True)
def eight_tasks_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy panel is small enough to check by hand, and reports show no AUROC below 30 tasks."""
    for module in ("figures.score_quality", "overview", "panel"):
        monkeypatch.setattr(f"skilldelta.report.{module}.FEWEST_FOR_AUROC", 2)
