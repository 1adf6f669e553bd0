"""Attacks on the graders that run an agent's code: the corpora of cheats in tests/suites."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from attacks.attack import Tries, attack
from skilldelta.collect.graders.base import Graded


def needs_bubblewrap() -> str:
    """Why there is no sandbox here."""
    return "" if sys.platform == "linux" and shutil.which("bwrap") else "bubblewrap is not installed"


def _caught(grades: dict[str, Graded]) -> Tries:
    for name, grade in grades.items():
        yield f"{name}: counted as a success" if grade.success else ""
    return f"{sum(not grade.success for grade in grades.values())} of {len(grades)} caught"


@attack(
    "graders",
    "code that forges the verdict of its unit tests, by two authors",
    tries=65,
    few=0,
    at_once=True,
    needs=needs_bubblewrap,
)
def unit_test_cheats(folder: Path, tries: int) -> Tries:
    """Twenty of them were written by somebody who had not seen the defense."""
    from suites.cheats import CHEATS
    from suites.test_canaries import _METADATA
    from suites.test_unit_tests import fenced, grade_all
    from suites.unseen_cheats import CHEATS as UNSEEN

    cheats = dict(list({**UNSEEN, **CHEATS}.items())[:tries])
    grades = grade_all([(fenced(code), _METADATA) for code in cheats.values()], seconds=20.0)
    return (yield from _caught(dict(zip(cheats, grades, strict=True))))


@attack(
    "graders",
    "answers and working copies that let a grading command succeed",
    tries=31,
    few=0,
    at_once=True,
    needs=needs_bubblewrap,
)
def command_cheats(folder: Path, tries: int) -> Tries:
    """With `tests` and `canary`."""
    from suites.command_cheats import CHEATS
    from suites.test_command_and_workbook_cheats import graded_commands

    return (yield from _caught(graded_commands(folder, dict(list(CHEATS.items())[:tries]))))


@attack(
    "graders",
    "workbooks that were not worked out, or that let the grader fail",
    tries=25,
    few=0,
    at_once=True,
    needs=needs_bubblewrap,
)
def workbook_cheats(folder: Path, tries: int) -> Tries:
    """Each counts as a failure; an error of the grader would take it out of the evidence."""
    from suites.test_command_and_workbook_cheats import graded_workbooks
    from suites.workbook_cheats import CHEATS

    return (yield from _caught(graded_workbooks(folder, dict(list(CHEATS.items())[:tries]))))
