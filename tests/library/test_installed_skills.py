"""The skills of a harness, found in folders that nobody has tidied."""

from __future__ import annotations

from pathlib import Path

import pytest

from skilldelta.library.installed_skills import SkillRoot, find_skills, skill_roots


def skill(folder: Path, name: str, front: str | None = None, body: str = "Do it.") -> Path:
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    if front is None:
        front = f"name: {name}\ndescription: About {name}."
    path.write_text(f"---\n{front}\n---\n\n{body}\n")
    return path


def found(folder: Path) -> tuple[list[str], tuple[str, ...]]:
    result = find_skills([SkillRoot(folder, "user")])
    return sorted(one.name for one in result.skills), result.problems


def test_costs_are_those_of_the_line_in_the_list_and_of_the_text(tmp_path: Path) -> None:
    skill(tmp_path, "dates", "name: dates\ndescription: How to count days.", body="x" * 400)
    (one,) = find_skills([SkillRoot(tmp_path, "user")]).skills
    assert (one.listing_tokens, one.name_tokens, one.loaded_tokens) == (7, 2, 100)


def test_a_skill_that_the_model_may_not_load_is_not_listed(tmp_path: Path) -> None:
    skill(tmp_path, "dates", "name: dates\ndescription: Days.\ndisable-model-invocation: true")
    (one,) = find_skills([SkillRoot(tmp_path, "user")]).skills
    assert one.listing_tokens == 0


def test_what_cannot_be_read_is_named_and_the_rest_works(tmp_path: Path) -> None:
    skill(tmp_path, "good")
    skill(tmp_path, "not-yaml", "name: [never closed")
    skill(tmp_path, "a-list", "- name\n- description")
    (tmp_path / "no-front").mkdir()
    (tmp_path / "no-front" / "SKILL.md").write_text("Just text.")
    (tmp_path / "binary").mkdir()
    (tmp_path / "binary" / "SKILL.md").write_bytes(b"---\nname: \xff\xfe\n---\n")
    with (skill(tmp_path, "huge")).open("r+b") as file:
        file.truncate(100 << 20)
    (tmp_path / "folder" / "SKILL.md").mkdir(parents=True)
    (tmp_path / "empty").mkdir()
    names, problems = found(tmp_path)
    assert names == ["good"]
    assert len(problems) == 6
    for word in ("not-yaml", "a-list", "no-front", "binary", "huge", "folder"):
        assert any(word in problem and "left out" in problem for problem in problems), word


def test_links_and_loops_end(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    skill(elsewhere, "linked")
    root = tmp_path / "skills"
    skill(root, "own")
    (root / "a-link").symlink_to(elsewhere / "linked")
    (root / "loop").symlink_to(root)
    (root / "self").symlink_to("self")
    (root / "gone").symlink_to(tmp_path / "nowhere")
    names, problems = found(root)
    assert names == ["linked", "own"]
    assert problems == ()


def test_of_two_skills_of_one_name_the_first_place_wins(tmp_path: Path) -> None:
    first, second = tmp_path / "project", tmp_path / "user"
    skill(first, "dates")
    skill(second, "other-folder", "name: dates\ndescription: Another.")
    result = find_skills([SkillRoot(first, "project"), SkillRoot(second, "user")])
    assert [(one.name, one.origin) for one in result.skills] == [("dates", "project")]
    assert "another skill is called 'dates'" in result.problems[0]


def test_three_hundred_skills_are_found(tmp_path: Path) -> None:
    for number in range(300):
        skill(tmp_path, f"skill-{number:03d}")
    names, problems = found(tmp_path)
    assert (len(names), problems) == (300, ())


@pytest.mark.parametrize(
    ("harness", "place"),
    [
        ("claude-code", ".claude/skills"),
        ("codex", ".agents/skills"),
        ("gemini", ".gemini/skills"),
        ("opencode", ".opencode/skills"),
        ("pi", ".pi/skills"),
        ("dsh", ".dsh/skills"),
    ],
)
def test_every_harness_looks_into_the_project(harness: str, place: str, tmp_path: Path) -> None:
    roots = skill_roots(harness, tmp_path / "settings", tmp_path / "home", tmp_path / "project", {})
    assert tmp_path / "project" / place in [root.folder for root in roots]
    assert tmp_path / "settings" / "skills" in [root.folder for root in roots]


def test_skills_of_plugins_are_listed_and_not_switchable(tmp_path: Path) -> None:
    skill(tmp_path / "plugins" / "cache" / "market" / "tools" / "1.0.0" / "skills", "audit")
    (one,) = find_skills(skill_roots("claude-code", tmp_path, tmp_path / "home", tmp_path / "project", {})).skills
    assert (one.name, one.origin, one.is_switchable) == ("audit", "plugin tools", False)
