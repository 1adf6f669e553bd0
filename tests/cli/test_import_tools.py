"""Results of other tools through the command line: what it says, what it asks, and what it leaves alone."""

from __future__ import annotations

import os
import pty
import sys
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
import yaml

from bank.importers import layouts
from bank.importers.layouts import write_tree
from cli.conftest import Skilldelta
from skilldelta.bank import Bank
from skilldelta.bank.importers import NameMapping, read_mapping, tool_formats
from skilldelta.bank.importers.tools import skillgrade


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "project", layouts.workspace()) / "adding-workspace"


def test_an_import_says_which_format_it_took_and_why(skilldelta: Skilldelta, workspace: Path) -> None:
    ran = skilldelta("import", workspace, "--agent", "me", "--bank", "new.bank")

    assert ran.code == 0
    assert "read as skill-creator, because " in ran.err
    assert "2 pairs in what was imported" in ran.err
    assert "new executions" in ran.out
    again = skilldelta("import", workspace, "--agent", "me", "--bank", "new.bank")
    assert "nothing new" in again.err


def test_what_does_not_count_is_counted_by_reason_and_listed(skilldelta: Skilldelta, workspace: Path) -> None:
    (workspace / "iteration-1" / "eval-sum" / "with_skill" / "run-1" / "grading.json").unlink()
    (workspace / "iteration-1" / "eval-sum" / "with_skill" / "run-2" / "grading.json").unlink()
    ran = skilldelta("import", workspace, "--agent", "me", "--bank", "new.bank", "--json")
    (source,) = ran.document["sources"]

    assert (source["format"], ran.document["pairs"]) == ("skill-creator", 1)
    assert source["left_out"] == [
        {
            "reason": "the run has no grading",
            "runs": 2,
            "places": [f"iteration-1/eval-sum/with_skill/run-{number}/" for number in (1, 2)],
        }
    ]
    assert [(one["task_id"], one["missing"]) for one in ran.document["unpaired"]] == [("sum", "use")]
    assert "1 task has no run with the skill: sum" in ran.err
    assert "2 runs or files do not count: the run has no grading (iteration-1/eval-sum" in ran.err


def test_one_arm_by_itself_is_no_complaint(skilldelta: Skilldelta, workspace: Path) -> None:
    ran = skilldelta("import", workspace, "--agent", "me", "--arm", "without_skill=leave-out", "--bank", "new.bank")

    assert ran.code == 0
    assert "2 tasks run with the skill only; runs without it in the bank, or imported next, make them pairs" in ran.err
    assert "0 pairs" not in ran.err


def test_the_list_of_formats_explains_each_in_two_lines(skilldelta: Skilldelta) -> None:
    ran = skilldelta("import", "--list-formats")
    lines = ran.out.splitlines()

    assert ran.code == 0
    assert len(lines) % 2 == 0
    for tool in tool_formats().values():
        at = lines.index(f"{tool.name}: {tool.description}")
        assert lines[at + 1] == f"    looks for {tool.looks_for}"


def test_what_is_not_said_is_one_line_and_the_bank_is_not_made(skilldelta: Skilldelta, workspace: Path) -> None:
    ran = skilldelta("import", workspace, "--bank", "new.bank")

    assert ran.code == 2
    assert ran.err.strip().count("\n") == 0
    assert "the files do not say the agent; say --agent NAME, or --write-mapping FILE" in ran.err
    assert not Path("new.bank").exists()


def test_a_mapping_is_written_with_the_best_guess_edited_and_used(
    skilldelta: Skilldelta, tmp_path: Path, workspace: Path
) -> None:
    for path in sorted(workspace.rglob("*_skill")):
        path.rename(path.with_name({"with_skill": "guided", "without_skill": "plain-old"}[path.name]))
    written = skilldelta("import", workspace, "--write-mapping", "mapping.yaml", "--bank", "new.bank")
    assert written.code == 0
    assert "nothing is imported yet" in written.err
    assert not Path("new.bank").exists()
    mapping = yaml.safe_load(Path("mapping.yaml").read_text(encoding="utf-8"))
    assert mapping["arms"] == {"guided": "leave-out", "plain-old": "skip"}
    assert (mapping["format"], mapping["agents"], mapping["skills"]) == (
        "skill-creator",
        {"": ""},
        {"adding": "adding"},
    )

    mapping["agents"], mapping["arms"]["guided"] = {"": "me"}, "use"
    Path("mapping.yaml").write_text(yaml.safe_dump(mapping), encoding="utf-8")
    ran = skilldelta("import", workspace, "--mapping", "mapping.yaml", "--bank", "new.bank", "--json")
    assert ran.document["pairs"] == 2
    with Bank.open("new.bank") as bank:
        assert bank.resolve_agent(None).name == "me"


