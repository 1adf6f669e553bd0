"""Every example runs as it is, on the demo bank, and stands in the documentation word for word."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from docs.pages import blocks
from integrations.gates import SKILL_TEXT
from skilldelta.cli.main import run

_EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
_PAGE = "docs/how-to/python-frameworks.md"
_NEEDS = {
    "langchain_agent.py": "langchain",
    "deepagents_agent.py": "deepagents",
    "pydantic_ai_agent.py": "pydantic_ai",
    "openai_agents_agent.py": "agents",
    "inspect_task.py": "inspect_ai",
    "adk_agent.py": "google.adk",
    "claude_sdk_agent.py": "claude_agent_sdk",
    "litellm_gate.py": "litellm",
}
_SAYS = {
    "langchain_agent.py": "use - ",
    "deepagents_agent.py": "skipped: []",
    "pydantic_ai_agent.py": "instructions: Be brief.",
    "openai_agents_agent.py": "864 cans",
    "inspect_task.py": "use - ",
    "adk_agent.py": "864 cans",
    "claude_sdk_agent.py": "recorded: True",
    "litellm_gate.py": "",
}


@pytest.fixture(scope="module")
def demo_bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bank = tmp_path_factory.mktemp("demo") / "demo.bank"
    assert run(["demo", "--bank", str(bank), "--no-report"]) == 0
    return bank


def test_every_example_is_tried_and_shown() -> None:
    files = {path.name: path.read_text(encoding="utf-8") for path in _EXAMPLES.glob("*.py")}
    assert set(files) == set(_NEEDS)
    assert {block.title: block.code for block in blocks(_PAGE) if block.title} == files


@pytest.mark.parametrize("name", sorted(_NEEDS))
def test_an_example_runs(name: str, demo_bank: Path, tmp_path: Path) -> None:
    try:
        is_installed = find_spec(_NEEDS[name]) is not None
    except ModuleNotFoundError:
        is_installed = False
    if not is_installed:
        pytest.skip(f"{_NEEDS[name]} is not installed; make test-frameworks runs this")
    from harnesses.fake_models import fake_models

    shutil.copy(demo_bank, tmp_path / "demo.bank")
    (tmp_path / "SKILL.md").write_text(f"---\nname: warehouse-units\ndescription: Units.\n---\n\n{SKILL_TEXT}\n")
    with fake_models() as models:
        environment = {
            **os.environ,
            "HOME": str(tmp_path),
            "ANTHROPIC_BASE_URL": models.url,
            "ANTHROPIC_API_KEY": "sk-ant-none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        done = subprocess.run(
            [sys.executable, str(_EXAMPLES / name)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr[-2000:]
    assert _SAYS[name] in done.stdout
