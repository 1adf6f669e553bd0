"""LogicBench's grading against truth that was written by hand."""

from __future__ import annotations

import pytest

from skilldelta.collect.graders.logic_answer import LogicAnswer
from suites.grading import graded, task_of

QUESTION = """\
If it rains, the match is called off. It rains.

What follows?
  choice_1: The match takes place.
  choice_2: The match is called off.
  choice_3: It is sunny.
  choice_4: Nobody plays tennis."""

CASES = [
    # yes and no
    ("The answer is: yes", "yes", True),
    ("The answer is: no", "yes", False),
    ("the answer is **no**.", "no", True),
    ("The answer is true", "yes", True),
    ("The answer is: False.", "no", True),
    ("Yes", "yes", True),
    ("YES.", "yes", True),
    ("No, because the condition is not met.", "no", True),
    ("**Yes**, she will.", "yes", True),
    ("yes", "no", False),
    ("Nothing of the sort. So: yes", "yes", True),
    ("Notably, it follows. Yes.", "yes", True),
    ("This cannot be concluded from the story.", "no", True),
    ("We cannot determine that.", "no", True),
    ("That is not necessarily true.", "no", True),
    ("It is not possible to say.", "no", True),
    ("So the statement is true.", "yes", True),
    ("So the statement is false.", "no", True),
    ("Perhaps no. On reflection: yes", "yes", True),
    ("The answer is: yes\nWait.\nThe answer is: no", "no", True),
    ("The answer is: yes\nWait.\nThe answer is: no", "yes", False),
    ("<think>The answer is: yes</think>The answer is: no", "no", True),
    ("She will be there.", "yes", False),
    ("She will be there.", "no", False),
    ("Nobody knows.", "no", False),
    ("", "no", False),
    ("", "yes", False),
    ("choice_1", "yes", False),
    # choices
    ("The answer is: choice_2", "choice_2", True),
    ("choice_2", "choice_2", True),
    ("choice 2", "choice_2", True),
    ("Choice_2: The match is called off.", "choice_2", True),
    ("choice_1 is wrong, so choice_2", "choice_2", True),
    ("choice_2 is better than choice_1", "choice_2", False),
    ("choice_3", "choice_2", False),
    ("The answer is: 2", "choice_2", True),
    ("The answer is option 2.", "choice_2", True),
    ("Option 2", "choice_2", True),
    ("The match is called off.", "choice_2", True),
    ("So the conclusion is that the match is called off.", "choice_2", True),
    ("It is sunny.", "choice_2", False),
    ("2", "choice_2", True),
    ("The second one", "choice_2", False),
    ("choice_22", "choice_2", False),
    ("yes", "choice_2", False),
    ("", "choice_2", False),
]


@pytest.mark.parametrize(("reply", "answer", "truth"), CASES)
def test_logic_answers_are_graded_as_a_person_would(reply: str, answer: str, truth: bool) -> None:
    found = graded(LogicAnswer(), reply, task_of(answer, text=QUESTION))
    assert found.success == float(truth), found.remark


def test_there_are_at_least_forty_truth_cases() -> None:
    assert len(CASES) >= 40
