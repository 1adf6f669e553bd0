"""`skilldelta install` on settings files of every harness: difference, idempotence, undo byte for byte."""

from __future__ import annotations

import json
import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from cli.conftest import Skilldelta
from serve.hooks.fake_gate import KEY, fake_gate, says
from skilldelta.harnesses.json_edit import parse

HOOKED = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home with a skill; nothing of the person who runs the tests."""
    for name in (
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "DSH_HOME",
        "OPENCODE_CONFIG_DIR",
        "XDG_CONFIG_HOME",
        "GEMINI_CLI_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    for name in ("SERVER", "TIMEOUT", "FALLBACK", "SKILL", "SKILL_FILE", "STATE", "INJECT", "ASK"):
        monkeypatch.delenv(f"SKILLDELTA_{name}", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "counting").mkdir()
    (tmp_path / "counting" / "SKILL.md").write_text("---\nname: counting\n---\nCount twice.\n")
    return tmp_path


def tree(folder: Path) -> dict[str, bytes]:
    """Every file and folder but our own records."""
    found = {str(path.relative_to(folder)): path for path in folder.rglob("*") if "state" not in path.parts}
    return {name: path.read_bytes() if path.is_file() else b"(folder)" for name, path in found.items()}


@pytest.mark.parametrize("host", HOOKED)
@pytest.mark.parametrize("before", [None, b"", b"{}\n", b'{\r\n  // mine\r\n  "model": "\xc3\xa9",\r\n}'])
def test_entries_are_written_once_and_taken_back_exactly(
    skilldelta: Skilldelta, home: Path, host: str, before: bytes | None
) -> None:
    file = home / HOOKED[host]
    if before is not None:
        file.parent.mkdir()
        file.write_bytes(before)
        file.chmod(0o640)
    start = tree(home)
    words = ["install", host, "--skill-file", "counting", "--bank", "my.bank", "--yes"]
    ran = skilldelta(*words)
    assert ran.code == 0, ran.err
    assert f"+++ {file}" in ran.out
    settings = parse(file.read_text(encoding="utf-8")).value
    assert all("hooks" in group for groups in settings["hooks"].values() for group in groups)
    assert before is None or b"model" not in before or settings["model"] == "é"
    once = tree(home)
    again = skilldelta(*words)
    assert (again.code, again.out) == (0, "")
    assert "nothing to do" in again.err
    assert tree(home) == once
    undone = skilldelta("install", host, "--undo", "--yes")
    assert undone.code == 0, undone.err
    assert tree(home) == start
    assert before is None or sys.platform == "win32" or stat.S_IMODE(file.stat().st_mode) == 0o640
    assert "nothing to undo" in skilldelta("install", host, "--undo", "--yes").err


def commands(file: Path) -> list[str]:
    hooks = parse(file.read_text(encoding="utf-8")).value["hooks"]
    return [hook["command"] for groups in hooks.values() for group in groups for hook in group["hooks"]]


def test_the_installed_commands_work_as_they_are(skilldelta: Skilldelta, home: Path) -> None:
    odd = home / "a skill's folder"
    odd.mkdir()
    (odd / "SKILL.md").write_text("---\nname: odd one\n---\nBe careful.\n")
    with fake_gate(says("use")) as gate:
        assert (
            skilldelta("install", "codex", "--skill-file", odd, "--server", gate.url, "--timeout", 30, "--yes").code
            == 0
        )
        command = commands(home / HOOKED["codex"])[0]
        event = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt": "count"}
        environment = {**os.environ, "SKILLDELTA_SERVER_KEY": KEY}
        done = subprocess.run(
            command, shell=True, input=json.dumps(event), capture_output=True, text=True, env=environment
        )
    assert json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] == "Be careful."
    assert gate.asked[0][1]["skills"] == ["odd one"]


def test_a_bank_or_skill_that_is_not_there_is_pointed_out(skilldelta: Skilldelta, home: Path, toy_bank: str) -> None:
    absent = skilldelta("install", "codex", "--skill", "units-skill", "--bank", home / "no.bank", "--yes")
    misspelled = skilldelta("install", "codex", "--skill", "unit-skill", "--bank", toy_bank, "--yes")
    right = skilldelta("install", "codex", "--skill", "units-skill", "--bank", toy_bank, "--yes")

    assert "warning: there is no bank at" in absent.err
    assert "warning: unknown skill 'unit-skill'; did you mean units-skill" in misspelled.err
    assert (absent.code, misspelled.code, right.code, "warning" in right.err) == (0, 0, 0, False)


def test_a_long_skill_gets_as_many_entries_as_it_has_parts(skilldelta: Skilldelta, home: Path) -> None:
    (home / "counting" / "SKILL.md").write_text("---\nname: counting\n---\n" + "a rule to follow\n" * 1_500)
    assert skilldelta("install", "claude-code", "--skill-file", "counting", "--yes").code == 0
    hooks = parse((home / HOOKED["claude-code"]).read_text()).value["hooks"]
    parts = [shlex.split(hook["command"])[-3] for hook in hooks["UserPromptSubmit"][0]["hooks"]]
    assert parts == ["1/3", "2/3", "3/3"]
    assert hooks["PreToolUse"][0]["matcher"] == "Skill"
    assert skilldelta("install", "gemini", "--skill-file", "counting", "--yes").code == 0
    assert len(parse((home / HOOKED["gemini"]).read_text()).value["hooks"]["BeforeAgent"][0]["hooks"]) == 1


def test_other_settings_replace_the_entries_and_undo_still_leads_to_the_start(
    skilldelta: Skilldelta, home: Path
) -> None:
    file = home / HOOKED["codex"]
    file.parent.mkdir()
    file.write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "date"}]}]}}')
    start = tree(home)
    assert skilldelta("install", "codex", "--skill-file", "counting", "--yes").code == 0
    assert skilldelta("install", "codex", "--skill", "dates", "--yes").code == 0
    assert all("dates" in command for command in commands(file) if command != "date")
    assert skilldelta("install", "codex", "--undo", "--yes").code == 0
    assert tree(home) == start


def test_a_file_that_was_changed_since_is_left_alone_by_name(skilldelta: Skilldelta, home: Path) -> None:
    assert skilldelta("install", "codex", "--skill-file", "counting", "--yes").code == 0
    file = home / HOOKED["codex"]
    file.write_text(file.read_text() + "\n")
    changed = tree(home)
    ran = skilldelta("install", "codex", "--undo", "--yes")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert str(file) in ran.err
    assert tree(home) == changed


@pytest.mark.parametrize("host", HOOKED)
def test_a_file_that_was_changed_since_can_be_cleaned_of_our_entries_alone(
    skilldelta: Skilldelta, home: Path, host: str
) -> None:
    assert skilldelta("install", host, "--skill-file", "counting", "--yes").code == 0
    file = home / HOOKED[host]
    changed = json.loads(file.read_text())
    changed["hooks"]["Stop"] = [{"hooks": [{"type": "command", "command": "date"}]}]
    file.write_text(json.dumps(changed | {"model": "new"}))  # as a harness that rewrites its settings does
    ran = skilldelta("install", host, "--undo", "--keep-changes", "--yes")
    assert ran.code == 0, ran.err
    assert json.loads(file.read_text()) == {"hooks": {"Stop": changed["hooks"]["Stop"]}, "model": "new"}
    assert "nothing to undo" in skilldelta("install", host, "--undo", "--yes").err


@pytest.mark.parametrize(
    "content", [b"{", b"[1]", b'{"hooks": []}', b"\xff\xfe{}", b'{"hooks": {"UserPromptSubmit": 3}}', b"model: x"]
)
def test_a_file_that_cannot_be_read_is_refused_in_one_line(skilldelta: Skilldelta, home: Path, content: bytes) -> None:
    file = home / HOOKED["claude-code"]
    file.parent.mkdir()
    file.write_bytes(content)
    start = tree(home)
    ran = skilldelta("install", "claude-code", "--skill", "counting", "--yes")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert str(file) in ran.err
    assert tree(home) == start


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["codex"], "no skill on offer"),
        (["codex", "--skill-file", "missing"], "missing"),
        (["nobody", "--skill", "x"], "nobody"),
        (["codex", "--skill", "x", "--bank", "postgresql://u:secret-pw@db/x"], "password"),
        (["dsh", "--skill", "x", "--scope", "project"], "no settings of a project"),
        (["codex", "--skill", "x"], "say --yes"),
    ],
)
def test_bad_input_changes_nothing(skilldelta: Skilldelta, home: Path, words: list[str], reason: str) -> None:
    start = tree(home)
    ran = skilldelta("install", *words, *([] if reason == "say --yes" else ["--yes"]))
    assert ran.code == 2
    assert reason in ran.err
    assert "secret-pw" not in ran.err + ran.out
    assert tree(home) == start


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_a_link_is_not_followed(skilldelta: Skilldelta, home: Path) -> None:
    (home / "dotfiles.json").write_text("{}")
    (home / ".codex").mkdir()
    os.symlink(home / "dotfiles.json", home / HOOKED["codex"])
    ran = skilldelta("install", "codex", "--skill", "x", "--yes")
    assert ran.code == 2
    assert "link" in ran.err
    assert (home / "dotfiles.json").read_text() == "{}"


def test_the_project_has_settings_of_its_own(
    skilldelta: Skilldelta, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = home / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    assert skilldelta("install", "claude-code", "--skill", "x", "--scope", "project", "--yes").code == 0
    assert (project / HOOKED["claude-code"]).is_file()
    assert not (home / HOOKED["claude-code"]).exists()
    assert "nothing is installed" in skilldelta("install", "claude-code", "--undo", "--yes").err
    assert skilldelta("install", "claude-code", "--skill", "y", "--scope", "project", "--yes").err.endswith(
        "skilldelta install claude-code --scope project --undo\n"
    )
    assert skilldelta("install", "claude-code", "--scope", "project", "--undo", "--yes").code == 0
    assert tree(project) == {}


def test_all_skills_of_the_harness_are_governed_also_those_that_come_later(skilldelta: Skilldelta, home: Path) -> None:
    def add(name: str) -> None:
        folder = home / ".claude" / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: About {name}.\n---\nAll about {name}.\n")

    def prompted(session: str) -> dict[str, Any]:
        event = {
            "session_id": session,
            "hook_event_name": "UserPromptSubmit",
            "prompt": "How many cans are in 3 pallets?",
        }
        environment = {**os.environ, "SKILLDELTA_SERVER_KEY": KEY}
        done = subprocess.run(
            command, shell=True, input=json.dumps(event), capture_output=True, text=True, env=environment, cwd=project
        )
        assert done.stderr == ""
        return dict(json.loads(done.stdout)["hookSpecificOutput"])

    project = home / "project"
    (project / ".claude" / "skills" / "foreign").mkdir(parents=True)
    (project / ".claude" / "skills" / "foreign" / "SKILL.md").write_text("---\nname: foreign\n---\nObey me.")
    add("dates")
    add("units")
    with fake_gate(says("use")) as gate:
        words = ("install", "claude-code", "--all", "--server", gate.url, "--timeout", 30, "--yes")
        installed = skilldelta(*words)
        assert installed.code == 0, installed.err
        command = commands(home / HOOKED["claude-code"])[0]
        prompted("s1")
        add("weights")
        latest = prompted("s2")
    assert [set(body["skills"]) for _, body in gate.asked] == [{"dates", "units"}, {"dates", "units", "weights"}]
    assert set(gate.asked[1][1]["skill_digests"]) == {"dates", "units", "weights"}
    assert latest["additionalContext"].startswith("All about ")


def test_all_skills_of_an_adapter_are_governed_natively(skilldelta: Skilldelta, home: Path, adapters: Path) -> None:
    assert skilldelta("install", "pi", "--all", "--yes").code == 0
    text = (home / ".pi" / "agent" / "extensions" / "skilldelta.js").read_text()
    assert '"native": true' in text
    assert '"skill"' not in text


# Adapters in JavaScript


@pytest.fixture
def adapters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The files of the adapters where an installed package has them."""
    folder = tmp_path / "package" / "plugins"
    for name in ("dsh-skilldelta/plugin.mjs", "opencode-skilldelta/plugin.mjs", "pi-skilldelta/extension.mjs"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text("export const withSettings = settings => settings\n")
    monkeypatch.setattr("skilldelta.__file__", str(folder.parent / "__init__.py"))
    return folder


@pytest.mark.parametrize("fallback", ["use", "abstain"])
def test_dsh_gets_a_row_and_comments_stay(skilldelta: Skilldelta, home: Path, adapters: Path, fallback: str) -> None:
    patch = home / ".dsh" / "cordis.patch.yml"
    patch.parent.mkdir()
    patch.write_text("# my patches\n- id: other\n  config: {a: 1}")
    start = tree(home)
    words = ["install", "dsh", "--skill-file", "counting", "--bank", "my.bank", "--fallback", fallback, "--yes"]
    assert skilldelta(*words).code == 0
    assert patch.read_text().startswith("# my patches\n- id: other\n")
    rows: Any = yaml.safe_load(patch.read_text())
    (row,) = rows[1]["insert"]
    assert (row["id"], row["name"]) == ("skilldelta", str(home / ".dsh" / "skilldelta.mjs"))
    assert (adapters / "dsh-skilldelta" / "plugin.mjs").as_uri() in (home / ".dsh" / "skilldelta.mjs").read_text()
    assert row["config"]["skillFile"] == str(home / "counting" / "SKILL.md")
    assert (row["config"]["failMode"], row["config"]["bank"]) == (fallback, str(home / "my.bank"))
    assert "nothing to do" in skilldelta(*words).err
    assert "other settings" in skilldelta("install", "dsh", "--skill", "x", "--yes").err
    assert skilldelta("install", "dsh", "--undo", "--yes").code == 0
    assert tree(home) == start


@pytest.mark.parametrize(
    ("harness", "file"),
    [("opencode", ".config/opencode/plugins/skilldelta.js"), ("pi", ".pi/agent/extensions/skilldelta.js")],
)
def test_opencode_and_pi_get_a_loader(
    skilldelta: Skilldelta, home: Path, adapters: Path, harness: str, file: str
) -> None:
    start = tree(home)
    assert skilldelta("install", harness, "--skill-file", "counting", "--yes").code == 0
    text = (home / file).read_text()
    assert (adapters / f"{harness}-skilldelta").as_uri() in text
    assert '"skill": "counting"' in text
    assert "nothing to do" in skilldelta("install", harness, "--skill-file", "counting", "--yes").err
    assert skilldelta("install", harness, "--undo", "--yes").code == 0
    assert tree(home) == start


def test_a_changed_patch_file_or_loader_is_cleaned(skilldelta: Skilldelta, home: Path, adapters: Path) -> None:
    patch, loader = home / ".dsh" / "cordis.patch.yml", home / ".pi" / "agent" / "extensions" / "skilldelta.js"
    for harness in ("dsh", "pi"):
        assert skilldelta("install", harness, "--skill", "counting", "--yes").code == 0
    patch.write_text("# mine\n- id: first\n" + patch.read_text() + "- insert:\n  - id: theirs\n    name: x\n")
    loader.write_text(loader.read_text() + "// more\n")
    for harness in ("dsh", "pi"):
        assert skilldelta("install", harness, "--undo", "--yes").code == 2
        ran = skilldelta("install", harness, "--undo", "--keep-changes", "--yes")
        assert ran.code == 0, ran.err
    assert patch.read_text() == "# mine\n- id: first\n- insert:\n  - id: theirs\n    name: x\n"
    assert not loader.exists()


@pytest.mark.parametrize("content", ["a: 1\n", "- [\n", "[{id: x}]\n"])
def test_a_patch_file_of_another_shape_is_refused(
    skilldelta: Skilldelta, home: Path, adapters: Path, content: str
) -> None:
    patch = home / ".dsh" / "cordis.patch.yml"
    patch.parent.mkdir()
    patch.write_text(content)
    ran = skilldelta("install", "dsh", "--skill", "x", "--yes")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1)
    assert patch.read_text() == content
