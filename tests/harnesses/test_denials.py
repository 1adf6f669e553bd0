"""A skill of the harness that is predicted not to help cannot be loaded by the model, end to end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harnesses.conftest import POEM, WAREHOUSE
from harnesses.fake_models import ANSWER, FakeModels
from harnesses.harness_runs import HarnessRun

pytestmark = pytest.mark.slow
Start = Callable[..., HarnessRun]

LOADING: dict[str, tuple[dict[str, Any], str, str]] = {
    "claude-code": ({"skill": "abacus"}, "Skill", "skill"),
    "gemini": ({"skill": "abacus"}, "activate_skill", "name"),
    "opencode": ({"native": True}, "skill", "name"),
    "dsh": ({"native": True}, "skill", "name"),
    "pi": ({"native": True}, "read", "path"),
}
"""The plugin's settings, the tool that loads a skill, and the argument that names it. Codex has no such tool."""


def _calling(models: FakeModels, run: HarnessRun) -> None:
    _, models.tool, argument = LOADING[run.name]
    file = run.home / ".pi" / "agent" / "skills" / "abacus" / "SKILL.md"
    models.arguments = {argument: str(file) if run.name == "pi" else "abacus"}


@pytest.mark.parametrize("name", LOADING)
def test_the_model_is_told_why_and_goes_on(name: str, start: Start, models: FakeModels) -> None:
    run = start(name, LOADING[name][0])
    _calling(models, run)
    assert ANSWER in run.ask(WAREHOUSE)
    assert len(models.steps) == 2
    assert "Use the beads" not in models.steps[1].text
    reason = "not available for model invocation" if name == "dsh" else "Proceed without this skill"
    assert reason in models.steps[1].text


@pytest.mark.parametrize("name", LOADING)
def test_where_the_skill_helps_the_model_may_load_it(name: str, start: Start, models: FakeModels) -> None:
    run = start(name, {**LOADING[name][0], "skill": "units"} if name in ("dsh", "opencode", "pi") else LOADING[name][0])
    _calling(models, run)
    assert ANSWER in run.ask(POEM)
    assert "Proceed without this skill" not in models.steps[-1].text
    if name != "opencode":  # which loads skills with ripgrep, fetched from outside
        assert "Use the beads" in models.steps[-1].text


@pytest.mark.parametrize("name", ["dsh", "pi"])
def test_the_catalog_does_not_name_it(name: str, start: Start, models: FakeModels) -> None:
    run = start(name, {"native": True})
    run.ask(WAREHOUSE)
    assert "Counts things in a warehouse" not in models.steps[0].text
    models.requests.clear()
    run.ask(POEM)
    assert "Counts things in a warehouse" in models.steps[0].text
