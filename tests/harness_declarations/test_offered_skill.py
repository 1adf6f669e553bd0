from __future__ import annotations

from pathlib import Path

import pytest

from serve.hooks.fake_gate import dialect_of
from skilldelta.harnesses.offered_skill import (
    OfferedSkill,
    Part,
    delivered,
    in_parts,
    skill_body,
    skill_name,
)

SKILL = OfferedSkill("counting", Path("/skills/counting/SKILL.md"))


def test_a_short_skill_is_injected_as_it_is() -> None:
    assert delivered(SKILL, "Count twice.", dialect_of("claude-code"), part=Part(), delivery="text") == "Count twice."
    assert delivered(SKILL, "Count twice.", dialect_of("claude-code"), part=Part(2, 2), delivery="text") == ""


@pytest.mark.parametrize("line", ["word " * 20 + "\n", "x" * 30_000 + "\n", "🙂" * 5_000 + "\n"])
def test_the_parts_of_a_long_skill_fit_and_are_the_whole_skill(line: str) -> None:
    text = (line * (40_000 // len(line) + 1)).strip()
    longest = dialect_of("claude-code").longest
    assert longest is not None
    parts = in_parts("counting", text, longest)
    assert all(len(part.encode("utf-16-le")) // 2 <= longest for part in parts)
    bodies = [part.partition("]\n")[2] for part in parts]
    assert "".join(bodies).replace("\n", "") == text.replace("\n", "")
    assert [part.partition("]")[0] for part in parts][:1] == [f"[Skill counting, part 1 of {len(parts)}"]
    found = [
        delivered(SKILL, text, dialect_of("codex"), part=Part(i, len(parts)), delivery="text")
        for i in range(1, len(parts) + 1)
    ]
    assert found == parts


def test_with_too_few_entries_the_model_is_told_to_read_the_skill() -> None:
    told = delivered(SKILL, "word\n" * 5_000, dialect_of("claude-code"), part=Part(1, 2), delivery="text")
    assert (
        told
        == "Before you begin, read the whole file /skills/counting/SKILL.md and follow it: it is the skill counting."
    )
    assert delivered(SKILL, "word\n" * 5_000, dialect_of("claude-code"), part=Part(2, 2), delivery="text") == ""


def test_gemini_takes_a_long_skill_whole() -> None:
    assert delivered(SKILL, "word\n" * 5_000, dialect_of("gemini"), part=Part(), delivery="text") == "word\n" * 5_000


@pytest.mark.parametrize(
    ("host", "words"),
    [("claude-code", "with the Skill tool"), ("gemini", "with the activate_skill tool"), ("codex", "read the skill")],
)
def test_a_skill_without_text_is_to_be_invoked(host: str, words: str) -> None:
    assert words in delivered(OfferedSkill("counting"), None, dialect_of(host), part=Part(), delivery="invoke")


def test_a_skill_is_named_by_its_front_matter_or_its_folder(tmp_path: Path) -> None:
    file = tmp_path / "counting" / "SKILL.md"
    file.parent.mkdir()
    assert skill_name(file) == "counting"
    file.write_text('---\nname: "Count it"\ndescription: x\n---\n\nCount twice.\n')
    assert (skill_name(file), skill_body(file)) == ("Count it", "Count twice.")
    file.write_text("Just text.\nname: no\n")
    assert (skill_name(file), skill_body(file)) == ("counting", "Just text.\nname: no")
