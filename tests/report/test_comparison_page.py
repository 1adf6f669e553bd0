"""The comparison's page: what it says without a browser, and that it works in one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from serve.browser import running_browser
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


@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine; the tests above check the file statically")
def test_thousands_of_moved_tasks_fit_a_screen_and_are_searched(tmp_path: Path) -> None:
    n = 3_000
    ids = [f"task-{i}" for i in range(n)]
    runs = PairedRuns(ids, [f"family {i % 3}" for i in range(n)], [[0.0]] * n, [[1.0]] * n, {}, {})
    found = compare_runs(runs, np.random.default_rng(0))
    texts = {name: f"What is the answer to {name}?" for name in ids}
    path = tmp_path / "long.html"
    write_comparison(ComparisonReport("a" * 300, "b", found, {"only in A": ["t" * 300]}, {}, {}, texts=texts), path)
    with running_browser() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=yes]")
        assert page.evaluate("document.documentElement.scrollHeight") < 4_000
        assert page.evaluate("document.documentElement.scrollWidth") <= 1280  # although a name is long
        assert page.locator("#moved tbody tr:not(.spacer)").count() < 60
        page.fill("#moved input[type=search]", "answer to task-1234?")
        assert page.locator("#moved [role=status]").inner_text() == "1 of 2,000 tasks"
        assert page.locator("#moved tbody tr:not(.spacer)").inner_text().startswith("task-1234")
        page.fill("#moved input[type=search]", "")
        page.select_option("#moved select >> nth=0", "family 1")
        assert page.locator("#moved [role=status]").inner_text() == "667 of 2,000 tasks"
        page.evaluate("document.querySelector('.is-windowed').scrollTop = 1e6")
        page.wait_for_selector("#moved tbody tr[aria-rowindex='668']")
        page.click("#moved thead button >> nth=0")  # sorting starts at the top again
        page.wait_for_selector("#moved tbody tr[aria-rowindex='2']")
