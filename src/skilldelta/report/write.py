"""Writing a report: panels in, one self-contained HTML file out, and the same plots as images."""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from skilldelta.errors import InputError
from skilldelta.evaluation.results import PanelResult
from skilldelta.files import write_bytes, write_text
from skilldelta.nouns import plural
from skilldelta.report.content import Figure, Table
from skilldelta.report.figures.help_harm import tasks_per_kind
from skilldelta.report.overview import overview
from skilldelta.report.page import Page, Provenance, page_html
from skilldelta.report.panel import PanelReport, panel_content
from skilldelta.report.vega import javascript, png
from skilldelta.support import Support
from skilldelta.version import __version__

_PACKAGES = ("numpy", "scipy", "scikit-learn", "wordllama", "sentence-transformers", "vl-convert-python")


def write_report(
    panels: Sequence[PanelReport | PanelResult],
    path: str | Path,
    *,
    command: str,
    settings: dict[str, str] | None = None,
    hashes: dict[str, str] | None = None,
    created: str = "",
    gate: str | None = None,
    versions: Table | None = None,
) -> Path:
    """Write the report whole or not at all; `gate` names the policy it is about (the blend, else the paper's rule)."""
    page = _page(panels, Provenance(command, settings or {}, hashes or {}, _versions(), created), gate)
    page = replace(page, versions=versions)
    target = Path(path)
    write_text(target, page_html(page, library=javascript()), errors="replace")
    return target


def write_images(
    panels: Sequence[PanelReport | PanelResult], folder: str | Path, *, gate: str | None = None
) -> list[Path]:
    """Every plot as a PNG from the same specification; with several panels, each file name starts with its panel."""
    page = _page(panels, Provenance(""), gate)
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    written = []
    for prefix, figure in _figures_with_prefix(page):
        for plot in figure.plots:
            written.append(place / f"{prefix}{plot.name}.png")
            write_bytes(written[-1], png(plot))
    return written


def _page(panels: Sequence[PanelReport | PanelResult], provenance: Provenance, gate: str | None) -> Page:
    """Everything that the report says, before it is HTML."""
    if not panels:
        raise InputError("a report needs at least one panel; import or collect paired executions first")
    reports = [panel if isinstance(panel, PanelReport) else PanelReport(panel) for panel in panels]
    results = [report.result for report in reports]
    places = [f"panel-{number}" for number in range(1, len(reports) + 1)]
    per_kind = tasks_per_kind(results)
    digests = {f"support of {report.title}": _support_digest(report.result.support) for report in reports}
    return Page(
        title=_title(reports),
        subtitle=_subtitle(results),
        panels=[
            panel_content(report, place=place, gate=gate, per_kind=per_kind)
            for report, place in zip(reports, places, strict=True)
        ],
        provenance=replace(provenance, hashes={**provenance.hashes, **digests}),
        overview=overview(results, places, gate) if len(results) > 1 else None,
    )


def _title(reports: Sequence[PanelReport]) -> str:
    if len(reports) == 1:
        return reports[0].title
    agents, suites = ({getattr(report.result, name) for report in reports} for name in ("agent", "suite"))
    return f"{_name_or_count(agents, 'agent')} on {_name_or_count(suites, 'suite')}"


def _name_or_count(names: set[str], kind: str) -> str:
    return next(iter(names)) if len(names) == 1 else plural(len(names), kind)


def _subtitle(results: Sequence[PanelResult]) -> str:
    tasks, families = sum(panel.tasks for panel in results), sum(panel.families for panel in results)
    return (
        f"{plural(tasks, 'task')} in {plural(families, 'family', 'families')}, each run with and without the skill. "
        "Would choosing, task by task, have been better than always using it?"
    )


def _versions() -> dict[str, str]:
    """SkillDelta, Python and the installed packages that numbers depend on."""
    versions = {"skilldelta": __version__, "Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def _support_digest(support: Support) -> str:
    """SHA-256 of everything in a support that a number depends on: rows, vectors, outcomes, repetitions, tokens."""
    digest = hashlib.sha256()
    for name in ("task_ids", "families", "skills"):
        digest.update("\x1e".join(str(value) for value in getattr(support, name)).encode("utf-8", "surrogatepass"))
        digest.update(b"\x1d")
    for name in ("vectors", "y0", "y1", "r0", "r1", "tokens0", "tokens1"):
        digest.update(getattr(support, name).tobytes())
    return digest.hexdigest()


def _figures_with_prefix(page: Page) -> list[tuple[str, Figure]]:
    figures = [("", page.overview)] if page.overview else []
    for panel in page.panels:
        slug = re.sub(r"[^a-z0-9]+", "-", panel.title.lower()).strip("-") or "panel"
        prefix = f"{slug}-" if len(page.panels) > 1 else ""
        figures += [(prefix, figure) for figure in panel.figures]
    return [(prefix, figure) for prefix, figure in figures if figure is not None]
