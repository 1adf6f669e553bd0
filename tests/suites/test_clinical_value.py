"""MedCalc-Bench's grading against truth that was written by hand."""

from __future__ import annotations

import pytest

from skilldelta.collect.execution_errors import GraderError
from skilldelta.collect.graders.clinical_value import ClinicalValue
from suites.grading import graded, task_of

BMI = {"kind": "decimal", "lower": "26.30434", "upper": "29.07322"}
DEFICIT = {"kind": "decimal", "lower": "-0.86954", "upper": "-0.78672"}
LARGE = {"kind": "decimal", "lower": "1140", "upper": "1260"}
SHARE = {"kind": "decimal", "lower": "27.57185", "upper": "30.47415"}
RATIO = {"kind": "decimal", "lower": "0.475", "upper": "0.525"}
SCORE = {"kind": "integer"}
DAY = {"kind": "date"}
AGE = {"kind": "age"}

CASES = [
    # decimals within limits
    ("ANSWER: 27.68878", "27.68878", BMI, True),
    ("ANSWER: 27.7", "27.68878", BMI, True),
    ("ANSWER: 26.30434", "27.68878", BMI, True),
    ("ANSWER: 26.3", "27.68878", BMI, False),
    ("ANSWER: 29.08", "27.68878", BMI, False),
    ("ANSWER: -0.83", "-0.82813", DEFICIT, True),
    ("ANSWER: 0.83", "-0.82813", DEFICIT, False),
    # units, thousands separators, fractions, percent signs
    ("ANSWER: 27.7 kg/m²", "27.68878", BMI, True),
    ("ANSWER: 27.7 kg/m^2.", "27.68878", BMI, True),
    ("ANSWER: 22.6 mL/min/1.73 m²", "22.58", {"kind": "decimal", "lower": "21", "upper": "23"}, True),
    ("ANSWER: 1,200 mL", "1200", LARGE, True),
    ("ANSWER: 1,200.5", "1200", LARGE, True),
    ("ANSWER: 12,00", "1200", LARGE, False),
    ("ANSWER: 29.02%", "29.023", SHARE, True),
    ("ANSWER: 0.2902", "29.023", SHARE, False),
    ("ANSWER: 1/2", "0.5", RATIO, True),
    ("ANSWER: 1/0", "0.5", RATIO, False),
    ("ANSWER: 5e-1", "0.5", RATIO, True),
    ("ANSWER: inf", "0.5", RATIO, False),
    (f"ANSWER: {'9' * 400}", "3", SCORE, False),
    (f"ANSWER: {'9' * 400}/1", "3", SCORE, False),
    (f"ANSWER: {'9' * 5000}/{'9' * 5000}", "3", SCORE, False),
    ("ANSWER: 1e999", "3", SCORE, False),
    ("ANSWER: about 27.7", "27.68878", BMI, True),
    ("ANSWER: 27.7 or 45", "27.68878", BMI, False),
    ("ANSWER: between 20 and 30", "27.68878", BMI, False),
    # whole scores
    ("ANSWER: 3", "3", SCORE, True),
    ("ANSWER: 3.0", "3", SCORE, True),
    ("ANSWER: 3 points", "3", SCORE, True),
    ("ANSWER: 4", "3", SCORE, False),
    ("ANSWER: 2.6", "3", SCORE, True),
    ("ANSWER: three", "3", SCORE, False),
    # answers in JSON: a text ends at its own mark, a tuple or a list at its bracket
    ('{"why": "x", "answer": "(\'22 weeks\', \'2 days\')"}', "('22 weeks', '2 days')", AGE, True),
    ('{"answer": "22 weeks, 2 days"}', "('22 weeks', '2 days')", AGE, True),
    ('{"answer": ["22 weeks", "2 days"]}', "('22 weeks', '2 days')", AGE, True),
    ("{'answer': ('22 weeks', '2 days')}", "('22 weeks', '2 days')", AGE, True),
    ("{\"answer\": \"('22 weeks', '3 days')\"}", "('22 weeks', '2 days')", AGE, False),
    ('{"answer": 27.7, "unit": "kg/m^2"}', "27.68878", BMI, True),
    ('{"answer": "27.7 kg/m^2", "height": 1.7}', "27.68878", BMI, True),
    ('{"answer": "09/11/2014"}', "09/11/2014", DAY, True),
    (f"ANSWER: {'1' * 5000} weeks, 2 days", "('22 weeks', '2 days')", AGE, False),
    # dates and leap days
    ("ANSWER: 09/11/2014", "09/11/2014", DAY, True),
    ("ANSWER: 9/11/2014", "09/11/2014", DAY, True),
    ("ANSWER: 11/09/2014", "09/11/2014", DAY, False),
    ("ANSWER: 02/29/2024", "02/29/2024", DAY, True),
    ("ANSWER: 02/29/2023", "03/01/2023", DAY, False),
    ("ANSWER: 02/30/2024", "02/29/2024", DAY, False),
    ("ANSWER: 2024-02-29", "02/29/2024", DAY, True),
    ("The due date is 02/29/2024, by Naegele's rule.", "02/29/2024", DAY, True),
    ("ANSWER: 13/01/2024", "01/13/2024", DAY, False),
    # gestational ages
    ("ANSWER: (12 weeks, 3 days)", "('12 weeks', '3 days')", AGE, True),
    ("ANSWER: ('12 weeks', '3 days')", "('12 weeks', '3 days')", AGE, True),
    ("ANSWER: (12, 3)", "('12 weeks', '3 days')", AGE, True),
    ("ANSWER: 12 weeks and 3 days", "('12 weeks', '3 days')", AGE, True),
    ("ANSWER: 12w3d", "('12 weeks', '3 days')", AGE, True),
    ("ANSWER: (1 week, 5 days)", "('1 weeks', '5 days')", AGE, True),
    ("ANSWER: (12 weeks, 4 days)", "('12 weeks', '3 days')", AGE, False),
    ("ANSWER: (3 weeks, 12 days)", "('12 weeks', '3 days')", AGE, False),
    ("ANSWER: 87 days", "('12 weeks', '3 days')", AGE, False),
    # where the answer stands
    ("ANSWER: 45\nI was wrong.\nANSWER: 27.7", "27.68878", BMI, True),
    ("ANSWER: 27.7\nI was wrong.\nANSWER: 45", "27.68878", BMI, False),
    ("**ANSWER:** 27.7", "27.68878", BMI, True),
    ('{"answer": "27.7"}', "27.68878", BMI, True),
    ("Therefore, the answer is 27.7.", "27.68878", BMI, True),
    ("BMI = 80 / 1.7² = 27.7", "27.68878", BMI, True),
    ("<think>ANSWER: 27.7</think>ANSWER: 45", "27.68878", BMI, False),
    # nothing to read
    ("", "27.68878", BMI, False),
    ("I cannot compute this.", "27.68878", BMI, False),
    ("ANSWER:", "3", SCORE, False),
]