@pytest.mark.parametrize(
    "name", ["", "a", "no", "1", "a: b", "- x", "é", "x\ny", "a@b/c-d", "'", '"', "#", "null", "on", " a"]
)
def test_whatever_a_tool_calls_its_arms_a_mapping_says_the_same_again(name: str, tmp_path: Path) -> None:
    mapping = NameMapping("waza", arms={name: "use"}, agents={name: name})
    path = tmp_path / "mapping.yaml"
    path.write_text(mapping.as_text(), encoding="utf-8")
    assert read_mapping(path) == mapping
    assert '\n  "": ""\n' in NameMapping(agents={"": ""}).as_text()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("arm: {a: use}", "unknown key 'arm'; keep format, suite"),
        ("arms: {a: perhaps}", "the arm 'a' is one of use, skip, leave-out, got 'perhaps'"),
        ("pair_by: luck", "pair_by is task or name, got 'luck'"),
        ("agents: [a]", "agents must be a list of names with their meanings"),
        ("- a", "a mapping has the keys format"),
        ("a: [", "not valid YAML"),
    ],
)
def test_a_bad_mapping_is_one_line(skilldelta: Skilldelta, workspace: Path, content: str, said: str) -> None:
    Path("mapping.yaml").write_text(content, encoding="utf-8")
    ran = skilldelta("import", workspace, "--mapping", "mapping.yaml", "--bank", "new.bank")

    assert ran.code == 2
    assert said in ran.err
    assert not Path("new.bank").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--arm", "with_skill"], "--arm with_skill: write NAME=use"),
        (["--arm", "nobody=use"], "--arm nobody: there is no such arm"),
        (["--arm", "with_skill=maybe"], "an arm is one of use, skip, leave-out"),
        (["--score", "beauty"], "the score is one of pass_rate, all_passed, got 'beauty'"),
        (["--format", "harbour"], "unknown format 'harbour'; did you mean harbor"),
    ],
)
def test_a_bad_option_is_one_line(skilldelta: Skilldelta, workspace: Path, options: list[str], said: str) -> None:
    ran = skilldelta("import", workspace, "--agent", "me", "--bank", "new.bank", *options)

    assert ran.code == 2
    assert said in ran.err
    assert not Path("new.bank").exists()


def test_two_sources_of_one_arm_each_are_paired_together(skilldelta: Skilldelta, tmp_path: Path) -> None:
    write_tree(tmp_path, layouts.harbor_jobs())
    ran = skilldelta("import", tmp_path / "jobs" / "on", tmp_path / "jobs" / "off", "--bank", "new.bank", "--json")

    assert ran.document["pairs"] == 2
    with Bank.open("new.bank") as bank:
        assert len(bank.pairing(agent=bank.resolve_agent(None)).pairs) == 2


def test_the_skill_that_lies_beside_is_in_the_bank_with_its_text(skilldelta: Skilldelta, workspace: Path) -> None:
    skilldelta("import", workspace, "--agent", "me", "--bank", "new.bank")
    with Bank.open("new.bank") as bank:
        assert [skill.text for skill in bank.skills()] == ["Add from the right."]
        (pair, _) = bank.pairing(agent=bank.resolve_agent(None)).pairs
        assert pair.skill_digest == bank.skills()[0].digest


def test_old_runs_are_no_evidence_about_a_skill_that_has_changed_since(skilldelta: Skilldelta, workspace: Path) -> None:
    skilldelta("import", workspace, "--agent", "me", "--bank", "new.bank")
    (workspace.parent / "adding" / "SKILL.md").write_text("Add from the left.", encoding="utf-8")
    ran = skilldelta("import", workspace, "--agent", "me", "--bank", "new.bank")

    assert "4 runs are in the bank with an earlier version of the skill" in ran.err
    assert "nothing new" in ran.err
    with Bank.open("new.bank") as bank:
        assert [skill.text for skill in bank.skills()] == ["Add from the right."]


def test_another_package_brings_a_format_by_entry_point(
    skilldelta: Skilldelta, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = replace(skillgrade.FORMAT, name="mine", found=lambda tree: "it is mine" if "mine.json" in tree.names else "")
    monkeypatch.setattr(skillgrade, "MINE", mine, raising=False)
    plain = metadata.entry_points
    point = metadata.EntryPoint("mine", "skilldelta.bank.importers.tools.skillgrade:MINE", "skilldelta.importers")
    monkeypatch.setattr(
        metadata,
        "entry_points",
        lambda **group: [point] if group == {"group": "skilldelta.importers"} else plain(**group),
    )
    tool_formats.cache_clear()
    try:
        report = layouts.skillgrade()["results/sum_on.json"]
        path = write_tree(tmp_path, {"mine.json": {**report, "trials": []}, "report.json": report})
        assert "read as skillgrade" in skilldelta("import", path, "--agent", "me", "--bank", "a.bank").err
        ran = skilldelta("import", path, "--agent", "me", "--bank", "a.bank", "--format", "mine")
        assert "read as mine, because --format says so" in ran.err
        monkeypatch.setattr(skillgrade, "MINE", replace(mine, name="harbor"))
        tool_formats.cache_clear()
        assert "names its format 'harbor', which is taken" in skilldelta("import", path).err
        monkeypatch.setattr(skillgrade, "MINE", 7)
        tool_formats.cache_clear()
        assert "is no ToolFormat" in skilldelta("import", path).err
    finally:
        tool_formats.cache_clear()


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of its own needs a POSIX system")
def test_on_a_terminal_it_asks_and_says_what_to_type_next_time(workspace: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "skilldelta", "import", str(workspace), "--bank", str(tmp_path / "new.bank")]
    shown = _on_a_terminal(command, b"my agent\n")

    assert "Which agent?" in shown
    assert "next time say --agent 'my agent'" in shown
    with Bank.open(tmp_path / "new.bank") as bank:
        assert bank.resolve_agent(None).name == "my agent"


def _on_a_terminal(command: list[str], typed: bytes) -> str:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(command[0], command)
    shown = b""
    asked = False
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # Linux says so when the other end is closed
            break
        if not part:
            break
        shown += part
        if not asked and b"Which agent?" in shown:
            asked = True
            os.write(terminal, typed)
    os.waitpid(pid, 0)
    os.close(terminal)
    return shown.decode()


def test_a_folder_of_no_known_format_leaves_the_bank_alone(skilldelta: Skilldelta, tmp_path: Path) -> None:
    before: Any = write_tree(tmp_path / "notes", {"a.md": "hello"})
    ran = skilldelta("import", before, "--bank", "new.bank")

    assert ran.code == 2
    assert "no known format" in ran.err
    assert "Traceback" not in ran.err
    assert not Path("new.bank").exists()
