"""SkillDelta: will this skill make the agent more likely to succeed at this task?

Start with `advise(text, skill, bank=...)` for one answer, an `Advisor` for many, `SkillGainRegressor` for arrays and data
frames without a bank. `load_panels` and then `evaluate`, `sweep_thresholds`, `calibrate` and `report_on` tell what a gate
would have bought; `evaluate_panel` tells it of arrays.

The public names are loaded when they are used, so that importing the package costs nothing.
"""

from __future__ import annotations

from skilldelta.version import __version__

TYPE_CHECKING = False  # as `typing` has it; every hook of an agent harness would wait for its import
if TYPE_CHECKING:
    from typing import Any

    from skilldelta.advisor import Advisor, advise
    from skilldelta.bank.store import Bank, open_bank
    from skilldelta.encoders import load_encoder
    from skilldelta.errors import SkillDeltaError
    from skilldelta.evaluation.leave_one_out import evaluate_panel
    from skilldelta.gate import Answer, Gate, Question, decide
    from skilldelta.predictor import Settings, predict, predict_each
    from skilldelta.regressor import SkillGainRegressor
    from skilldelta.studies import (
        EvaluationSettings,
        PanelChoice,
        calibrate,
        evaluate,
        load_panels,
        report_on,
        sweep_thresholds,
    )
    from skilldelta.support import Support

_HOMES = {
    "Answer": "gate",
    "Advisor": "advisor",
    "Bank": "bank.store",
    "EvaluationSettings": "studies.evaluation_study",
    "Gate": "gate",
    "PanelChoice": "studies.loaded_panel",
    "Question": "gate",
    "Settings": "predictor",
    "SkillDeltaError": "errors",
    "SkillGainRegressor": "regressor",
    "Support": "support",
    "advise": "advisor",
    "calibrate": "studies.threshold_studies",
    "decide": "gate",
    "evaluate": "studies.evaluation_study",
    "evaluate_panel": "evaluation.leave_one_out",
    "load_encoder": "encoders",
    "load_panels": "studies.loaded_panel",
    "open_bank": "bank.store",
    "predict": "predictor",
    "predict_each": "predictor",
    "report_on": "studies.report_study",
    "sweep_thresholds": "studies.threshold_studies",
}

__all__ = [
    "Advisor",
    "Answer",
    "Bank",
    "EvaluationSettings",
    "Gate",
    "PanelChoice",
    "Question",
    "Settings",
    "SkillDeltaError",
    "SkillGainRegressor",
    "Support",
    "__version__",
    "advise",
    "calibrate",
    "decide",
    "evaluate",
    "evaluate_panel",
    "load_encoder",
    "load_panels",
    "open_bank",
    "predict",
    "predict_each",
    "report_on",
    "sweep_thresholds",
]


_OLD_NAMES = {"Advice": "Answer", "Policy": "Gate"}


def __getattr__(name: str) -> Any:
    name = _OLD_NAMES.get(name, name)
    if name not in _HOMES:
        raise AttributeError(f"module 'skilldelta' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"skilldelta.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
