"""The glossary names policies as terminal, report and JSON do."""

from __future__ import annotations

from pathlib import Path

from skilldelta.evaluation.policy_words import POLICY_MEANINGS, POLICY_WORDS

GLOSSARY = Path(__file__).parents[2] / "docs" / "glossary.md"


def test_the_glossary_has_every_policy_under_its_names() -> None:
    text = GLOSSARY.read_text(encoding="utf-8")
    for name, words in POLICY_WORDS.items():
        assert f"| `{name}` | {words} | {POLICY_MEANINGS[name]} |" in text
