"""What a command does, as functions: load a bank's panels once, then evaluate, sweep, calibrate, freeze, audit, report.

    from skilldelta import open_bank
    from skilldelta.studies import EvaluationSettings, evaluate, load_panels, report_on

    with open_bank("demo.bank") as bank:
        evaluated = evaluate(load_panels(bank), EvaluationSettings(resamples=1_000))
        report_on(evaluated, "report.html")

The command line adds options, printing and exit codes to these. Nothing here prints or reads the environment; a callback
learns how far a study is. Names are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skilldelta.studies.check_study import (
        CheckedSkill,
        SkillsChecked,
        bank_gains,
        check_junit,
        check_markdown,
        check_skills,
        checked_to_dict,
        compared_gains,
        recorded_gains,
        recorded_notes,
    )
    from skilldelta.studies.compared_side import (
        ArmChoice,
        ComparedSide,
        RecordedRuns,
        bank_runs,
        both_arms,
        one_side,
        read_runs,
    )
    from skilldelta.studies.comparison_study import (
        ComparedSides,
        ComparisonSettings,
        compare_sides,
        compared_to_dict,
        comparison_report,
    )
    from skilldelta.studies.evaluation_study import Evaluated, EvaluatedPanel, EvaluationSettings, evaluate
    from skilldelta.studies.gain_baseline import SkillGains, read_baseline, write_baseline
    from skilldelta.studies.loaded_panel import (
        LoadedPanel,
        PanelChoice,
        StudyProgress,
        bank_encoder,
        load_panel,
        load_panels,
    )
    from skilldelta.studies.record_lists import TargetTask, read_corrections, read_exclusions, read_targets
    from skilldelta.studies.report_study import WrittenReport, report_on
    from skilldelta.studies.sealed_study import Audited, audit_sealed, freeze_targets
    from skilldelta.studies.skill_study import JudgedPanel, SkillSettings, judge_skills, judged_to_dict
    from skilldelta.studies.threshold_studies import calibrate, sweep_evidence, sweep_thresholds

__all__ = [
    "ArmChoice",
    "Audited",
    "CheckedSkill",
    "ComparedSide",
    "ComparedSides",
    "ComparisonSettings",
    "Evaluated",
    "EvaluatedPanel",
    "EvaluationSettings",
    "JudgedPanel",
    "LoadedPanel",
    "PanelChoice",
    "RecordedRuns",
    "SkillGains",
    "SkillSettings",
    "SkillsChecked",
    "StudyProgress",
    "TargetTask",
    "WrittenReport",
    "audit_sealed",
    "bank_encoder",
    "bank_gains",
    "bank_runs",
    "both_arms",
    "calibrate",
    "check_junit",
    "check_markdown",
    "check_skills",
    "checked_to_dict",
    "compare_sides",
    "compared_gains",
    "compared_to_dict",
    "comparison_report",
    "evaluate",
    "freeze_targets",
    "judge_skills",
    "judged_to_dict",
    "load_panel",
    "load_panels",
    "one_side",
    "read_baseline",
    "read_corrections",
    "read_exclusions",
    "read_runs",
    "read_targets",
    "recorded_gains",
    "recorded_notes",
    "report_on",
    "sweep_evidence",
    "sweep_thresholds",
    "write_baseline",
]

_HOMES = {
    "gain_baseline": ("SkillGains", "read_baseline", "write_baseline"),
    "check_study": (
        "CheckedSkill",
        "SkillsChecked",
        "bank_gains",
        "check_junit",
        "check_markdown",
        "check_skills",
        "checked_to_dict",
        "compared_gains",
        "recorded_gains",
        "recorded_notes",
    ),
    "compared_side": (
        "ArmChoice",
        "ComparedSide",
        "RecordedRuns",
        "bank_runs",
        "both_arms",
        "one_side",
        "read_runs",
    ),
    "comparison_study": (
        "ComparedSides",
        "ComparisonSettings",
        "compare_sides",
        "compared_to_dict",
        "comparison_report",
    ),
    "evaluation_study": ("Evaluated", "EvaluatedPanel", "EvaluationSettings", "evaluate"),
    "loaded_panel": ("LoadedPanel", "PanelChoice", "StudyProgress", "bank_encoder", "load_panel", "load_panels"),
    "record_lists": ("TargetTask", "read_corrections", "read_exclusions", "read_targets"),
    "report_study": ("WrittenReport", "report_on"),
    "sealed_study": ("Audited", "audit_sealed", "freeze_targets"),
    "skill_study": ("JudgedPanel", "SkillSettings", "judge_skills", "judged_to_dict"),
    "threshold_studies": ("calibrate", "sweep_evidence", "sweep_thresholds"),
}


# Names that moved to skilldelta.paper, which this package does not need; the old place still finds them.
_MOVED = ("PaperTable", "paper_tables", "tables_document", "tables_markdown")


def __getattr__(name: str) -> Any:
    if name in _MOVED:
        return getattr(import_module("skilldelta.paper"), name)
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"skilldelta.studies.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