@pytest.mark.parametrize(("reply", "answer", "metadata", "truth"), CASES)
def test_clinical_values_are_graded_as_a_person_would(
    reply: str, answer: str, metadata: dict[str, str], truth: bool
) -> None:
    found = graded(ClinicalValue(), reply, task_of(answer, metadata=metadata))
    assert found.success == float(truth), found.remark


@pytest.mark.parametrize(
    ("reply", "answer", "metadata", "truth"),
    [
        ("ANSWER: 27.7", "27.68878", BMI, True),
        ("ANSWER: 27.7 kg/m²", "27.68878", BMI, False),
        ("ANSWER: 1,200", "1200", LARGE, False),
        ("ANSWER: 2024-02-29", "02/29/2024", DAY, False),
        ("ANSWER: 12 weeks and 3 days", "('12 weeks', '3 days')", AGE, False),
        ("ANSWER: (12 weeks, 3 days)", "('12 weeks', '3 days')", AGE, True),
    ],
)
def test_exact_grading_follows_the_letter_of_the_benchmark(
    reply: str, answer: str, metadata: dict[str, str], truth: bool
) -> None:
    assert graded(ClinicalValue("exact"), reply, task_of(answer, metadata=metadata)).success == float(truth)


def test_a_task_whose_own_answer_cannot_be_read_is_a_grader_error() -> None:
    for answer, metadata in (("soon", SCORE), ("never", DAY), ("3", {**BMI, "lower": "low"})):
        with pytest.raises(GraderError):
            graded(ClinicalValue(), "ANSWER: 27", task_of(answer, metadata=metadata))


def test_there_are_at_least_forty_truth_cases() -> None:
    assert len(CASES) >= 40
