"""Policies bear the same names wherever a person meets them."""

from __future__ import annotations

import re
from pathlib import Path

from skilldelta.evaluation.policy_words import POLICY_MEANINGS, POLICY_WORDS, policy_words
from skilldelta.evaluation.roster import POLICIES

SOURCES = Path(__file__).parents[2] / "src" / "skilldelta"


def test_every_policy_has_one_name_and_one_meaning() -> None:
    assert set(POLICY_WORDS) == set(POLICY_MEANINGS) == {*POLICIES, "oracle"}
    assert len(set(POLICY_WORDS.values())) == len(POLICY_WORDS)
    assert policy_words("nobody's") == "nobody's"


def test_no_other_file_has_a_table_of_names() -> None:
    table = re.compile(r'"(tfidf_knn|with_skill_only|random_matched)": "[A-Z]')
    named = [path.name for path in SOURCES.rglob("*.py") if table.search(path.read_text(encoding="utf-8"))]
    assert named == ["policy_words.py"]
