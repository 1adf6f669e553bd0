"""The report: one self-contained HTML file with figures, tables and plain words, and the same figures as images."""

from skilldelta.report.gather import PanelSource, gather
from skilldelta.report.panel import PanelReport
from skilldelta.report.vega import require_plots
from skilldelta.report.write import write_images, write_report

__all__ = ["PanelReport", "PanelSource", "gather", "require_plots", "write_images", "write_report"]
