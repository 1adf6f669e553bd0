"""The toy panel, evaluated once for all tests of the report."""

from __future__ import annotations

import pytest

from skilldelta.evaluation.results import PanelResult

from .toy_panel import panel_of, support_of


@pytest.fixture(scope="session")
def panel() -> PanelResult:
    """The toy panel with intervals."""
    return panel_of(support_of())
