"""The comparison's page: what it says without a browser, and that it works in one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from skilldelta.evaluation.paired_comparison import PairedRuns, compare_runs
from skilldelta.report.comparison_page import comparison_page, write_comparison
from skilldelta.report.comparison_words import ComparisonReport

from .test_browser import BROWSER, dom_of

HOSTILE = "</script><script>document.title='owned'</script>"


def report(moved: int = 12) -> ComparisonReport:
    n = 30
    runs = PairedRuns(
        [f"{HOSTILE}{i}" for i in range(n)],
        ["family"] * n,
        [[0.0]] * n,
        [[float(i < moved)] for i in range(n)],
        {},
        {},
    )
    found = compare_runs(runs, np.random.default_rng(0))
    return ComparisonReport(
        "a", "b", found, {"only in A": ["t"]}, {}, {"transport_error": 2}, ("mind the gap",), "skilldelta"
    )


def test_the_page_says_the_verdict_the_facts_and_what_is_left_out() -> None:
    page = comparison_page(report())
    assert "B is better: +40.0 points (95%: " in page
    assert "12 better, 0 worse, 18 the same; sign test p &lt; 0.001." in page
    assert "1 task: only in A." in page
    assert "B 2 runs (transport_error)." in page
    assert "mind the gap" in page
    assert len(page) < 60_000  # no plotting library


def test_a_page_on_which_nothing_moved_says_so() -> None:
    page = comparison_page(report(moved=0))
    assert "No task moved" in page
    assert "Not enough evidence" in page


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine; the tests above check the file statically")
def test_no_foreign_script_runs_and_the_page_is_ready(tmp_path: Path) -> None:
    path = tmp_path / "comparison.html"
    write_comparison(report(), path)
    dom = dom_of(path, tmp_path / "profile", width=390)
    assert 'data-ready="yes"' in dom
    assert "<title>b against a</title>" in dom
