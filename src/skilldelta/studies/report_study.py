"""The report on an evaluation: figures, tables and accounts from what was loaded once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skilldelta.arrays import Floats
from skilldelta.evaluation.accounting import RoutingCost
from skilldelta.evaluation.results import PanelResult
from skilldelta.evaluation.scored_policies import Scorer
from skilldelta.records import Execution
from skilldelta.report.gathering import gather, measured_routing
from skilldelta.report.panel import PanelReport
from skilldelta.report.write import write_images, write_report
from skilldelta.studies.evaluation_study import Evaluated, plan_of, scorer_of
from skilldelta.studies.loaded_panel import LoadedPanel, StudyProgress, step_of
from skilldelta.studies.skill_study import task_votes
from skilldelta.studies.status_quo_study import in_harness_words
from skilldelta.studies.version_history import VersionGain, history_table


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """Where a report stands."""

    path: Path
    images: tuple[Path, ...] = ()


def report_on(
    evaluated: Evaluated,
    path: str | Path,
    *,
    command: str = "",
    created: str = "",
    gate: str | None = None,
    images: str | Path | None = None,
    history: Sequence[VersionGain] = (),
    progress: StudyProgress | None = None,
) -> WrittenReport:
    """Write one HTML file on an evaluation.

    With imported vectors the bank must still be open: timing one decision asks it for them.

    Parameters:
        evaluated: From `evaluate`.
        path: The file.
        command: Printed under "how it was made".
        created: The time, printed there too.
        gate: The policy that the summary is about; None is the gate of the evaluation.
        images: A folder for the figures; None writes none.
        history: What each version of a skill gained, from `version_history`; skills with one version are left out.
        progress: Called with a step, how much of it is done, and of how much.

    Returns:
        The paths that were written.

    Examples:
        >>> report_on(evaluated, folder / "report.html", command="python study.py").path.name
        'report.html'
    """
    panels = panel_reports(evaluated, gate=gate, progress=progress)
    settings = report_settings(evaluated)
    versions = history_table(history)
    written = write_report(
        panels, path, command=command, settings=settings, created=created, gate=gate, versions=versions
    )
    return WrittenReport(written, tuple(write_images(panels, images, gate=gate)) if images else ())


def panel_reports(
    evaluated: Evaluated, *, gate: str | None = None, progress: StudyProgress | None = None
) -> list[PanelReport]:
    """The panels with what a report shows besides the evaluation: evidence curves, chances, accounts, what was left out."""
    return gather(
        evaluated.results,
        seed=evaluated.settings.seed,
        scope=plan_of(evaluated).scope,
        gate=gate,
        source=_Source(evaluated),
        progress=step_of(progress, "evidence curves"),
    )


class _Source:
    """What was loaded with an evaluated panel."""

    def __init__(self, evaluated: Evaluated) -> None:
        self._panels = {(item.result.agent, item.result.suite): item.panel for item in evaluated.panels}
        self._in_harness = {(item.result.agent, item.result.suite): item.in_harness for item in evaluated.panels}
        self._plan = plan_of(evaluated)

    def executions(self, result: PanelResult) -> Sequence[Execution]:
        return self._panel(result).executions

    def routing(self, result: PanelResult) -> RoutingCost | None:
        return measured_routing(result.support, self._panel(result).encoder)

    def left_out(self, result: PanelResult) -> tuple[str, ...]:
        measured = self._in_harness[result.agent, result.suite]
        words = in_harness_words(measured) if measured is not None else []
        return (*(f"{sentence[0].upper()}{sentence[1:]}." for sentence in words), *self._panel(result).notes)

    def votes(self, result: PanelResult) -> Floats:
        return task_votes(self._panel(result))

    def scorer(self, policy: str) -> Scorer:
        return scorer_of(policy, self._plan)

    def _panel(self, result: PanelResult) -> LoadedPanel:
        return self._panels[result.agent, result.suite]


def report_settings(evaluated: Evaluated) -> dict[str, str]:
    """The settings that numbers depend on, as they were used."""
    gate, encoders = evaluated.settings.gate, {item.panel.encoder.identity for item in evaluated.panels}
    return {
        "encoder": ", ".join(sorted(encoders)),
        "gate": ", ".join(f"{name} {value}" for name, value in gate.changed.items()) or "default",
        "neighbors (k)": str(gate.k),
        "scope": plan_of(evaluated).scope,
        "weights": gate.weighting,
        "threshold": f"{gate.threshold:g}",
        "seed": str(evaluated.settings.seed),
        "bootstrap draws": f"{evaluated.settings.resamples:,}",
    }
