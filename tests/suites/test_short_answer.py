"""ToolQA's grading against truth that was written by hand."""

from __future__ import annotations

import pytest

from skilldelta.collect.graders.short_answer import ShortAnswer
from suites.grading import graded, task_of

CASES = [
    # numbers, thousands separators, currencies, percent signs
    ("Finish[94.73]", "94.73", True),
    ("Finish[94.730]", "94.73", True),
    ("Finish[947.3]", "94.73", False),
    ("Finish[9473]", "94.73", False),
    ("Finish[1,430]", "1430", True),
    ("Finish[1430]", "1,430", True),
    ("Finish[14,30]", "1430", True),  # the benchmark drops all punctuation
    ("Finish[$ 42450.0]", "$ 42450.0", True),
    ("Finish[42450]", "$ 42450.0", True),
    ("Finish[$42,450]", "$ 42450.0", True),
    ("Finish[$4,245.00]", "$ 42450.0", False),
    ("Finish[306.25 USD]", "306.25 USD", True),
    ("Finish[306.25]", "306.25 USD", True),
    ("Finish[$306.25]", "306.25 USD", True),
    ("Finish[306.26 USD]", "306.25 USD", False),
    ("Finish[55.3%]", "55.3%", True),
    ("Finish[55.3]", "55.3%", True),
    ("Finish[55.3 percent]", "55.3%", True),
    ("Finish[0.553]", "55.3%", False),
    ("Finish[-0.5]", "-0.5", True),
    ("Finish[0.5]", "-0.5", False),
    ("Finish[1/2]", "0.5", True),
    ("Finish[0]", "0", True),
    (f"Finish[{'9' * 5000}]", "0", False),
    # units and sizes
    ("Finish[22M]", "22M", True),
    ("Finish[22m]", "22M", True),
    ("Finish[22]", "22M", False),
    ("Finish[22 M]", "22M", False),
    ("Finish[3 minutes]", "3", False),
    # dates and times
    ("Finish[2022/02/17]", "2022-02-17", True),
    ("Finish[2020-02-29]", "2020-02-29", True),
    ("Finish[2020-02-28]", "2020-02-29", False),
    ("Finish[8:00 pm]", "8:00 PM", True),
    ("Finish[8:00 AM]", "8:00 PM", False),
    ("Finish[3:00:00]", "3:00:00", True),
    ("Finish[21:43]", "21:43", True),
    # names and lists
    ("Finish[The Poetry Foundation]", "Poetry Foundation", True),
    ("Finish[poetry foundation.]", "The Poetry Foundation", True),
    ("Finish[LA Fitness Aquatic Center]", "LA Fitness Aquatic Center ", True),
    ("Finish[Matched, Mismatched]", "Matched, Mismatched", True),
    ("Finish[Mismatched, Matched]", "Matched, Mismatched", False),
    ("Finish[Matched]", "Matched, Mismatched", False),
    ("Finish[T5V 1H9]", "T5V 1H9", True),
    ("Finish[Imran Muhammad, Khan Sangeen]", "Imran  Muhammad, Khan  Sangeen", True),
    # yes and no
    ("Finish[Yes]", "yes", True),
    ("Finish[true]", "Yes", True),
    ("Finish[false]", "No", True),
    ("Finish[true]", "No", False),
    # where the answer stands
    ("Thought: 3?\nFinish[3]\nNo, wait.\nFinish[4]", "4", True),
    ("Finish[4]\nFinish[3]", "4", False),
    ("<think>Finish[4]</think>Finish[3]", "3", True),
    ("I looked it up. The answer is: 42.", "42", True),
    ("Counting gives\n**Answer:** 42", "42", True),
    ("42", "42", True),
    ("It may be 41\n42", "42", True),
    # nothing to read
    ("", "42", False),
    ("   \n", "42", False),
    ("<think>It is 42", "42", False),
    ("", "", False),
    ("Finish[]", "", True),
]


@pytest.mark.parametrize(("reply", "answer", "truth"), CASES)
def test_short_answers_are_graded_as_a_person_would(reply: str, answer: str, truth: bool) -> None:
    found = graded(ShortAnswer(), reply, task_of(answer))
    assert found.success == float(truth), found.remark


@pytest.mark.parametrize(
    ("reply", "answer", "truth"),
    [
        ("Finish[9473]", "94.73", True),
        ("Finish[42450]", "$ 42450.0", False),
        ("Finish[1,430]", "1430", True),
        ("Finish[4.0]", "4", True),
        ("Finish[true]", "Yes", True),
    ],
)
def test_exact_grading_follows_the_letter_of_the_benchmark(reply: str, answer: str, truth: bool) -> None:
    assert graded(ShortAnswer("exact"), reply, task_of(answer)).success == float(truth)


def test_there_are_at_least_forty_truth_cases() -> None:
    assert len(CASES) >= 40
