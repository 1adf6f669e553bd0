"""`skilldelta library`: proposals, and settings that are written and restored byte for byte."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.conftest import Skilldelta, skilldelta  # noqa: F401
from skilldelta.bank import Bank
from skilldelta.bank.importers import read_source
from skilldelta.harnesses.skill_usage import SkillUsage
from skilldelta.library.installed_skills import InstalledSkill
from skilldelta.library.proposals import KnownGain, propose, summary
from skilldelta.library.skill_switches import current_listing

from .test_installed_skills import skill

FOLDERS = {
    "claude-code": ".claude",
    "codex": ".codex",
    "gemini": ".gemini",
    "opencode": ".config/opencode",
    "pi": ".pi/agent",
}
SETTINGS = {
    "claude-code": (
        "settings.json",
        '{\n  // mine\n  "model": "x",\n  "skillOverrides": {"meter-readings": "on"}\n}\n',
    ),
    "codex": ("config.toml", 'model = "x"\n\n[[skills.config]]\nname = "old"\nenabled = false'),
    "gemini": ("settings.json", '{"skills": {"disabled": ["old"]}, "theme": "dark"}'),
    "opencode": ("opencode.json", '{\n  "permission": {"bash": "ask"}\n}'),
    "pi": ("settings.json", "{}"),
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bank in which one skill helps on every task, one harms on every task, and one did either once."""
    folder = tmp_path_factory.mktemp("bank")
    rows = [("warehouse-units", i, 0, 1) for i in range(12)] + [("meter-readings", i, 1, 0) for i in range(12)]
    rows += [("text-counts", 0, 0, 1), ("text-counts", 1, 1, 0)]
    lines = [
        {"task_id": f"{name} {i}", "text": f"Task {i} of {name}.", "skill": name, "agent": "a", "y0": [y0], "y1": [y1]}
        for name, i, y0, y1 in rows
    ]
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with Bank.open(folder / "small.bank", create=True) as bank:
        bank.add(read_source(folder / "pairs.jsonl", format="pairs.jsonl"))
    return folder / "small.bank"


@pytest.fixture
def home(measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "OPENCODE_CONFIG_DIR", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("PI_CODING_AGENT_DIR", raising=False)
    monkeypatch.chdir(tmp_path)
    shutil.copy(measured, tmp_path / "small.bank")
    return home


def four_skills(folder: Path) -> None:
    """Three that were measured, and one that was not."""
    for name in ("warehouse-units", "meter-readings", "text-counts", "unmeasured"):
        skill(folder / "skills", name)


def test_measured_skills_get_the_verdict_and_others_the_price(skilldelta: Skilldelta, home: Path) -> None:  # noqa: F811
    four_skills(home / ".claude")
    document = skilldelta("library", "claude-code", "--bank", "small.bank", "--json").document
    rows = {row["skill"]: row for row in document["skills"]}
    assert rows["warehouse-units"]["gain"]["verdict"] == "keep"
    assert rows["warehouse-units"]["proposal"] == "keep"
    assert rows["meter-readings"]["gain"]["verdict"] == "drop"
    assert rows["meter-readings"]["proposal"] == "off"
    assert rows["unmeasured"]["proposal"] == "measure first"
    assert "40 runs" in rows["unmeasured"]["reason"]
    assert rows["unmeasured"]["loads"] is None
    assert document["saves"] >= rows["meter-readings"]["listing_tokens"]
    shown = skilldelta("library", "claude-code", "--bank", "small.bank").out
    assert "4 skills" in shown
    assert "--apply" in shown


@pytest.mark.parametrize("harness", list(FOLDERS))
def test_what_is_applied_is_undone_byte_for_byte(skilldelta: Skilldelta, home: Path, harness: str) -> None:  # noqa: F811
    folder = home / FOLDERS[harness]
    four_skills(folder)
    name, before = SETTINGS[harness]
    path = folder / name
    path.write_text(before)
    words = ("library", harness, "--bank", "small.bank")
    skilldelta(*words, "--apply", "--yes")
    assert current_listing(harness, folder).get("meter-readings") or any(
        place.endswith("meter-readings") for place in current_listing(harness, folder)
    )
    if harness == "codex":
        assert len(tomllib.loads(path.read_text())["skills"]["config"]) >= 2
    assert skilldelta(*words, "--json").document["saves"] == 0
    skilldelta("library", harness, "--undo", "--yes")
    assert path.read_text() == before
    ran = skilldelta("library", harness, "--undo", "--yes")
    assert (ran.code, "there is nothing to undo" in ran.err) == (2, True)


@pytest.mark.parametrize("harness", list(FOLDERS))
def test_what_others_changed_since_stays_where_that_is_asked_for(
    skilldelta: Skilldelta,  # noqa: F811
    home: Path,
    harness: str,
) -> None:
    folder = home / FOLDERS[harness]
    four_skills(folder)
    name, before = SETTINGS[harness]
    path = folder / name
    path.write_text(before)
    skilldelta("library", harness, "--bank", "small.bank", "--apply", "--yes")
    path.write_text(path.read_text() + "\n")
    refused = skilldelta("library", harness, "--undo", "--yes")
    assert (refused.code, "was changed after" in refused.err) == (2, True)
    skilldelta("library", harness, "--undo", "--yes", "--keep-changes")
    assert "meter-readings" not in {Path(place).name for place in current_listing(harness, folder)}
    assert ("old" in path.read_text()) == ("old" in before)
    assert path.read_text().endswith("\n")


def test_a_file_that_was_not_there_is_removed_again(skilldelta: Skilldelta, home: Path) -> None:  # noqa: F811
    four_skills(home / ".claude")
    skilldelta("library", "claude-code", "--bank", "small.bank", "--apply", "--yes")
    settings = home / ".claude" / "settings.json"
    assert json.loads(settings.read_text())["skillOverrides"]["meter-readings"] == "user-invocable-only"
    skilldelta("library", "claude-code", "--undo", "--yes")
    assert not settings.exists()


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("library", "emacs"), "harness"),
        (("library", "claude-code", "--apply", "--undo"), "exclude each other"),
        (("library", "dsh", "--apply", "--yes"), "dsh has no setting for single skills"),
    ],
)
def test_what_cannot_be_done_is_said(skilldelta: Skilldelta, home: Path, words: tuple[str, ...], error: str) -> None:  # noqa: F811
    ran = skilldelta(*words)
    assert (ran.code, error in ran.err) == (2, True), ran.err


