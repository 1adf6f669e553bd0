"""The Claude Agent SDK with the command-line program that it brings, against a model server on loopback."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from integrations.gates import SKILL_TEXT, TASK, Desk

pytest.importorskip("claude_agent_sdk", reason="claude-agent-sdk is not installed; make test-frameworks runs this")

from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage

from harnesses.fake_models import FakeModels, fake_models
from skilldelta.errors import InputError
from skilldelta.integrations.claude_agent_hooks import record_result, skill_hooks
from skilldelta.integrations.skill_gate import SkillGate


def talk(home: Path, models: FakeModels, gate: SkillGate, *prompts: str) -> list[ResultMessage]:
    """One session with these prompts; everything that it writes is below `home`."""
    quiet = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER")
    environment = {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "ANTHROPIC_BASE_URL": models.url,
        "ANTHROPIC_API_KEY": "sk-ant-none",
        **dict.fromkeys(quiet, "1"),
    }
    options = ClaudeAgentOptions(env=environment, cwd=str(home), hooks=skill_hooks(gate), setting_sources=["user"])
    return asyncio.run(_talk(options, gate, prompts))


async def _talk(options: Any, gate: SkillGate, prompts: tuple[str, ...]) -> list[ResultMessage]:
    results = []
    async with ClaudeSDKClient(options) as client:
        for prompt in prompts:
            await client.query(prompt)
            async for message in client.receive_response():
                if isinstance(message, ResultMessage):
                    results.append(message)
                    await record_result(gate, message)
    return results


def write_skill(home: Path) -> None:
    folder = home / ".claude" / "skills" / "warehouse-units"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: warehouse-units\ndescription: Units.\n---\n\n{SKILL_TEXT}\n")


def test_the_skill_is_in_the_first_model_request_and_not_again_in_later_turns(tmp_path: Path) -> None:
    desk = Desk("use")
    with fake_models() as models:
        talk(tmp_path, models, desk.gate(), TASK, "And in 4?")
    first, last = models.steps[0].text, models.steps[-1].text
    assert first.count(SKILL_TEXT) == 1
    assert last.count(SKILL_TEXT) == 1
    assert [question["text"] for question in desk.asked] == [TASK]


def test_a_skipped_skill_is_not_in_the_request_and_its_tool_is_denied(tmp_path: Path) -> None:
    write_skill(tmp_path)
    with fake_models(tool="Skill", arguments={"skill": "warehouse-units"}) as models:
        talk(tmp_path, models, Desk("skip").gate(), TASK)
    assert SKILL_TEXT not in "".join(step.text for step in models.steps)
    assert "Proceed without the skill" in models.steps[-1].text


def test_a_long_skill_arrives_whole(tmp_path: Path) -> None:
    text = "".join(f"Rule {number}: a crate holds {number} cans.\n" for number in range(700))
    assert len(text) > 20_000
    gate = SkillGate("warehouse-units", Desk("use").route, text=text)
    with fake_models() as models:
        talk(tmp_path, models, gate, TASK)
    assert all(f"Rule {number}: a crate" in models.steps[0].text for number in (0, 300, 699))


def test_cost_and_tokens_of_a_session_are_recorded(tmp_path: Path) -> None:
    desk = Desk("use")
    with fake_models() as models:
        talk(tmp_path, models, desk.gate(), TASK)
    assert desk.told[0]["decision_id"] == 1
    assert desk.told[0]["tokens"] > 0


def test_a_gate_without_the_text_is_refused() -> None:
    with pytest.raises(InputError, match="need the skill's text"):
        skill_hooks(SkillGate("s", Desk().route))
