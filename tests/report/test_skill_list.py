"""The skills of a panel in the report: every verdict with its evidence, and what it breaks, harmless as HTML."""

from __future__ import annotations

import numpy as np

from skilldelta.arrays import unit_rows
from skilldelta.evaluation.skill_verdicts import skill_verdicts
from skilldelta.report.skill_list import MOST_LISTED, SkillList, skill_list_html
from skilldelta.support import Support


def _panel(skill: str, gains: list[int]) -> Support:
    n = len(gains)
    return Support(
        task_ids=np.array([f"t{i}" for i in range(n)]),
        families=np.array([f"f{i % 2}" for i in range(n)]),
        skills=np.full(n, skill),
        vectors=unit_rows(np.random.default_rng(0).normal(size=(n, 8))),
        y0=np.array([float(gain < 0) for gain in gains]),
        y1=np.array([float(gain > 0) for gain in gains]),
        r0=np.ones(n, np.int64),
        r1=np.ones(n, np.int64),
        tokens0=np.full(n, 100.0),
        tokens1=np.full(n, 130.0),
        texts=tuple(f"question <{i}>" for i in range(n)),
    )


def _html(support: Support) -> str:
    return skill_list_html(SkillList(support, skill_verdicts(support, rng=np.random.default_rng(0))), "panel-1")


def test_a_gated_skill_names_what_it_breaks_and_what_skipping_buys() -> None:
    page = _html(_panel("both", [1, -1] * 12))
    assert "harms `f1`" in page
    assert "t1, t3, t5" in page
    assert "In hindsight, skipping the harmed families skips 12 of 24 tasks: +50.0 points, saves 12% of tokens." in page
    assert "Group 1, the nearest tasks show" in page
    assert 'id="panel-1-skills"' in page


def test_names_and_texts_of_others_are_text() -> None:
    page = _html(_panel("<script>alert(1)</script>", [-1] * 12))
    assert "<script>" not in page
    assert "question <" not in page


def test_long_lists_say_how_much_they_leave_out() -> None:
    page = _html(_panel("s", [-1] * (2 * MOST_LISTED + 6)))
    assert "and 3 more" in page


def test_a_skill_without_harm_has_nothing_to_open() -> None:
    assert "<details" not in _html(_panel("s", [1] * 12))
