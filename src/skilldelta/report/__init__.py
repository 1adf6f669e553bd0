"""The report: one self-contained HTML file with figures, tables and plain words, and the same figures as images.

Names are imported when they are first used: a service takes the report's style without its figures.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skilldelta.report.gathering import PanelSource, gather
    from skilldelta.report.panel import PanelReport
    from skilldelta.report.vega import require_plots
    from skilldelta.report.write import write_images, write_report

__all__ = ["PanelReport", "PanelSource", "gather", "require_plots", "write_images", "write_report"]

_HOMES = {
    "PanelSource": "gathering",
    "gather": "gathering",
    "PanelReport": "panel",
    "require_plots": "vega",
    "write_images": "write",
    "write_report": "write",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"skilldelta.report.{_HOMES[name]}"), name)
