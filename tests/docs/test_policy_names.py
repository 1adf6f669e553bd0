"""The glossary names policies as terminal, report and JSON do."""

from __future__ import annotations

from pathlib import Path

from skilldelta.estimators.registry import ORACLE, policies

GLOSSARY = Path(__file__).parents[2] / "docs" / "glossary.md"


def test_the_glossary_has_every_policy_under_its_names() -> None:
    text = GLOSSARY.read_text(encoding="utf-8")
    for entry in (*policies().values(), ORACLE):
        assert f"| `{entry.name}` | {entry.title} | {entry.meaning} |" in text