def test_a_settings_file_that_is_no_json_is_left_alone(skilldelta: Skilldelta, home: Path) -> None:  # noqa: F811
    four_skills(home / ".claude")
    (home / ".claude" / "settings.json").write_text("{ never closed")
    ran = skilldelta("library", "claude-code", "--bank", "small.bank", "--apply", "--yes")
    assert (ran.code, "not valid JSON" in ran.err) == (2, True)
    assert (home / ".claude" / "settings.json").read_text() == "{ never closed"


def test_nothing_installed_is_an_answer(skilldelta: Skilldelta, home: Path) -> None:  # noqa: F811
    assert skilldelta("library", "claude-code", "--bank", "none.bank", "--json").document["skills"] == []


def row(name: str, **more: Any) -> InstalledSkill:
    return InstalledSkill(name, "", Path(name), "user", 10, 2, 100, **more)


def test_proposals_follow_verdict_then_use() -> None:
    skills = [row(name) for name in ("helps", "mixed", "even", "unused", "used")]
    gains = {
        "helps": KnownGain("keep", 0.3, 0.1, 0.5, 20),
        "mixed": KnownGain("gate", 0.1, -0.1, 0.3, 20),
        "even": KnownGain("no effect", 0.0, -0.02, 0.02, 200),
    }
    usage = SkillUsage(30, {"used": 4}, {"used": 3})
    vectors = np.eye(5, dtype=np.float32)
    rows = propose(skills, usage, gains, listings={}, vectors=vectors, name_only=True)
    assert {one.skill.name: one.proposal for one in rows} == {
        "helps": "keep",
        "mixed": "name only",
        "even": "off",
        "unused": "off",
        "used": "measure first",
    }
    assert sum(one.tokens_now - one.tokens_then for one in rows) == 8 + 10 + 10
    assert summary(rows, 30) == (
        "5 skills, 50 tokens per session; 1 keep, 1 name only, 2 off, 1 measure first; "
        "4 never used in 30 sessions: following the proposals saves 28"
    )
    few = propose(skills, SkillUsage(3), gains, listings={}, vectors=vectors, name_only=False)
    assert {one.skill.name: one.proposal for one in few}["unused"] == "measure first"
    locked = propose([row("unused", is_switchable=False)], usage, {}, listings={}, vectors=vectors[:1], name_only=True)
    assert locked[0].wanted_listing is None


def test_skills_that_offer_the_same_are_named() -> None:
    vectors = np.array([[1, 0], [0, 1], [0.99, 0.14]], np.float32)
    rows = propose([row("a"), row("b"), row("c")], SkillUsage(), {}, listings={}, vectors=vectors, name_only=True)
    overlaps = {one.skill.name: one.overlap.skill if one.overlap else None for one in rows}
    assert overlaps == {"a": "c", "b": None, "c": "a"}
