"""Answers that cheat their tests are caught, and honest ones are not: a corpus in the real sandbox."""

from __future__ import annotations

import ast

import pytest

from collect.sandboxed import needs_bwrap
from skilldelta.collect.graders.canaries import canary_tests, method_names
from suites.cheats import CHEATS, HONEST, TESTS
from suites.test_unit_tests import fenced, grade_all
from suites.unseen_cheats import CHEATS as UNSEEN

_METADATA = {"tests": TESTS, "entry_point": "solve", "code_prompt": "def solve(n):"}


@needs_bwrap
def test_honest_answers_pass_however_unusual_they_are() -> None:
    grades = grade_all([(fenced(code), _METADATA) for code in HONEST.values()])
    assert {name: grade.remark for name, grade in zip(HONEST, grades, strict=True) if not grade.success} == {}


@needs_bwrap
def test_typical_cheats_fail_and_say_why() -> None:
    names = ["addFailure and addError do nothing", "an int that equals everything", "json.dumps lies"]
    grades = grade_all([(fenced(CHEATS[name]), _METADATA) for name in names])
    assert [grade.success for grade in grades] == [0, 0, 0]
    assert all("suspect: 5 tests passed, but so do tests that must fail" in grade.remark for grade in grades)


@needs_bwrap
@pytest.mark.slow
def test_cheats_of_the_corpus_are_caught() -> None:
    cheats = {**CHEATS, **UNSEEN}
    grades = grade_all([(fenced(code), _METADATA) for code in cheats.values()], seconds=20.0)
    forged = [name for name, grade in zip(cheats, grades, strict=True) if grade.success]
    assert len(forged) * 30 <= len(cheats), forged


@needs_bwrap
def test_the_exact_mode_keeps_the_grade_of_the_benchmark_with_the_suspicion_beside_it() -> None:
    code = fenced(CHEATS["addFailure and addError do nothing"])
    (grade,) = grade_all([(code, _METADATA)], mode="exact")
    assert grade.success == 1
    assert grade.remark.startswith("suspect:")


@needs_bwrap
def test_subtests_early_returns_mocks_and_arrays_do_not_make_an_honest_answer_suspect() -> None:
    tests = """\
import unittest
from unittest.mock import patch
import numpy as np

class TestCases(unittest.TestCase):
    def test_subtests(self):
        for n in (1, 2.5):
            with self.subTest(n=n):
                self.assertEqual(solve(n), 2 * n + 1)
    def test_return(self):
        self.assertEqual(solve(1), 3)
        return
    @patch("os.getcwd", return_value="x")
    def test_mock(self, cwd):
        self.assertAlmostEqual(solve(0.1), 1.2)
    def test_arrays(self):
        np.testing.assert_allclose([solve(1), solve(2)], [3, 5])
        np.testing.assert_array_equal(np.array([]), np.array([]))
        self.assertTrue(np.allclose(solve(np.ones(2)), 3.0))
        assert solve(float("inf")) == float("inf")
    def test_branches(self):
        if solve(0) == 0:
            self.assertEqual(solve(0), 0)
    def test_expected_and_ignored_failures(self):
        with self.assertRaises(AssertionError):
            self.assertEqual(solve(1), 4)
        try:
            self.assertEqual(solve(1), 3)
        except AssertionError:
            pass
    @unittest.skip("not here")
    def test_skipped(self):
        self.assertEqual(solve(0), 0)
    @unittest.expectedFailure
    def test_expected(self):
        self.assertEqual(solve(0), 0)
"""
    (grade,) = grade_all([(fenced("def solve(n):\n    return 2 * n + 1\n"), {**_METADATA, "tests": tests})])
    assert (grade.success, grade.remark) == (1, "8 tests passed")


def test_canaries_change_one_side_of_each_comparison() -> None:
    source, names = canary_tests(
        "class TestCases(T):\n  def test(self):\n    self.assertEqual(f(1), 3)\n    assert g == 4"
    )
    assert names == ("test", "test_again", "test_once_more")
    code = ast.unparse(ast.parse(source))
    assert "self.assertEqual(f(1), __changed__(__count__, 3))" in code
    assert "self.assertEqual(__changed__(__count__, f(1)), 3)" in code
    assert "assert g == __changed__(__count__, 4)" in code
    assert "assert __changed__(__count__, g) == 4" in code


def test_tests_that_cannot_be_read_have_no_canaries() -> None:
    assert canary_tests("class TestCases(:") == ("class TestCases(:", ())
    assert method_names("class TestCases(:") == ()
    assert method_names("class TestCases(T):\n  def test_a(self): pass\n  def other(self): pass") == ("test_a",)
