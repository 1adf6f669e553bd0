"""Studies as JSON documents: what `--json` prints and what the jobs of the service return."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from skilldelta.evaluation.calibration import Calibration
from skilldelta.evaluation.comparison import default_gate, gate_comparison
from skilldelta.evaluation.evidence_scaling import EvidenceCurve, EvidenceCurves
from skilldelta.evaluation.results import means_to_dict, panel_to_dict
from skilldelta.evaluation.sweeps import ThresholdSweep
from skilldelta.report.verdict import gate_headline
from skilldelta.studies.evaluation_study import Evaluated, EvaluatedPanel
from skilldelta.studies.loaded_panel import LoadedPanel

_HELD_OUT = (
    "success",
    "use_rate",
    "tokens",
    "value",
    "success_vs_always_on",
    "success_vs_always_off",
    "met",
    "coverage",
)


def evaluation_document(evaluated: Evaluated) -> dict[str, Any]:
    """The document of `evaluate --json`."""
    panels = [_panel_document(one) for one in evaluated.panels]
    return {"panels": panels, "means": means_to_dict(evaluated.means)}


def threshold_document(panel: LoadedPanel, swept: ThresholdSweep, estimator: str) -> dict[str, Any]:
    """One panel of `sweep threshold --json`."""
    return {
        "agent": panel.support.agent,
        "suite": panel.suite,
        "estimator": estimator,
        "default": swept.default,
        "best": swept.best,
        "points": [asdict(point) for point in swept.points()],
    }


def evidence_document(panel: LoadedPanel, found: EvidenceCurves) -> dict[str, Any]:
    """One panel of `sweep evidence --json`."""
    return {
        "agent": panel.support.agent,
        "suite": panel.suite,
        "curves": [_curve(curve) for curve in found.curves],
        "missing": found.missing,
    }


def calibration_document(panel: LoadedPanel, found: Calibration, estimator: str) -> dict[str, Any]:
    """One panel of `calibrate --json`."""
    held = found.held_out
    return {
        "agent": panel.support.agent,
        "suite": panel.suite,
        "estimator": estimator,
        "goal": found.goal.words,
        "threshold": found.threshold,
        "hindsight": asdict(found.hindsight),
        "held_out": {
            **{name: getattr(held, name) for name in _HELD_OUT},
            "intervals": {name: asdict(interval) for name, interval in held.intervals.items()},
            "thresholds": sorted(set(held.thresholds.tolist())),
        },
        "always_on": found.always_on,
        "always_off": found.always_off,
        "pairs": found.rows,
        "wrong": [asdict(case) for case in held.wrong],
        "notes": [*panel.notes, *found.notes],
    }


def _panel_document(one: EvaluatedPanel) -> dict[str, Any]:
    verdict, own = gate_comparison(one.result), one.result.policies.get(default_gate(one.result))
    document = {
        **panel_to_dict(one.result),
        "noise_floor": asdict(one.panel.noise),
        "verdict": None if verdict is None else asdict(verdict),
        "headline": asdict(gate_headline(one.result, own)) if own is not None else None,
        "excluded": [asdict(task) for task in one.panel.excluded],
        "corrected": [asdict(record) for record in one.panel.corrected],
        "risk_coverage": [asdict(point) for point in one.risk],
    }
    for name, ranges in one.refitted.items():
        found = {metric: asdict(interval) for metric, interval in ranges.items()}
        document["policies"][name]["refitted_intervals"] = found
    return document


def _curve(curve: EvidenceCurve) -> dict[str, Any]:
    return {
        "axis": curve.axis,
        "amounts": curve.amounts,
        "gain_mae": curve.mae,
        "spread": curve.spread,
        "targets": curve.targets,
        "left_out": list(curve.left_out),
    }
