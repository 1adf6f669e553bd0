"""One job in a process of its own: it takes no time from decisions, it can be stopped at any moment, its memory goes with it.

Reads what to do from standard input and writes a line of JSON for every step of progress, then one with the result or the
error. Run as `python -m skilldelta.serve.job_process`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skilldelta.bank.store import Bank
from skilldelta.costs import CostRule
from skilldelta.errors import BankError, SkillDeltaError
from skilldelta.estimators.registry import policy_entry
from skilldelta.evaluation.amendments import Exclusion
from skilldelta.evaluation.goals import BestValue, Goal, Margin, TokenBudget, UseRate
from skilldelta.evaluation.scored_policies import check_names
from skilldelta.files import jsonable
from skilldelta.gate import Gate
from skilldelta.redaction import redacted
from skilldelta.studies import (
    EvaluationSettings,
    LoadedPanel,
    PanelChoice,
    StudyProgress,
    bank_encoder,
    calibrate,
    evaluate,
    load_panels,
    report_on,
    sweep_evidence,
    sweep_thresholds,
)
from skilldelta.studies.evaluation_study import evaluation_document
from skilldelta.studies.threshold_studies import calibration_document, evidence_document, threshold_document

# Seconds between two lines of progress.
_AT_MOST_EVERY = 0.1


def main() -> None:
    """Do the one job that standard input describes."""
    order = json.loads(sys.stdin.buffer.read())
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints must not get between the lines

    def tell(line: dict[str, Any]) -> None:
        lines.write(json.dumps(jsonable(line), allow_nan=False) + "\n")
        lines.flush()

    try:
        tell({"result": run_job(order, _told_of(tell))})
    except BankError as error:
        print(redacted(str(error)), file=sys.stderr)
        tell({"error": {"status": 503, "detail": "the bank cannot be used at the moment; the server's log says why"}})
    except SkillDeltaError as error:
        tell({"error": {"status": 422, "detail": redacted(str(error))}})


def run_job(order: dict[str, Any], progress: StudyProgress) -> dict[str, Any]:
    """Run a job and return the document of its kind."""
    kinds: dict[str, Callable[[list[LoadedPanel], dict[str, Any], StudyProgress], dict[str, Any]]] = {
        "evaluate": _evaluated,
        "sweep": _swept,
        "calibrate": _calibrated,
        "report": _reported,
    }
    options = {**order["options"], "report_file": order["report_file"]}
    if options.get("gate"):
        check_names([options["gate"]])
    with Bank.open(order["bank"], create=False) as bank:
        panels = load_panels(
            bank,
            PanelChoice(options["agent"], options["suite"]),
            encoder=bank_encoder(bank, **order["encoder"]),
            exclusions=[Exclusion(task_id, "named in the request") for task_id in options.get("exclude", ())],
            progress=progress,
        )
        return kinds[order["kind"]](panels, options, progress)


def _told_of(tell: Callable[[dict[str, Any]], None]) -> StudyProgress:
    last = 0.0

    def progress(step: str, done: int, total: int | None) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _AT_MOST_EVERY or done == total:
            last = now
            tell({"step": step, "done": done, "total": total})

    return progress


def _evaluated(panels: list[LoadedPanel], options: dict[str, Any], progress: StudyProgress) -> dict[str, Any]:
    return evaluation_document(evaluate(panels, _settings(options), progress=progress))


def _swept(panels: list[LoadedPanel], options: dict[str, Any], progress: StudyProgress) -> dict[str, Any]:
    documents = []
    for done, panel in enumerate(panels):
        progress(f"sweeping {panel.suite}", done, len(panels))
        if options["over"] == "evidence":
            curves = sweep_evidence(panel, at_least=options["at_least"], seed=options["seed"])
            documents.append(evidence_document(panel, curves))
        else:
            gate, control = _gate_and_control(options)
            swept = sweep_thresholds(panel, gate, control=control)
            documents.append(threshold_document(panel, swept, control or gate.estimator))
    return {"sweeps": documents}


def _calibrated(panels: list[LoadedPanel], options: dict[str, Any], progress: StudyProgress) -> dict[str, Any]:
    settings = {name: options[name] for name in ("seed", "resamples")}
    gate, control = _gate_and_control(options)
    goal, estimator = _goal(options), control or gate.estimator
    calibrations = [calibrate(panel, goal, gate, control=control, **settings, progress=progress) for panel in panels]
    return {
        "calibrations": [
            calibration_document(panel, calibration, estimator)
            for panel, calibration in zip(panels, calibrations, strict=True)
        ]
    }


def _reported(panels: list[LoadedPanel], options: dict[str, Any], progress: StudyProgress) -> dict[str, Any]:
    evaluated = evaluate(panels, _settings(options), progress=progress)
    created = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    provenance = {"command": "skilldelta serve: a report job", "created": created, "gate": options["gate"]}
    written = report_on(evaluated, Path(options["report_file"]), **provenance, progress=progress)
    return {"bytes": written.path.stat().st_size}


def _settings(options: dict[str, Any]) -> EvaluationSettings:
    names = ("seed", "resamples", "margin", "shuffles", "refit_intervals")
    gate, holdout = _gate_and_control(options)[0], options.get("holdout", "task")
    return EvaluationSettings(gate, holdout, **{name: options[name] for name in names})


def _gate_and_control(options: dict[str, Any]) -> tuple[Gate, str | None]:
    """The gate that runs with what a job's options change; a policy that cannot decide is a control beside it."""
    settings = {name: options.get(name) for name in ("estimator", "k", "weighting", "scope", "threshold")}
    control = None
    if settings["estimator"] is not None and not policy_entry(settings["estimator"]).predicts_gain:
        control, settings["estimator"] = settings["estimator"], None
    return Gate.from_settings(settings, Gate(**options["running_gate"])), control


def _goal(options: dict[str, Any]) -> Goal:
    if options["use_rate"] is not None:
        return UseRate(options["use_rate"])
    if options["token_budget"] is not None:
        return TokenBudget(options["token_budget"])
    if options["margin"] is not None:
        return Margin(options["margin"])
    if options["price"] is None:
        return BestValue()
    return BestValue(CostRule.from_worth(options["success_worth"], options["price"]).per_token)


if __name__ == "__main__":
    main()
