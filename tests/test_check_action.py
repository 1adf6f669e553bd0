"""The composite action and the example workflow: well-formed, every input used, and their shell steps run as they are."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click
import pytest
import yaml

from docs.pages import blocks
from skilldelta.cli.main import cli

ACTION = Path(__file__).resolve().parents[1] / ".github" / "actions" / "skilldelta-check"

needs_bash = pytest.mark.skipif(
    shutil.which("bash") is None or sys.platform == "win32", reason="no bash on this machine; the action runs in it"
)


def loaded(name: str) -> dict[str, Any]:
    found = yaml.safe_load((ACTION / name).read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def step(name: str) -> dict[str, Any]:
    (found,) = [one for one in loaded("action.yml")["runs"]["steps"] if one.get("name") == name]
    return dict(found)


def test_every_input_is_used_and_no_other_is() -> None:
    text = (ACTION / "action.yml").read_text(encoding="utf-8")
    used = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", text))
    assert used == set(loaded("action.yml")["inputs"])


def test_inputs_reach_the_shell_as_variables_only() -> None:
    for one in loaded("action.yml")["runs"]["steps"]:
        assert "${{" not in one.get("run", "")
        assert set(re.findall(r"\b[A-Z][A-Z_]+\b(?==|\")", one.get("run", ""))) <= set(one.get("env", {})) | {
            "GITHUB_OUTPUT",
            "IFS",
        }


def test_every_option_that_the_action_gives_exists() -> None:
    command = cli.get_command(click.Context(cli), "check")
    assert command is not None
    known = {flag for param in command.params for flag in param.opts}
    assert set(re.findall(r"(--[a-z][a-z-]+)", step("Check the skills")["run"])) <= known


def test_the_workflow_gives_inputs_that_the_action_has() -> None:
    (job,) = loaded("example-workflow.yml")["jobs"].values()
    (given,) = [one["with"] for one in job["steps"] if one.get("uses", "").endswith("skilldelta-check")]
    assert set(given) <= set(loaded("action.yml")["inputs"])


def test_the_page_shows_the_workflow_as_it_is() -> None:
    shown = [yaml.safe_load(block.code) for block in blocks("docs/how-to/check.md") if block.language == "yaml"]
    assert loaded("example-workflow.yml") in shown


def run_step(script: str, variables: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """A step as GitHub runs it in bash: the script in a file, stopped at the first error."""
    path = folder / "step.sh"
    path.write_text(script, encoding="utf-8")
    tools = f"{folder / 'bin'}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": tools, "HOME": str(folder), "PYTHONPATH": os.environ.get("PYTHONPATH", ""), **variables}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(path)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def checked(folder: Path, **inputs: str) -> tuple[int, str]:
    """The exit code and the outcome of the action's step, with these inputs and the action's own defaults."""
    defaults = {name: str(one["default"]) for name, one in loaded("action.yml")["inputs"].items()}
    given = {**defaults, **{name.replace("_", "-"): value for name, value in inputs.items()}}
    found = step("Check the skills")
    variables = {name: given[re.findall(r"inputs\.([\w-]+)", value)[0]] for name, value in found["env"].items()}
    places = {name: str(folder / name.lower()) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    ran = run_step(found["run"], variables | places, folder)
    said = (folder / "github_output").read_text(encoding="utf-8")
    return ran.returncode, said.strip().removeprefix("outcome=")


def write_pairs(path: Path, y0: int, y1: int) -> None:
    rows = [
        {"task_id": f"t{i}", "text": f"question {i}", "skill": "s", "agent": "a", "y0": [y0], "y1": [y1]}
        for i in range(20)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@needs_bash
def test_the_check_step_passes_and_fails_with_the_skill(tmp_path: Path) -> None:
    write_pairs(tmp_path / "my results.jsonl", 0, 1)
    assert checked(tmp_path, sources="my results.jsonl\n", baseline="not-there-yet.json") == (0, "pass")
    assert ElementTree.parse(tmp_path / "skilldelta-junit.xml").getroot().attrib["tests"] == "1"
    assert (tmp_path / "github_step_summary").read_text(encoding="utf-8").startswith("### Skills: Every skill holds")
    (tmp_path / "github_output").unlink()
    write_pairs(tmp_path / "my results.jsonl", 1, 0)
    assert checked(tmp_path, sources="my results.jsonl") == (1, "fail")


@needs_bash
def test_a_hostile_input_is_a_value_and_no_command(tmp_path: Path) -> None:
    write_pairs(tmp_path / "pairs.jsonl", 0, 1)
    code, outcome = checked(tmp_path, sources="pairs.jsonl\n--help", skill='"; touch owned; echo "$(touch owned)')
    assert (code, outcome) == (2, "error")
    assert not (tmp_path / "owned").exists()


@needs_bash
def test_the_install_step_asks_pip_for_the_checkout_or_the_package(tmp_path: Path) -> None:
    fake = tmp_path / "bin" / "python"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > asked\n')
    fake.chmod(0o755)
    script = step("Install SkillDelta")["run"]
    for package, extras, asked in (("", "", "/a/../../.."), ("skilldelta", "collect", "skilldelta[collect]")):
        variables = {"PACKAGE": package, "EXTRAS": extras, "ACTION_PATH": "/a"}
        assert run_step(script, variables, tmp_path).returncode == 0
        assert (tmp_path / "asked").read_text().splitlines()[-1] == asked


@needs_bash
def test_the_comment_step_hands_the_summary_to_gh(tmp_path: Path) -> None:
    fake = tmp_path / "bin" / "gh"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\nprintf "%s " "$@" > asked\n')
    fake.chmod(0o755)
    (job,) = loaded("example-workflow.yml")["jobs"].values()
    (comment,) = [one for one in job["steps"] if "gh pr comment" in one.get("run", "")]
    assert run_step(comment["run"], {"NUMBER": "7", "SUMMARY": "s.md"}, tmp_path).returncode == 0
    assert (tmp_path / "asked").read_text() == "pr comment 7 --body-file s.md --edit-last --create-if-none "
